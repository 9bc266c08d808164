"""The expectations of a test, and its waits: for a state, never for a time."""
import time

PATIENCE = 120.0  # s: a machine may be slow, and a test that waits longer costs nothing when it passes


class Failed(Exception):
    """The service did not do what the scenario asks for."""


def expect(condition, what):
    if not condition:
        raise Failed(what)


def expect_equal(expected, found, what):
    expect(expected == found, f"{what}: expected {expected!r}, found {found!r}")


def wait_until(what, condition, within=PATIENCE, every=0.1, details=None):
    """The first true value of `condition`; Failed when there is none within so many seconds, with what `details` gives then."""
    begun = time.monotonic()
    deadline = begun + within
    while True:
        value = condition()
        if value:
            if time.monotonic() > begun + 1:
                print(f"waited {time.monotonic() - begun:.1f} s: {what}", flush=True)
            return value
        if time.monotonic() > deadline:
            raise Failed(f"not within {within:.0f} s: {what}" + (f"\n{details()}" if details else ""))
        time.sleep(every)
