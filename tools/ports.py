"""Ports on loopback for servers that tests and tools start.

None of them is ephemeral: until its server listens, or while the server is down, a client's own outgoing connection could take
an ephemeral port.
"""
import contextlib
import os
import random
import socket
import tempfile
from pathlib import Path

from .locks import locked

OF_SERVERS = (10000, 12000)
OF_CLUSTERS = (12000, 32000)


def is_free(port):
    with socket.socket() as probe, contextlib.suppress(OSError):
        probe.bind(("127.0.0.1", port))
        return True
    return False


def free_port():
    """Where nothing listens, and no cluster of scripts/kafka will."""
    while True:
        port = random.randrange(*OF_SERVERS)
        if is_free(port):
            return port


def claim_ports(count, folder, first=None):
    """Ports where nothing listens and that no other cluster has: of two that start at the same moment, neither listens yet.

    `first` is the first of them, if that port is free. A claim holds as long as the cluster's folder is there.
    """
    claims = Path(tempfile.gettempdir()) / f"laneway-kafka-ports-{os.getuid()}"
    ports = []

    def claim(port):
        file = claims / str(port)
        if not (file.exists() and Path(file.read_text()).is_dir()) and is_free(port):
            file.write_text(str(folder.resolve()))
            ports.append(port)

    with locked(claims / "lock"):
        if first is not None:
            claim(first)
        while len(ports) < count:
            claim(random.randrange(*OF_CLUSTERS))
    return ports
