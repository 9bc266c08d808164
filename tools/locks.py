"""Locks between processes."""
import contextlib
import fcntl


@contextlib.contextmanager
def locked(path):
    """Waits until no other process holds the lock of this file; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
