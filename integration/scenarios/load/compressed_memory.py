"""Compressed records, more than is processed: memory keeps to lanes.memory and 100 MiB, though a fetched byte becomes many, and lanes that
hold do not fetch the same records again. With the distribution's client, memory keeps to that and what `laneway check --connect` says
of this client. The argument is how many times smaller the records are in the log, about.
"""
import re
import subprocess
import sys

import harness
from harness import LANEWAY, PATIENCE, Promises, expect, expect_equal, inherited_environment, wait_until

PARTITIONS, RECORDS, SIZE = 16, 24_000, 8_000
BUDGET, BESIDES = 64, 100  # MiB: lanes.memory, and the rest of the process
RANDOM = {"17": 850, "100": 110}  # characters of each record that compression makes no smaller than half


def compression(run):
    """How many times smaller the log is than its records."""
    logs = sum(file.stat().st_size for file in run.kafka_dir.glob(f"node-1/data/{run.topic}-*/*.log"))
    return RECORDS * SIZE / logs


def beyond(service, ratio):
    """MiB that the client may take in addition, and the bytes that may be fetched for each one processed."""
    said = subprocess.run([LANEWAY, "check", "--connect", "-c", service.file], text=True, stdout=subprocess.PIPE,
                          timeout=PATIENCE, env=inherited_environment()).stdout
    if re.search(r"compressed topics: .* decompresses no more than that", said):
        return 0, 2
    size, unit = re.search(r"compressed topics: .* each partition can take (\d+)([KM])iB times the ratio", said).groups()
    return int(size) / {"K": 1024, "M": 1}[unit] * ratio * PARTITIONS, sys.float_info.max


def scenario(run):
    run.create(PARTITIONS, "compression.type=zstd")
    run.watch_commits()
    run.produce("--count", RECORDS, "--size", SIZE, "--random", RANDOM[sys.argv[1]])
    ratio = compression(run)
    service = run.service("service", lanes={"memory": f"{BUDGET}MiB", "workers": 2, "queue": 64},
                          handler={"simulate": {"sleep": "40ms"}})
    run.wait_for_no_lag()
    peak = service.peak_memory() / 2**20
    wait_until("all bytes are counted", lambda: service.metric("processed_bytes_total") >= RECORDS * SIZE)
    fetched = service.metric("fetched_bytes_total") / service.metric("processed_bytes_total")
    pauses = service.metric("lane_pauses_total")
    service.stop()
    more, most_fetched = beyond(service, ratio)
    print(f"{ratio:.0f}:1, at the most {peak:.0f} MiB for {RECORDS * SIZE / 2**20:.0f} MiB of records, {more:.0f} MiB more allowed; "
          f"{fetched:.2f} bytes fetched for each one processed, {pauses:.0f} pauses")
    expect(ratio > 0.8 * int(sys.argv[1]), f"the records are compressed {ratio:.0f}:1 only")
    expect(pauses > 0, "no lane was paused")
    expect(peak <= BUDGET + BESIDES + more, f"{peak:.0f} MiB of memory")
    expect(fetched <= most_fetched, f"{fetched:.2f} bytes were fetched for each one that was processed")
    expect_equal(RECORDS, run.judge(Promises(stopped_clean=True))["processed"], "processed records")


if __name__ == "__main__":
    harness.main("compressed-memory", scenario)
