"""More load than the workers can do: the lanes hold, then pause at the client, and lose, repeat and refetch nothing."""
import harness
from harness import Promises, expect, wait_until

RECORDS = 2000
SIZE = 500


def scenario(run):
    run.create(4)
    run.produce("--count", RECORDS // 2, "--size", SIZE)
    run.watch_commits()
    service = run.service("overload", handler={"simulate": {"sleep": "50ms"}},
                          lanes={"workers": 4, "queue": 64, "pause_after": "200ms"})
    # Once more, when the lanes run: what waits for a new lane's first commit is no rejection by a pool.
    run.wait_for_progress(service, RECORDS // 2)
    run.produce("--count", RECORDS // 2, "--size", SIZE)
    run.wait_for_no_lag()
    expect(service.metric("pool_rejections_total") > 0, "no pool rejected anything: this was no overload")
    expect(service.metric("lane_holds_total") > 0, "no lane held")
    expect(service.metric("lane_pauses_total") > 0, "no lane paused although holds lasted longer than pause_after")
    # The client tells of it now and then.
    fetched = wait_until("all was fetched", lambda: (now := service.metric("fetched_bytes_total")) >= RECORDS * SIZE and now)
    expect(fetched < 1.5 * RECORDS * (SIZE + 80), f"{fetched:.0f} bytes were fetched for {RECORDS * SIZE}")
    service.stop()
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("overload", scenario)
