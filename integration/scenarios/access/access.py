"""Every way to log in that docs/access.md shows, as the page shows it: the records are consumed and committed, the stop ends with 0.

On a client that cannot do it, check and start refuse with the reason.
"""
import re
import time

import harness
from access_logins import Logins, old_client, refusal_by_old_client
from bad_input import ends
from harness import expect, expect_equal

RECORDS = 200


def consumes(part, logins, kafka, **changes):
    """All records of the topic, with a group of its own."""
    service = part.service(part.name, kafka=kafka, environment=logins.environment(part.name), **changes)
    part.wait_for_no_lag()
    if "ssl.certificate.location" in kafka:
        check_expiry(service.get("/metrics"))
    service.stop()
    return service


def check_expiry(metrics):
    """The metric of the client's certificate, by its file, which the alert names."""
    expiry = re.search(r'^laneway_client_certificate_expiry_timestamp_seconds\{file="[^"]+\.pem"\} (\S+)$', metrics, re.MULTILINE)
    expect(expiry, "the metrics do not say when the certificate expires")
    expect(float(expiry[1]) > time.time(), f"the certificate expires at {expiry[1]}, so it has expired")


def is_refused(part, logins, kafka, words):
    service = part.service(part.name, kafka=kafka, environment=logins.environment(part.name))
    ends(service, 78, words, "2.6.1" if "SCRAM" in words else "1.9.0", f"{part.name}.yaml:")
    check = part.command(part.name + "-check", "check", "-c", str(service.file))
    ends(check, 78, words)


def row(run, logins, number, heading, kafka):
    def story(_):
        words = refusal_by_old_client(kafka) if old_client() else None
        with run.part(f"access-{number}") as part:
            part.topic = run.topic
            if words:
                return is_refused(part, logins, kafka, words)
            service = consumes(part, logins, kafka)
            expect_equal(RECORDS, service.processed(), f"records of {heading}")
    story.__name__ = heading
    return story


def an_output_with_its_own_login(run, logins):
    """The input over TLS without a login, the output with one, which is not shown to the input's brokers."""
    mechanism = "PLAIN" if old_client() else "SCRAM-SHA-512"

    def story(_):
        with run.part("access-output") as part:
            part.topic = run.topic
            output = run.topic + "-out"
            part.create(2, topic=output)
            consumes(part, logins, logins.tls("TLS"),
                     handler={"simulate": None, "produce": {"topic": output, "kafka": logins.sasl(mechanism)}})
            written = sum(end for _, end in part.watermarks([output]).values())
            expect_equal(RECORDS, written, "records in the output")
    story.__name__ = "an output with its own login"
    return story


def scenario(run):
    run.create(2)
    run.produce("--count", RECORDS)
    logins = Logins(run)
    pages = logins.pages()
    expect(len(pages) >= 7, f"docs/access.md has only {len(pages)} blocks")
    rows = [row(run, logins, number, *page) for number, page in enumerate(pages.items())]
    harness.at_once(run, [*rows, an_output_with_its_own_login(run, logins)])


if __name__ == "__main__":
    harness.main("access", scenario, access=True)
