#!/usr/bin/env python3
"""A program for laneway's exec handler with `framing: binary`: for large records and for records that are not text.

The layout of the frames is described in lib/handler/exec/exec_frame.h. Write your work into handle().
"""
import struct
import sys

DONE, RETRY, REJECT, UNAVAILABLE = range(4)
VERSION = 1


def handle(record):
    """Returns an outcome, a reason, and optionally the delay before the next attempt in ms. All fields are bytes or None."""
    if record["value"] is None or len(record["value"]) > 0:
        return DONE, ""
    return REJECT, "the value is empty"


class Frame:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, layout):
        layout = ">" + layout
        values = struct.unpack_from(layout, self.data, self.at)
        self.at += struct.calcsize(layout)
        return values

    def bytes(self):
        size, = self.take("i")
        if size < 0:
            return None
        self.at += size
        return self.data[self.at - size:self.at]

    def record(self):
        version, number, partition, offset, timestamp, attempt = self.take("BQiqqI")
        if version != VERSION:
            raise SystemExit(f"version {version} of laneway's binary frames is not known")
        record = {"id": number, "partition": partition, "offset": offset, "timestamp": timestamp, "attempt": attempt,
                  "topic": self.bytes(), "key": self.bytes(), "value": self.bytes()}
        count, = self.take("I")
        record["headers"] = [(self.bytes(), self.bytes()) for _ in range(count)]
        return record


def main():
    read, write = sys.stdin.buffer, sys.stdout.buffer
    while head := read.read(4):
        record = Frame(read.read(*struct.unpack(">I", head))).record()
        outcome, reason, *after = handle(record)
        answer = struct.pack(">BQBq", VERSION, record["id"], outcome, *(after or [-1])) + reason.encode()
        write.write(struct.pack(">I", len(answer)) + answer)
        write.flush()


if __name__ == "__main__":
    main()
