"""The cost of metrics: counting, and being scraped."""
import contextlib
import threading
import urllib.request
from statistics import median

from ...ports import free_port
from ..figures import ratio_of

SCRAPE_SECONDS = 0.05  # twenty a second: what one costs is lost in the noise between two runs


@contextlib.contextmanager
def scraper(port):
    """Asks for the metrics on that port all the while."""
    ended = threading.Event()

    def scrape():
        while not ended.wait(SCRAPE_SECONDS):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
                answer.read()

    thread = threading.Thread(target=scrape)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def scraped(bench):
    """The cost of metrics beside noop: counting, and being scraped. noop with and without a scraper, in turns."""
    port = free_port()

    def noop(*more):
        return bench.lane("--records", bench.records, *more, "noop")

    def asked():
        with scraper(port):
            return noop("--metrics", f"127.0.0.1:{port}")

    without, lane = zip(*((noop(), asked()) for _ in range(bench.repeat)))
    cpu = ratio_of(lane, without, "cpu_us")
    bench.row("noop, 20 scrapes a second, CPU", f"{cpu:.3f} x without", "", None, lane, cpu)
    once = 1 + (cpu - 1) * SCRAPE_SECONDS
    bench.row("noop, a scrape a second, CPU", f"{once:.4f} x without", "<= 1.02 x without", once <= 1.02, ratio=once)
    claim = median(one["ns"] for one in bench.benchmarks("^BM_metrics_of_claim"))
    records = bench.lane("--records", bench.records, "claims")["records_a_claim"]
    counting = claim / records / 1000 / median(one["cpu_us"] for one in without)
    bench.row("noop, counting", f"{claim:.0f} ns a claim of {records:.0f}", "<= 0.02 of its CPU", counting <= 0.02, ratio=counting)
