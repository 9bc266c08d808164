"""Mistakes of a person or of the surroundings: each has its exit code and a message with the remedy."""
import socket

import harness
from harness import expect


def scenario(run):
    run.create(1)
    harness.at_once(run, CASES)


def ends(service, code, *words, within=harness.PATIENCE):
    found = service.wait(within)
    said = service.log
    expect(found == code, f"exit code {found} instead of {code}; it said:\n{said[-1500:]}")
    for word in words:
        expect(word in said, f"its words do not name {word!r}:\n{said[-1500:]}")


def ends_once_brokers_answered(run, start, code, *words):
    """`start` gives a service with this start_deadline. A machine may be so busy that its brokers do not answer by then: the
    service says so, or starts without their refusal. With more time the brokers do answer. The service, which has ended."""
    for deadline in (6, 30, 100):
        service = start(f"{deadline}s")
        service.wait(harness.PATIENCE)
        run.services.remove(service)
        unanswered = "do not answer" in service.log or service.events("started")
        if not unanswered or all(word in service.log for word in words):
            break
    ends(service, code, *words)
    return service


def a_broker_that_cannot_be_reached(run):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
        ends(run.service("unreachable", kafka={"bootstrap.servers": address}, start_deadline="2s"), 69, address)


def a_topic_that_is_not_there(run):
    topic = "there-is-no-such-topic"
    ends_once_brokers_answered(
        run, lambda deadline: run.service(f"no-topic-{deadline}", topics=[topic], start_deadline=deadline), 69, topic)


def a_taken_admin_port(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ends(run.service("taken-port", admin={"listen": f"127.0.0.1:{port}"}, start_deadline="2s"), 69, port)


def a_misspelt_key(run):
    ends(run.service("misspelt", lanes={"wrokers": 4}), 78, "wrokers", "workers", "misspelt.yaml:")


def a_value_of_the_wrong_kind(run):
    ends(run.service("wrong-kind", lanes={"workers": "many"}), 78, "lanes.workers", "many")


def a_bad_value_in_the_environment(run):
    ends(run.service("bad-environment", environment={"LANEWAY_LANES__WORKERS": "many"}), 78, "LANEWAY_LANES__WORKERS")


def a_bad_set(run):
    ends(run.service("bad-set", arguments=["--set", "lanes.workers=many"]), 64, "lanes.workers")
    ends(run.service("bad-set-key", arguments=["--set", "lanes.wrokers=4"]), 64, "workers")


def a_file_that_cannot_be_had(run):
    for name, path in (("missing", "/nowhere/laneway.yaml"), ("folder", str(run.folder))):
        service = run.command(name, "run", "-c", path)
        ends(service, 66, path)


def a_verb_that_is_not_there(run):
    ends(run.command("no-verb"), 64)
    ends(run.command("odd-verb", "rum"), 64)


def a_stop_while_waiting_for_a_broker(run):
    service = run.service("waiting", kafka={"bootstrap.servers": "127.0.0.1:9"}, start_deadline="60s")
    service.url()
    service.stop()


def a_journal_that_cannot_be_written(run):
    ends(run.service("journal", journal={"file": "/nowhere/journal"}), 66, "/nowhere/journal")


CASES = [a_broker_that_cannot_be_reached, a_topic_that_is_not_there, a_taken_admin_port, a_misspelt_key,
         a_value_of_the_wrong_kind, a_bad_value_in_the_environment, a_bad_set, a_file_that_cannot_be_had,
         a_verb_that_is_not_there, a_stop_while_waiting_for_a_broker, a_journal_that_cannot_be_written]

if __name__ == "__main__":
    harness.main("bad-input", scenario)
