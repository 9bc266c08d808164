"""A proxy before the only broker of a cluster, whose clients can lose the group's coordinator although the broker answers.

`go_down()` and `come_back_elsewhere()`: the broker comes back at another address with the same number; bootstrap() leads to it as
before. `hide()`: the connections that exist learn no coordinator any more; new connections do. `hide_from_all()`: nor do these, until `show()`.
"""
import asyncio
import contextlib
import functools
import struct
import threading

from frames import FIND_COORDINATOR, HEARTBEAT, port_bytes
from proxy import Proxy

COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR = 15, 16


def no_coordinator(answer, version):
    """Of the versions 0 to 2: https://kafka.apache.org/protocol#The_Messages_FindCoordinator"""
    head = answer[:8 if version > 0 else 4]  # the correlation id and the throttle time
    message = struct.pack(">h", -1) if version > 0 else b""
    return head + struct.pack(">h", COORDINATOR_NOT_AVAILABLE) + message + struct.pack(">ihi", -1, 0, -1)


def not_coordinator(answer, version):
    """Of the versions 0 to 3: https://kafka.apache.org/protocol#The_Messages_Heartbeat"""
    return answer[:8 if version > 0 else 4] + struct.pack(">h", NOT_COORDINATOR)


class LostCoordinator(Proxy):
    """`hidden` counts the answers that were changed by hide()."""

    def __init__(self, broker):
        self.entrance = self.hidden_up_to = self.hidden = 0
        super().__init__(broker)

    async def listen(self):
        """At the entrance, which no answer names, and at the address that answers name."""
        serve = functools.partial(self.serve, 1, self.brokers[0])
        self.listeners = [await asyncio.start_server(serve, "127.0.0.1", port) for port in (self.entrance, 0)]
        self.entrance, address = (listener.sockets[0].getsockname()[1] for listener in self.listeners)
        self.ports[port_bytes(self.brokers[0])] = port_bytes(address)

    def bootstrap(self):
        return f"127.0.0.1:{self.entrance}"

    def go_down(self):
        self.call(self.close())

    def come_back_elsewhere(self):
        self.call(self.listen())

    def hide(self):
        self.hidden_up_to = self.connections

    @contextlib.contextmanager
    def hiding_again_and_again(self):
        """From connections that are half a second old: who looks for the coordinator at first finds it, and loses it soon."""
        ended = threading.Event()
        def hide():
            while not ended.wait(0.5):
                self.hide()
        thread = threading.Thread(target=hide, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def hide_from_all(self):
        self.hidden_up_to = float("inf")

    def show(self):
        self.hidden_up_to = 0

    def changed_answer(self, request, frame):
        if request.connection > self.hidden_up_to or request.api not in (FIND_COORDINATOR, HEARTBEAT):
            return frame
        self.hidden += 1
        return (no_coordinator if request.api == FIND_COORDINATOR else not_coordinator)(frame, request.version)
