"""The settings of a service: what most stories have in common, and a story's changes.

LANEWAY_GROUP_PROTOCOL=consumer has all members join their groups by that protocol (KIP-848): what a member of the other protocol
decides itself is the group's then, or the brokers' (scripts/kafka).
"""
import os

import wire

GROUP_PROTOCOL = os.environ.get("LANEWAY_GROUP_PROTOCOL", "classic")  # or consumer: the brokers distribute the partitions
LEFT_TO_BROKERS = ("session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy")  # under consumer
SHORT_SESSION = {"session.timeout.ms": 10000}  # who is killed has its partitions for no longer than that


def merged(base, changes):
    """`base` with `changes` laid over it, map by map; None takes a key out."""
    result = dict(base)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


def usual(run, name):
    return {
        "kafka": {"bootstrap.servers": run.bootstrap, "group.id": run.group},
        "topics": [run.topic],
        "handler": {"simulate": {"sleep": "1ms"}},
        "lanes": {"drain": "30s"},  # it ends as soon as it can: more is only patience with a busy machine
        "commit": {"interval": "500ms"},
        "journal": {"file": str(run.folder / f"{name}.journal")},
        "admin": {"listen": "127.0.0.1:0"},
        "log": {"level": "info"},
    }


class Sessions:
    """The session time-outs of groups, if the brokers keep them."""

    def __init__(self):
        self.timeouts = {}

    def leave_to_brokers(self, kafka, address):
        """Removes the settings that a member does not decide from the client's, and sets them at the broker at `address`."""
        kafka["group.protocol"] = "consumer"
        decided = {key: kafka.pop(key) for key in LEFT_TO_BROKERS if key in kafka}
        session = {kafka["group.id"]: decided.get("session.timeout.ms")}
        if any(session.values()) and not session.items() <= self.timeouts.items():
            self.timeouts.update(session)
            wire.configure_group(address, kafka["group.id"], consumer_session_timeout_ms=decided["session.timeout.ms"])
