"""The command: ``python -m cartograph`` and ``cartograph`` are the same."""

from __future__ import annotations

import os
import sys

from ._tree import COMMAND, trust

# Options of `cartograph exec` that are followed by a value.
_VALUED = {"--record", "--mpi", "--layout", "--reorder", "--weights"}


def with_interpreter(arguments: list[str]) -> list[str]:
    """The arguments, with this Python before a script that ``exec`` is to run."""
    if arguments[:1] != ["exec"]:
        return arguments
    at = 1
    while at < len(arguments) and arguments[at].startswith("-"):
        at += 2 if arguments[at] in _VALUED else 1
        if arguments[at - 1] == "--":
            break
    if at < len(arguments) and arguments[at].endswith(".py") and not os.access(arguments[at], os.X_OK):
        return [*arguments[:at], sys.executable, *arguments[at:]]
    return arguments


def main() -> None:
    """Becomes the command."""
    trust()
    os.execv(COMMAND, ["cartograph", *with_interpreter(sys.argv[1:])])


if __name__ == "__main__":
    main()
