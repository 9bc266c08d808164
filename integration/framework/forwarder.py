#!/usr/bin/python3
"""A program for handler.exec that posts each record to the web service of downstream.py: forwarder.py URL AUTHORITY

So a service whose handler is a program has the same witness as a service that posts the records itself.
"""
import base64
import http.client
import json
import ssl
import sys
from urllib.parse import urlsplit

OUTCOMES = {204: "done", 422: "reject", 503: "unavailable"}  # any other status: retry


class Forwarder:
    def __init__(self, url, authority):
        address = urlsplit(url)
        self.path = address.path
        self.connection = http.client.HTTPSConnection(address.hostname, address.port,
                                                      context=ssl.create_default_context(cafile=authority))

    def outcome(self, record):
        """A connection that was open may have been closed meanwhile, so the request runs again on a new one."""
        again = self.connection.sock is not None
        try:
            return OUTCOMES.get(self.post(record), "retry")
        except (OSError, http.client.HTTPException):
            self.connection.close()
        return self.outcome(record) if again else "unavailable"

    def post(self, record):
        value = base64.b64decode(record["value"]) if record.get("base64") else record["value"].encode()
        headers = {"kafka-topic": record["topic"], "kafka-partition": record["partition"], "kafka-offset": record["offset"],
                   "kafka-key": record["key"], "laneway-attempt": record["attempt"]}
        self.connection.request("POST", self.path, value, {name: str(text) for name, text in headers.items()})
        answer = self.connection.getresponse()
        answer.read()
        return answer.status


def main(url, authority):
    forwarder = Forwarder(url, authority)
    for line in sys.stdin:
        record = json.loads(line)
        print(json.dumps({"id": record["id"], "outcome": forwarder.outcome(record)}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
