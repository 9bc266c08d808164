"""The command line of scripts/demo NAME: what to build, and the demo itself with its exit code."""
import argparse
import importlib
import signal
import sys

from ..failure import Failure
from .screen import Screen
from .stage import Stage


def system(name):
    return importlib.import_module(f".systems.{name.replace('-', '_')}", __package__)


def interrupted(*_):
    raise KeyboardInterrupt


def run(name, seconds):
    """0: as it should be; 1: the verdict found something wrong; 69: it could not be shown; 130: interrupted."""
    module, screen = system(name), Screen()
    signal.signal(signal.SIGTERM, interrupted)
    try:
        with Stage(name, seconds or module.SECONDS, screen) as stage:
            module.play(stage)
            screen.print()
            for line in stage.verdict.lines():
                screen.print(line)
            right = stage.verdict.right()
    except Failure as failure:
        screen.print(f"scripts/demo {name}: {failure}")
        return 69
    except KeyboardInterrupt:
        screen.print("interrupted: everything has ended, and the folders are gone")
        return 130
    return 0 if right else 1


def parse(arguments):
    parser = argparse.ArgumentParser(prog="scripts/demo", description="Shows one system of docs/systems on a real Kafka.")
    parser.add_argument("verb", choices=["targets", "run"], help=argparse.SUPPRESS)
    parser.add_argument("name")
    parser.add_argument("--seconds", type=float, help="how long records are written")
    options = parser.parse_args(arguments)
    if options.seconds is not None and options.seconds <= 0:
        parser.error("--seconds is a number above 0")
    return options


def main(arguments=None):
    options = parse(arguments)
    if options.verb == "targets":
        print(" ".join(system(options.name).TARGETS))
        return 0
    return run(options.name, options.seconds)


if __name__ == "__main__":
    sys.exit(main())
