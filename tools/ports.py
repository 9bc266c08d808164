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


def claim_ports(count, folder):
    """Ports where nothing listens and that no other cluster has: of two that start at the same moment, neither listens yet.

    A claim holds as long as the cluster's folder is there.
    """
    claims = Path(tempfile.gettempdir()) / f"laneway-kafka-ports-{os.getuid()}"
    ports = []
    with locked(claims / "lock"):
        while len(ports) < count:
            port = random.randrange(*OF_CLUSTERS)
            claim = claims / str(port)
            if claim.exists() and Path(claim.read_text()).is_dir():
                continue
            if not is_free(port):
                continue
            claim.write_text(str(folder.resolve()))
            ports.append(port)
    return ports
