"""Tokens and tickets run out while the service works: they are renewed silently, and a token server or a KDC that fails
meanwhile is reported, and costs nothing once it works again. The brokers ask for a login again every few seconds.
"""
import signal

import harness
from access_logins import Logins, old_client
from access_servers import Kdc, TokenDoor
from harness import expect, wait_until

TOKEN_SERVER, TICKET = "the token server", "kinit got no ticket"
MISREAD = "access_token"  # what the library says of an answer in which it finds no token
RATE, MORE = 100, 200  # records a second; records that show that the service works again


def told(service, words):
    wait_until(f"{service.name} says: {words}", lambda: words in service.log)


class Row:
    """A service that consumes while records are written."""

    def __init__(self, run, name, kafka, environment=None):
        self.part, self.name, self.kafka, self.environment = run.part(f"renewed-{name}"), name, kafka, environment or {}

    def __enter__(self):
        part = self.part.__enter__()
        part.create(2)
        part.produce_meanwhile("--rate", RATE)
        self.service = part.service(self.name, kafka={**self.kafka, **harness.SHORT_SESSION}, environment=self.environment)
        part.wait_for_progress(self.service, MORE)
        return self

    def __exit__(self, kind, error, trace):
        self.part.__exit__(kind, error, trace)

    def goes_on(self):
        self.part.wait_for_progress(self.service, self.service.processed() + MORE)

    def judge(self):
        """Records that finished while nothing could be committed may run again; nothing is lost, in the same process."""
        self.part.finish_writing()
        self.part.wait_for_no_lag()
        self.service.stop()
        self.part.judge(harness.Promises(stopped_clean=False, duplicates=10000), show=False)


def with_tokens(run, logins, name):
    door = TokenDoor(logins.token_url)
    return door, Row(run, name, {**logins.token("brief", url=door.url), "bootstrap.servers": logins.listeners["REAUTH"]})


def with_tickets(run, logins, name, **changes):
    folder = run.folder / name
    folder.mkdir()
    kdc = Kdc(folder, logins.kerberos)
    kafka = logins.ticket(**{"bootstrap.servers": logins.listeners["REAUTH"], "sasl.kerberos.min.time.before.relogin": 2000, **changes})
    return kdc, Row(run, name, kafka, kdc.environment(folder / "tickets"))


def tokens_are_renewed(run, logins):
    door, row = with_tokens(run, logins, "tokens")
    with row:
        wait_until("tokens were renewed", lambda: door.given >= 3)
        row.goes_on()
        row.judge()
        expect(TOKEN_SERVER not in row.service.log, "a failure of the token server is told, where there was none")


def a_token_server_that_answers_500(run, logins):
    door, row = with_tokens(run, logins, "fails")
    with row:
        door.become("fail")
        wait_until("it was asked", lambda: door.failed)
        door.become("work")
        told(row.service, "issues no token")
        row.goes_on()
        row.judge()
        expect(MISREAD not in row.service.log, "the answer after a failed one was not understood")


def a_token_server_that_is_down(run, logins):
    door, row = with_tokens(run, logins, "down")
    with row:
        door.become("refuse")
        told(row.service, "the token server cannot be reached")
        door.become("work")
        row.goes_on()
        row.judge()


def a_token_server_that_hangs(run, logins):
    door, row = with_tokens(run, logins, "hangs")
    with row:
        door.become("hang")
        wait_until("it is not ready", lambda: "no connection to a broker" in row.service.readiness())
        expect(door.failed, "the token server was not asked")
        door.become("work")
        row.goes_on()
        wait_until("it is ready", lambda: row.service.readiness().strip() == "ready")
        row.judge()


def tickets_are_renewed(run, logins):
    kdc, row = with_tickets(run, logins, "tickets")
    with kdc, row:
        issued = kdc.issued()
        wait_until("tickets were renewed", lambda: kdc.issued() >= issued + 4)
        row.goes_on()
        row.judge()
        expect(TICKET not in row.service.log, "a failure of kinit is told, where there was none")


def a_kdc_that_is_down(run, logins):
    kdc, row = with_tickets(run, logins, "no-kdc")
    with kdc, row:
        kdc.stop()
        told(row.service, TICKET)
        wait_until("a login has failed", lambda: "no KDC answers" in row.service.log or "ticket has expired" in row.service.log)
        kdc.start()
        row.goes_on()
        row.judge()


def a_kdc_that_hangs(run, logins):
    # A login that was under way when the ticket ran out is waited for so long.
    kdc, row = with_tickets(run, logins, "kdc-hangs", **{"socket.timeout.ms": 10000})
    with kdc, row:
        kdc.process.send_signal(signal.SIGSTOP)
        told(row.service, "no KDC answered in time")
        kdc.process.send_signal(signal.SIGCONT)
        row.goes_on()
        row.judge()


TOKENS = (tokens_are_renewed, a_token_server_that_answers_500, a_token_server_that_is_down, a_token_server_that_hangs)
TICKETS = (tickets_are_renewed, a_kdc_that_is_down, a_kdc_that_hangs)


def scenario(run):
    logins = Logins(run)

    def story(case):
        def told(part):
            return case(part, logins)
        told.__name__ = case.__name__
        return told
    # An old client has no tokens (access.py shows its message).
    harness.at_once(run, [story(case) for case in (TICKETS if old_client() else TOKENS + TICKETS)])


if __name__ == "__main__":
    harness.main("access-renewed", scenario, access=True)
