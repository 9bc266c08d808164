"""orders, with one member that is stopped in an orderly way"""
from ..evidence import acknowledged, successes
from ..verdict import Account

TARGETS = ("laneway", "kafka_tool")
SECONDS = 20


def play(stage):
    stage.start_kafka({"orders": 4})
    writer = stage.kafka.write("orders", "--rate", 200, "--count", int(200 * stage.seconds))
    member = stage.member("laneway", "config/simulate.yaml", lanes__workers="4")

    def present():
        stage.show(f"{member.finished():,} records done, page {member.page}")

    stage.until("the writer ends", lambda: not writer.running(), present)
    stage.until("everything is committed", lambda: stage.kafka.lag("orders-simulate", "orders") == 0, present)
    member.stop()
    stage.ended(member, present)
    account = stage.verdict.account(Account("laneway", acknowledged(stage.kafka.acks("orders")), successes([member.journal]),
                                            stage.kafka.committed("orders-simulate", "orders")))
    stage.verdict.check(account.complete(), "every record was done and committed")
    stage.verdict.check(account.duplicated == 0, "no record was done twice")
