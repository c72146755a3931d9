#!/usr/bin/env python3
"""Prints the components compiled into Cartograph, as CycloneDX 1.5: the crates of the libraries and of the command with
their versions, licences and checksums. Crates only for building or testing are marked as excluded."""
import json
import os
import re
import subprocess
import sys
import time
import tomllib
import uuid


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


metadata = json.loads(output("cargo", "metadata", "--locked", "--offline", "--format-version", "1"))
packages = {package["id"]: package for package in metadata["packages"]}
nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
with open("Cargo.lock", "rb") as file:
    lock = tomllib.load(file)["package"]
checksums = {(package["name"], package["version"]): package.get("checksum") for package in lock}
shipped_roots = {"mpi-cartograph", "cartograph-cli", "cartograph-preload", "cartograph-record"}
roots = [id for id in metadata["workspace_members"] if packages[id]["name"] in shipped_roots]


def reached(starts, kinds):
    """The required crates, by dependencies of these kinds. Macros run in the compiler, but their output is compiled
    in."""
    found, todo = set(), list(starts)
    while todo:
        id = todo.pop()
        if id not in found:
            found.add(id)
            todo += [dep["pkg"] for dep in nodes[id]["deps"] if any(kind["kind"] in kinds for kind in dep["dep_kinds"])]
    return found


compiled_in, needed = reached(roots, {None}), reached(roots, {None, "build", "dev"})


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, scope):
    entry = {"type": "library", "bom-ref": reference(package), "name": package["name"], "version": package["version"],
             "scope": scope, "purl": reference(package)}
    if package["license"]:
        # Some crates still write a slash for SPDX's OR.
        entry["licenses"] = [{"expression": re.sub(r"\s*/\s*", " OR ", package["license"])}]
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return entry


main = next(packages[id] for id in roots if packages[id]["name"] == "mpi-cartograph")
components = [component(packages[id], "required" if id in compiled_in else "excluded")
              for id in sorted(needed) if packages[id] is not main]
dependencies = [{"ref": reference(packages[id]),
                 "dependsOn": sorted({reference(packages[dep["pkg"]]) for dep in nodes[id]["deps"] if dep["pkg"] in needed})}
                for id in sorted(needed)]
moment = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
bill = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", moment),
                     "component": {**component(main, "required"), "name": "cartograph"}},
        "components": components, "dependencies": dependencies}
# Derived from the content, so that the same release has the same number.
bill["serialNumber"] = "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bill, sort_keys=True)))
json.dump(bill, sys.stdout, indent=1)
print()
