"""The compiler's warnings about C++ sources, each compiled alone. usage: each_source.py BUILD [FOLDER...]

BUILD is configured with -DLANEWAY_UNITY=OFF; nothing is built there. FOLDER: only the sources of these. A source
that passed is not checked again until the source, or a header that it includes, changes (ccache).
"""
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path


def check(command):
    words = shlex.split(command["command"])  # without the compiler's launcher, as CMake writes it
    return subprocess.run(["ccache", *words, "-fsyntax-only"], cwd=command["directory"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def main():
    commands = json.loads((Path(sys.argv[1]) / "compile_commands.json").read_text())
    folders = tuple(f"{Path(folder).resolve()}/" for folder in sys.argv[2:]) or "/"
    commands = [command for command in commands if command["file"].endswith(".cpp") and command["file"].startswith(folders)]
    if not commands:
        sys.exit(f"no source of {sys.argv[1]} is in {', '.join(sys.argv[2:])}")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for command, done in zip(commands, pool.map(check, commands)):
            if done.returncode != 0:
                failed += 1
                print(f"--- {command['file']}\n{done.stdout}")
    print(f"{len(commands)} sources, {failed} with warnings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
