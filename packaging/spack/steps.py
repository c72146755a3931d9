#!/usr/bin/env python3
"""steps.py PACKAGE.py SOURCE PREFIX MPICC LIBCLANG: runs the build and install steps of the Spack package in SOURCE,
with a stand-in for Spack that knows no more than what the package uses. It concretizes nothing: what Spack would have
built is what this machine has."""
import importlib.util
import os
import subprocess
import sys
import types

recipe, source, prefix, mpicc, libclang = sys.argv[1:]
said = {"version": [], "depends_on": [], "license": [], "conflicts": []}


class Environment:
    def set(self, name, value):
        os.environ[name] = str(value)

    def prepend_path(self, name, value):
        os.environ[name] = f"{value}:{os.environ.get(name, '')}"


class Dependency(types.SimpleNamespace):
    pass


class Spec(dict):
    pass


class MakefilePackage:
    spec = Spec(mpi=Dependency(name="openmpi", version="0", mpicc=mpicc), llvm=Dependency(prefix=libclang))
    prefix = prefix
    stage = types.SimpleNamespace(path=os.path.dirname(os.path.abspath(source)))


def directive(name):
    return lambda *arguments, **more: said[name].append((arguments, more))


def make(*arguments):
    subprocess.run(["make", "-s", "--no-print-directory", *arguments], cwd=source, check=True)


api = types.ModuleType("spack.package")
for name in said:
    setattr(api, name, directive(name))
api.make, api.join_path = make, os.path.join
api.Spec, api.Prefix, api.EnvironmentModifications = Spec, str, Environment
makefile = types.ModuleType("spack_repo.builtin.build_systems.makefile")
makefile.MakefilePackage = MakefilePackage
for name in ["spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"]:
    sys.modules[name] = types.ModuleType(name)
sys.modules |= {"spack.package": api, makefile.__name__: makefile}

specification = importlib.util.spec_from_file_location("recipe", recipe)
module = importlib.util.module_from_spec(specification)
specification.loader.exec_module(module)
package = module.Cartograph()

# What Spack would ask of it.
needed = {arguments[0].split("@")[0].split("+")[0] for arguments, _ in said["depends_on"]}
assert {"c", "gmake", "rust", "llvm", "mpi"} <= needed, needed
((version,), more), = said["version"]
assert len(more["sha256"]) == 64 and f"cartograph-{version}.tar.gz" in package.url, (version, more, package.url)

package.setup_build_environment(Environment())
package.build(package.spec, prefix)
package.install(package.spec, prefix)
print(package.host)
