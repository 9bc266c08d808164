"""A TCP proxy between clients and brokers on 127.0.0.1 that understands Kafka's frames; see README.md.

One thread runs everything; rules are made and ended from any other thread.
"""
import asyncio
import contextlib
import functools
import threading

from frames import WITH_ADDRESSES, correlation_of, parse_request, port_bytes, rewrite, with_length
from rules import Action, Rule

STOP_DEADLINE = 10.0  # s


class Link:
    """One connection of a client, and the one to the broker that belongs to it.

    When the client has gone, requests that a rule kept back still reach the broker: those are the late requests of a real network.
    """

    def __init__(self, proxy, broker, client, upstream):
        self.proxy, self.broker = proxy, broker
        proxy.connections += 1
        self.number = proxy.connections
        self.from_client, self.to_client = client
        self.from_broker, self.to_broker = upstream
        self.pending = {}  # correlation id: the request that the broker has not answered yet
        self.kept_back = 0  # requests that a rule will let go
        self.let_go = {}  # correlation id: the rule that kept it back, until it is answered
        self.stalled = None  # the rule behind whose first request all others wait
        self.late = False
        self.settled = asyncio.Event()

    async def run(self):
        answers = asyncio.ensure_future(self.pump(self.from_broker, self.on_answer))
        requests = asyncio.ensure_future(self.pump(self.from_client, self.on_request))
        settled = asyncio.ensure_future(self.settled.wait())
        tasks = [answers, requests, settled]
        try:
            await asyncio.wait([answers, requests], return_when=asyncio.FIRST_COMPLETED)
            self.late = self.kept_back > 0
            self.settle()
            await asyncio.wait([answers, settled], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.close()

    async def pump(self, reader, on_frame):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                size = int.from_bytes(await reader.readexactly(4), "big")
                on_frame(await reader.readexactly(size))

    def on_request(self, frame):
        request = self.proxy.changed(parse_request(frame)._replace(connection=self.number))
        rule = self.rule_for(request)
        if rule is None:
            self.send_request(request)
        elif rule.action == Action.CUT:
            self.close()
        elif rule.action != Action.DROP:
            self.kept_back += 1
            self.proxy.keep_back(rule, lambda: self.send_late(request, rule))

    def rule_for(self, request):
        if self.stalled and not self.stalled.ended:
            self.stalled.caught.append(request)
            return self.stalled
        rule = self.proxy.rule_for(request, self.broker, answer=False)
        self.stalled = rule if rule and rule.action == Action.STALL else None
        return rule

    def send_late(self, request, rule):
        self.kept_back -= 1
        self.let_go[request.correlation] = rule
        self.send_request(request)

    def send_request(self, request):
        self.pending[request.correlation] = request
        if not self.to_broker.is_closing():
            self.to_broker.write(with_length(request.frame))

    def on_answer(self, frame):
        request = self.pending.pop(correlation_of(frame), None)
        if self.late:
            self.settle()
        if correlation_of(frame) in self.let_go:
            self.let_go.pop(correlation_of(frame)).answered.append(frame)
        if request is None:
            return self.send_answer(frame)
        if request.api in WITH_ADDRESSES:
            frame = rewrite(frame, self.proxy.ports)
        frame = self.proxy.changed_answer(request, frame)
        rule = self.proxy.rule_for(request, self.broker, answer=True)
        if rule is None:
            self.send_answer(frame)
        elif rule.action == Action.CUT:
            self.close()
        elif rule.action != Action.DROP:
            self.proxy.keep_back(rule, lambda: self.send_answer(frame))

    def send_answer(self, frame):
        if not self.to_client.is_closing():
            self.to_client.write(with_length(frame))

    def settle(self):
        """After the client has gone: settles the connection once no late message is left."""
        if self.kept_back == 0 and not (self.late and self.pending):
            self.settled.set()

    def close(self):
        self.to_client.close(), self.to_broker.close()


class Proxy:
    """Stands before each of these brokers ("127.0.0.1:1,127.0.0.1:2,..."), numbered from 1, until stop()."""

    def __init__(self, brokers):
        self.brokers = [int(address.rsplit(":", 1)[1]) for address in brokers.split(",")]
        self.rules, self.listeners, self.links = [], [], set()
        self.connections = 0  # so far, of clients
        self.ports = {}  # of brokers: those of the proxy, as an answer has them
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.call(self.listen())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(STOP_DEADLINE)

    async def listen(self):
        for number, port in enumerate(self.brokers, 1):
            listener = await asyncio.start_server(functools.partial(self.serve, number, port), "127.0.0.1", 0)
            self.listeners.append(listener)
            self.ports[port_bytes(port)] = port_bytes(listener.sockets[0].getsockname()[1])

    async def serve(self, number, port, reader, writer):
        task = asyncio.current_task()
        self.links.add(task)
        try:
            upstream = await asyncio.open_connection("127.0.0.1", port)
            await Link(self, number, (reader, writer), upstream).run()
        except (OSError, asyncio.CancelledError):
            writer.close()  # the broker is down, or the proxy stops
        finally:
            self.links.discard(task)

    def stop(self):
        """Closes every connection; held messages are lost."""
        self.call(self.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(STOP_DEADLINE)
        self.loop.close()

    async def close(self):
        for listener in self.listeners:
            listener.close()
        for link in list(self.links):
            link.cancel()
        await asyncio.gather(*self.links, return_exceptions=True)

    def bootstrap(self):
        """For clients, in place of the brokers' addresses."""
        return ",".join(f"127.0.0.1:{int.from_bytes(port, 'big')}" for port in self.ports.values())

    # Rules. Each catches by `api` and the other arguments of Rule; the first rule that was made and catches a frame has it.

    def hold(self, api, **which):
        """Holds the caught messages until release(): later messages of the same connection overtake them."""
        return self.add(Rule(Action.HOLD, api, **which))

    def stall(self, api, **which):
        """The same, and later messages wait, as when a broker is slow."""
        return self.add(Rule(Action.STALL, api, **which))

    def delay(self, seconds, api, **which):
        """Keeps each frame for so long."""
        return self.add(Rule(Action.DELAY, api, seconds=seconds, **which))

    def drop(self, api, **which):
        """Withholds the messages forever."""
        return self.add(Rule(Action.DROP, api, **which))

    def cut(self, api, **which):
        """Loses the frame and closes its connection: an answer that is lost this way is that of a request the broker has done."""
        return self.add(Rule(Action.CUT, api, **which))

    def release(self, rule):
        """Ends the rule. Held messages go on, in the order of their arrival."""
        self.call(self.end(rule))

    def add(self, rule):
        self.rules = [*self.rules, rule]
        return rule

    async def end(self, rule):
        self.rules = [other for other in self.rules if other is not rule]
        rule.end()

    def changed(self, request):
        """For proxies that change what is in a request."""
        return request

    def changed_answer(self, request, frame):
        """For proxies that change what is in an answer. Called on the proxy's thread."""
        return frame

    def rule_for(self, request, broker, answer):
        return next((rule for rule in self.rules if rule.catches(request, broker, answer)), None)

    def keep_back(self, rule, let_go):
        if rule.action == Action.DELAY:
            self.loop.call_later(rule.seconds, let_go)
        else:
            rule.held.append(let_go)
