"""With check.crcs, a corrupt batch holds its lane at its offset, is named, and is skipped when an operator decides so."""
import json
import struct

import harness
from harness import expect, expect_equal, wait_until

EACH = 10  # records of a produce


def batches(log):
    """(position, base offset, last offset, size) of each batch of a log file."""
    position = 0
    while position + 61 <= len(log):
        base, length = struct.unpack_from(">qi", log, position)
        if length <= 0 or position + 12 + length > len(log):
            return
        last = base + struct.unpack_from(">i", log, position + 23)[0]
        yield position, base, last, 12 + length
        position += 12 + length


def corrupt(run, partition, least):
    """Changes a byte of the first batch of a partition that begins at this offset or above; its first and its last offset. None if
    there is none."""
    (file,) = run.kafka_dir.glob(f"node-*/data/{run.topic}-{partition}/00000000000000000000.log")
    for position, base, last, size in batches(file.read_bytes()):
        if base >= least:
            with open(file, "r+b") as log:
                log.seek(position + size - 3)
                byte = log.read(1)
                log.seek(position + size - 3)
                log.write(bytes([byte[0] ^ 0xFF]))
            return base, last
    return None


def scenario(run):
    run.create(1)
    for _ in range(3):
        run.produce("--count", EACH)
    base, last = corrupt(run, 0, EACH)
    service = run.service("service", kafka={"check.crcs": True})
    wait_until("status names the corrupt batch", lambda: f"at offset {base} is corrupt" in service.source_error())
    wait_until("what is before it is committed", lambda: run.committed().get((run.topic, 0)) == base)
    wait_until("the service is not ready",
               lambda: "unreadable" in [reason["code"] for reason in json.loads(service.get("/status"))["reasons"]])
    expect_equal(base, service.processed(), "records processed before the corrupt batch")
    address = service.url().split("//")[1]
    expect_equal(0, run.command("skip", "skip", f"{run.topic}:0:{last}", "--reason", "disk", "--admin", address).wait(60),
                 "exit code of the skip")
    run.wait_for_no_lag()
    expect_equal(3 * EACH - (last + 1 - base), service.processed(), "records processed")
    expect(service.events("corrupt records passed over"), "the log does not tell what was passed over")
    service.stop()


if __name__ == "__main__":
    harness.main("corrupt", scenario, own_kafka=True)
