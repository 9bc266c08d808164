"""The clients' web servers, from which the images come. Standard library only.

An image that cannot be fetched is the fault of its request, never an outage of this service: a 503 would use up no attempt, and
the request would hold its partition forever. What cannot change is refused with 422, which laneway rejects. What may change is
answered with 500, which laneway tries again, and with 422 when the record has failed for PATIENCE: laneway counts no attempts while
the sources of all records fail.

Threads: any.
"""
import collections
import http.client
import json
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from .refused import Refused

LARGEST = 15 << 20  # bytes of an image: what goes to the next pool may have 16 MiB
WITHIN = 5.0  # s for an image
PATIENCE = 30.0  # s from the first failure of a record
MOST_FAILING = 10_000  # records that are remembered
PIECE = 1 << 16  # bytes
MAY_CHANGE = (408, 425, 429)  # and 5xx


class Sources:
    def __init__(self):
        self.lock, self.since = threading.Lock(), collections.OrderedDict()  # {delivery id: time of the first failure}

    def fetch(self, body, delivery):
        """The image that a record names. `delivery`: the delivery id of the record."""
        source = source_of(body)
        try:
            image = read(source)
        except (OSError, http.client.HTTPException) as error:
            lasting = self.fails(delivery, time.monotonic()) >= PATIENCE
            raise Refused(422 if lasting else 500, f"{source}: {error!r}") from error
        with self.lock:
            self.since.pop(delivery, None)
        return image

    def fails(self, delivery, now):
        """For how long the record has been failing."""
        with self.lock:
            begun = self.since.setdefault(delivery, now) if delivery else now
            if len(self.since) > MOST_FAILING:
                self.since.popitem(last=False)
        return now - begun


def source_of(body):
    try:
        source = json.loads(body)["source"]
        parts = urllib.parse.urlsplit(source)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:  # port raises ValueError
            return source
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise Refused(422, "the record names no source at http:// or https://")


def read(source):
    """The bytes at the address. Raises Refused, and OSError or HTTPException if it may work later."""
    end = time.monotonic() + WITHIN
    try:
        with urllib.request.urlopen(source, timeout=WITHIN) as answer:
            image = read_body(answer, end)
    except urllib.error.HTTPError as error:
        if error.code in MAY_CHANGE or error.code >= 500:
            raise
        raise Refused(422, f"{source}: {error}") from error
    except (ValueError, http.client.InvalidURL) as error:
        raise Refused(422, f"{source}: {error}") from error
    if len(image) > LARGEST:
        raise Refused(422, f"{source} is larger than {LARGEST >> 20} MiB")
    return image


def read_body(answer, end):
    image = bytearray()
    while len(image) <= LARGEST and (piece := answer.read1(PIECE)):
        image += piece
        if time.monotonic() > end:
            raise TimeoutError(f"the image did not come within {WITHIN:.0f} s")
    if len(image) <= LARGEST and answer.length:  # http.client is silent about it
        raise http.client.IncompleteRead(b"", answer.length)
    return bytes(image)
