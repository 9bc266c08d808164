"""The data that scenarios of handler.produce.transactional compare: the input and, as a reader of committed records, the output."""
import json

from waits import expect_equal, wait_until

DELIVERY_ID = "Laneway-Delivery-Id"


def own_headers(record):
    """The original headers, as a text: laneway adds its delivery id to the records that it writes."""
    return json.dumps([header for header in record["headers"] if header[0] != DELIVERY_ID])


def records_of(run, topic):
    """Its committed records by key, in order of offset, as (headers, value)."""
    keys = {}
    for record in map(json.loads, run.tool("read", topic)):
        if "value" in record:
            keys.setdefault(record["key"], []).append((own_headers(record), record["value"]))
    return keys


def all_written(run, count):
    """The output once the brokers have aborted the open transactions of killed processes; before, it cannot be read."""
    def found():
        keys = records_of(run, run.topic + "-out")
        return keys if sum(map(len, keys.values())) >= count else None
    return wait_until("the output is as long as the input", found, every=1)


def expect_each_once(before, after, count):
    expect_equal(count, sum(map(len, before.values())), "records that were read")
    written = sum(map(len, after.values()))
    distinct = sum(len(set(records)) for records in after.values())
    expect_equal((count, count), (written, distinct), "records written, and distinct ones of them")
    expect_equal({key: sorted(records) for key, records in before.items()},
                 {key: sorted(records) for key, records in after.items()}, "records of each key")


def aborted(run):
    """Transactions that the run's services aborted."""
    return sum(len(service.events("transaction aborted, its records run again")) for service in run.services)
