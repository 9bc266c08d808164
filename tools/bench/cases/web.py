"""Requests to a web service, beside wrk and beside a thread for each request."""
import contextlib
import os
import re
import shutil
import subprocess
from statistics import median

from ...failure import Failure
from ..bench import VALUE_BYTES, run
from ..figures import rates, ratio_of

HTTP_PARTITIONS, HTTP_RECORDS, HTTP_SECONDS = 8, 4_000_000, 10
HTTP_WORKERS = 32  # requests of each partition at a time
HTTP_BATCH = 50
SLOW_MS, SLOW_WORKERS, SLOW_THREADS = 50, 128, 12
WRK_SCRIPT = f"""
wrk.method = "POST"
wrk.body = string.rep("x", {VALUE_BYTES})
for name, value in pairs({{["Content-Type"] = "application/octet-stream", ["Kafka-Topic"] = "http",
    ["Kafka-Partition"] = "3", ["Kafka-Offset"] = "123456", ["Kafka-Timestamp"] = "1767323045678",
    ["Kafka-Key"] = "key-1234", ["Laneway-Attempt"] = "1", ["Laneway-Delivery-Id"] = "MkU3OEVBNTcwNTJENDM2Qg/http/3/123456"}}) do
  wrk.headers[name] = value
end
"""


@contextlib.contextmanager
def http_server(bench, delay_ms, outage_seconds=0):
    command = [bench.build_folder / "integration/bench/http_server", "--delay", str(delay_ms), "--outage", str(outage_seconds)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/orders"
    finally:
        server.stdin.close()
        server.wait()


def wrk(bench, url, connections):
    """Requests a second of a load generator that does nothing but send."""
    if not shutil.which("wrk"):
        raise Failure("wrk is not installed: apt-get install wrk")
    script = bench.build_folder / "bench-wrk.lua"
    script.write_text(WRK_SCRIPT)
    said = run("wrk", "-t1", f"-c{connections}", f"-d{HTTP_SECONDS}s", "-s", script, url)
    rate = float(re.search(r"Requests/sec: +([0-9.]+)", said)[1])
    bench.runs.append({"command": f"wrk -t1 -c{connections}", "rate": rate})
    print(f"  wrk -c{connections}: rate={rate:.6g}", flush=True)
    return {"rate": rate}


def post(bench, url, seconds, *more, workers=HTTP_WORKERS, build=None):
    topic = bench.topic("http", HTTP_PARTITIONS, HTTP_RECORDS)
    return bench.measure("lane_bench", topic, "--url", url, "--workers", workers, "--seconds", seconds, *more, "http", build=build)


def http(bench):
    in_flight = HTTP_PARTITIONS * HTTP_WORKERS
    with http_server(bench, 0) as url:
        bare, threads, lane, batches = zip(*(
            (wrk(bench, url, in_flight),
             bench.alone("http_threads", "--url", url, "--threads", in_flight, "--seconds", HTTP_SECONDS),
             post(bench, url, HTTP_SECONDS), post(bench, url, HTTP_SECONDS, "--batch", HTTP_BATCH)) for _ in range(bench.repeat)))
    bench.row(f"wrk, {in_flight} connections", rates(bare), "", None)
    bench.row(f"a request a thread, {in_flight}", rates(threads), "", None, threads)
    bench.row(f"http, {in_flight} in flight", rates(lane), "", None, lane, ratio_of(lane, bare))
    ratio = ratio_of(lane, threads)
    bench.row("http, beside a request a thread", f"{ratio:.2f} x its rate", ">= 1 x", ratio >= 1, ratio=ratio)
    bench.row(f"http, {HTTP_BATCH} records a request", rates(batches), "", None, batches, ratio_of(batches, bare))
    ratio = ratio_of(batches, threads)
    bench.row("http, batches beside a request a thread", f"{ratio:.2f} x its rate", ">= 4 x", ratio >= 4, ratio=ratio)
    with http_server(bench, SLOW_MS) as url:
        bare, slow = zip(*((wrk(bench, url, HTTP_PARTITIONS * SLOW_WORKERS), post(bench, url, HTTP_SECONDS, workers=SLOW_WORKERS))
                           for _ in range(bench.repeat)))
    ideal = HTTP_PARTITIONS * SLOW_WORKERS * 1000 / SLOW_MS
    bench.row("wrk, 50 ms, 1,024 connections", rates(bare), "", None, ratio=median(one["rate"] for one in bare) / ideal)
    ratio = median(one["rate"] for one in slow) / ideal
    busy = median(one["busy_cores"] for one in slow) / os.cpu_count()
    bench.row("http, 50 ms, 1,024 in flight", rates(slow), ">= 0.97 x 20,480/s, or CPU 0.97", ratio >= 0.97 or busy >= 0.97,
              slow, ratio)
    ratio = ratio_of(slow, bare)
    bench.row("http, 50 ms, beside wrk", f"{ratio:.3f} x its rate", "", None, ratio=ratio)
    bench.row("http, 50 ms, machine busy", f"{busy:.2f} of its CPU", "", None, ratio=busy)
    threads = max(one["threads"] for one in slow)
    bench.row("http, threads", f"{threads}", f"<= {SLOW_THREADS}", threads <= SLOW_THREADS)
