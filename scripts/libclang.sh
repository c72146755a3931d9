#!/usr/bin/env bash
# libclang.sh: prints the path of a libclang for bindgen, or nothing.
set -euo pipefail
config=${LLVM_CONFIG_PATH:-llvm-config}
if [ -n "${LIBCLANG_PATH:-}" ]; then
    [ ! -f "$LIBCLANG_PATH" ] || { echo "$LIBCLANG_PATH" && exit; }
    places=("$LIBCLANG_PATH")
else
    places=(/usr/lib/llvm-*/lib /usr/lib /usr/lib64 /usr/lib/*-linux-gnu /usr/local/lib /usr/local/lib64
        /usr/local/llvm*/lib /usr/lib64/llvm*/lib /opt/*/lib)
    IFS=: read -ra more <<<"${LD_LIBRARY_PATH:-}"
    places+=("${more[@]}")
    if command -v "$config" >/dev/null; then places+=("$("$config" --libdir)"); fi
fi
for place in "${places[@]}"; do
    for library in "$place"/libclang.so* "$place"/libclang-*.so*; do
        # libclang-cpp is another library, without the functions in C.
        case ${library##*/} in *'*'* | libclang-cpp.*) continue ;; esac
        echo "$library"
        exit
    done
done
