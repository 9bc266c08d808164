#!/usr/bin/env python3
"""A program for laneway's exec handler: keeps running, reads one record per line, and writes one answer per line.

Copy this file and write your work into handle(). Print only answers to standard output; standard error goes to laneway's
log. The program ends when its input ends.
"""
import base64
import json
import sys


class Unavailable(Exception):
    """A service that handle() needs is out; the record is not the cause."""


def handle(record):
    """The work. Returns when the record is done; raises ValueError if the record can never work, any other error to retry."""
    if record["value"] is None:
        return  # a tombstone
    order = json.loads(record["value"])
    if "id" not in order:
        raise ValueError("the order has no id")


def decoded(record):
    """Key, value and headers as bytes; None where they are null."""
    def decode(text):
        if text is None:
            return None
        return base64.b64decode(text) if record.get("base64") else text.encode()
    headers = [(name, decode(value)) for name, value in record["headers"]]
    return {**record, "key": decode(record["key"]), "value": decode(record["value"]), "headers": headers}


def verdict(record):
    try:
        handle(decoded(record))
    except ValueError as error:
        return {"outcome": "reject", "reason": str(error)}
    except Unavailable as error:
        return {"outcome": "unavailable", "reason": str(error), "after": "5s"}
    except Exception as error:  # whatever else fails may work later
        return {"outcome": "retry", "reason": f"{type(error).__name__}: {error}"}
    return {"outcome": "done"}


def main():
    for line in sys.stdin:
        record = json.loads(line)
        print(json.dumps({"id": record["id"], **verdict(record)}), flush=True)


if __name__ == "__main__":
    main()
