"""A record whose handling crashes the process: after a few restarts it is recognised and goes to the dead-letter topic.

The service is started again whenever it has died, as systemd would do it. Then everything else is processed, too.
"""
import dead_letters
import harness
import plugin
from harness import Promises, expect, expect_equal, wait_until

PARTITIONS, RECORDS, POISON = 4, 1600, (1, 300)
MAX_CRASHES = 3


def scenario(run):
    letters = run.topic + "-dlt"
    run.create(PARTITIONS)
    run.produce("--count", RECORDS, "--size", 100)
    run.watch_commits()
    options = {"handler": plugin.handler("poison.so"), "dead_letter": {"topic": "{topic}-dlt"},
               "retry": {"max_crashes": MAX_CRASHES}, "kafka": {"group.instance.id": "one"}, "lanes": {"workers": 4}}
    lives, died = [], True
    while died:
        expect(len(lives) < 8, "the service dies again and again")
        life = run.service(f"life-{len(lives) + 1}", **options)
        lives.append(life)
        wait_until("it dies or is done", lambda: not life.running() or run.has_no_lag(), every=0.3)
        died = not life.running()
        if died:
            expect_equal(plugin.SIGSEGV, life.process.returncode, "exit code of the crash")
    deaths = len(lives) - 1
    expect(deaths >= MAX_CRASHES, f"given up after {deaths} deaths")
    expect(lives[-2].events("careful mode begins"), "nothing was said of the care")
    lives[-1].stop()

    found = dead_letters.origins_of(run, letters)
    expect_equal([POISON], list(found), "dead letters")
    reason, text = found[POISON]
    expect_equal("crashed", reason, "the reason")
    expect(f"ended {MAX_CRASHES} times" in text, f"the text is: {text}")
    for life in lives[:-1]:
        run.services.remove(life)  # their ends are as they should be
    processed = sum(life.processed() for life in lives)
    run.services[:0] = lives[:-1]
    report = run.judge(Promises(stopped_clean=False, duplicates=processed), letters=[letters])
    expect_equal(RECORDS, report["processed"], "processed records, the dead letter included")
    print(f"{deaths} deaths, then record {POISON} was a dead letter; {report['duplicates']} records ran twice")


if __name__ == "__main__":
    harness.main("crash_loop", scenario)
