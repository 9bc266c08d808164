"""Kafka's encoding, as far as a proxy that changes a message must know it."""
import struct


class Cursor:
    """Goes through a message by its lengths."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def skip(self, size):
        self.at += size

    def number(self, form):
        (value,) = struct.unpack_from(">" + form, self.data, self.at)
        self.skip(struct.calcsize(">" + form))
        return value

    def varint(self):
        value = shift = 0
        while True:
            byte = self.number("B")
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def skip_request_header(self, flexible):
        self.skip(8)
        self.skip(max(self.number("h"), 0))  # client.id
        if flexible:
            self.skip_tags()

    def skip_tags(self):
        for _ in range(self.varint()):
            self.varint()
            self.skip(self.varint())


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])
