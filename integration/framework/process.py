"""Processes that a test starts: the programs, the part of the environment that they see, and their end with the test."""
import ctypes
import os
import signal
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
LANEWAY = os.environ.get("LANEWAY", str(BUILD / "app" / "laneway"))
KAFKA_TOOL = os.environ.get("KAFKA_TOOL", str(BUILD / "integration" / "kafka_tool" / "kafka_tool"))
PLUGINS = Path(os.environ.get("PLUGINS", str(BUILD / "integration" / "plugins")))  # that the tests load
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def die_with_parent():
    """In the child, before exec: nothing stays behind when a test is killed."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def inherited_environment():
    """Without the test's own variables, which would be settings that laneway does not know."""
    return {key: value for key, value in os.environ.items() if not key.startswith("LANEWAY_")}
