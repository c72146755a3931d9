#!/usr/bin/env bash
# same.sh DIRECTORY: the Dockerfile and the definition for Apptainer run the same commands in the same images, so that
# what is found out about the one holds for the other.
set -euo pipefail
# Each stage's image and commands, a line each.
docker() {
    sed -e ':more' -e '/\\$/{N;s/ *\\\n */ /;bmore' -e '}' "$1/Dockerfile" |
        sed -nE -e 's/^FROM ([^ ]+).*/from \1/p' -e 's/^WORKDIR /cd /p' -e 's/^COPY \. \./files . \/src/p' \
            -e 's/^COPY --from=build /files /p' -e 's/^RUN //p' -e 's/^ENV LD_PRELOAD=/preload /p' | sed 's/ && /\n/g'
}
apptainer() {
    sed -nE -e 's/^From: /from /p' -e 's/^    (\.|\/stage)/files \1/p' -e 's/^    export LD_PRELOAD=/preload /p' \
        -e '/^    (export|cartograph|\.|\/stage)/d' -e 's/^    //p' "$1/cartograph.def"
}
# Where what is copied comes in the order is the format's matter.
diff <(docker "$1" | sort) <(apptainer "$1" | sort) || {
    echo "same.sh: the Dockerfile and the definition differ" >&2
    exit 1
}
