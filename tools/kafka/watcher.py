"""A cluster that lives as long as some process: a process of its own waits for the end of that one, then kills the nodes."""
import os
import select
import subprocess
import sys
from pathlib import Path

from ..failure import Failure
from ..locks import locked
from .cluster import Cluster

COMMAND = Path(__file__).resolve().parents[2] / "scripts" / "kafka"


def lock_of(folder):
    """The lock that every reader and writer of the cluster in this folder holds."""
    return folder.resolve().with_name(folder.resolve().name + ".lock")


def end_with(folder, pid):
    """Returns when `pid` is watched."""
    ready = subprocess.Popen([sys.executable, str(COMMAND), "--dir", str(folder), "watch", str(pid)], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    if not ready.stdout.readline():
        raise Failure(f"process {pid} cannot be watched; is it running?")


def watch(folder, pid):
    """The work of that process; it also ends when the folder is deleted."""
    watched = os.pidfd_open(pid)
    print("watching", flush=True)
    os.close(1)
    gone = select.poll()
    gone.register(watched, select.POLLIN)
    while folder.exists() and not gone.poll(2000):
        pass
    if not folder.exists():
        return
    with locked(lock_of(folder)):
        cluster = Cluster(folder)
        if cluster.state:
            cluster.stop(kill=True)
