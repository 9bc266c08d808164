"""A group moves under load, one member after the other, from partitions that its members distribute to partitions that the brokers
distribute (group.protocol: consumer), and back: nothing is lost, and nothing is done twice. usage: migration.py range|cooperative-sticky"""
import sys

import harness
from harness import Promises, expect, wait_until

STRATEGY = sys.argv[1] if len(sys.argv) > 1 else "range"
CLASSIC = {"group.protocol": "classic", "partition.assignment.strategy": STRATEGY, "heartbeat.interval.ms": 500}
CONSUMER = {"group.protocol": "consumer"}
PLACES = 3


def member(run, name, protocol):
    return run.service(name, kafka=protocol, handler={"simulate": {"sleep": "5ms"}})


def all_work(run, members):
    """The group is whole, and each member goes on."""
    wait_until(f"the group has {len(members)} members", lambda: len(run.members()["members"]) == len(members))
    for service in members:
        run.wait_for_progress(service, service.processed() + 50)


def roll(run, members, name, protocol):
    """As a rolling restart does it: one is stopped in order, and the next one is started with the other protocol."""
    for place in range(PLACES):
        members[place].stop()
        members[place] = member(run, f"{name}-{place}", protocol)
        all_work(run, members)


def scenario(run):
    run.create(6)
    run.watch_commits()
    members = [member(run, f"classic-{place}", CLASSIC) for place in range(PLACES)]
    run.produce_meanwhile("--rate", 500, "--size", 100)
    all_work(run, members)
    roll(run, members, "consumer", CONSUMER)
    roll(run, members, "again", CLASSIC)
    run.finish_writing()
    run.wait_for_no_lag()
    for service in members:
        service.stop()
    for service in run.services:
        expect(not service.events("partitions lost"), f"{service.name} lost its partitions")
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main(f"migration-{STRATEGY}", scenario)
