"""The brokers do not offer group.protocol: consumer: the service and check --connect report this with the remedy, and end with 78;
nothing is lost. With group.protocol: classic the same group then works."""
import harness
from bad_input import ends
from harness import Promises

RECORDS = 200


def scenario(run):
    run.create(2)
    run.produce("--count", RECORDS)
    refused = run.service("refused", kafka={"group.protocol": "consumer"})
    words = ("the brokers refuse group.protocol: consumer", "disabled it", "group.version", "kafka.group.protocol: classic")
    ends(refused, 78, *words)
    run.services.remove(refused)
    checked = run.command("checked", "check", "--connect", "-c", str(refused.file))
    ends(checked, 78, *words)
    run.services.remove(checked)
    classic = run.service("classic", kafka={"group.protocol": "classic"})
    run.wait_for_progress(classic, RECORDS)
    run.wait_for_no_lag()
    classic.stop()
    run.judge(Promises(stopped_clean=True))


if __name__ == "__main__":
    harness.main("old-broker", scenario, own_kafka=True, broker=["group.coordinator.rebalance.protocols=classic"])
