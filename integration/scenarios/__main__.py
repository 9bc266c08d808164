"""Runs one story. usage: python3 integration/scenarios NAME [ARGUMENT ...], for example rebalance range"""
import runpy
import sys
from pathlib import Path

SCENARIOS = Path(__file__).resolve().parent
sys.path.insert(0, str(SCENARIOS.parent / "framework"))
import harness  # noqa: E402,F401  (stories can import each other and the framework after this)


def main():
    stories = {file.stem: file for file in SCENARIOS.glob("*/*.py")}
    name, *arguments = sys.argv[1:] or ["--help"]
    if name not in stories:
        print(f"{__doc__}\nNAME is one of: {' '.join(sorted(stories))}", file=sys.stderr)
        return 0 if name in ("-h", "--help") else 64
    sys.argv = [str(stories[name]), *arguments]
    runpy.run_path(sys.argv[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
