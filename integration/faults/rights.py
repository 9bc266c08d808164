"""The rights of the user by which the members of a story come, who may do only what is granted here. scripts/kafka --secured"""
import time

from access_logins import PASSWORD

USER = "worker"
LOGIN = {"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "sasl.username": USER, "sasl.password": PASSWORD}
BRIEF, LONG = 1, 4  # so manieth of a fault's time: a long one may outlast the session of a member


class Rights:
    def __init__(self, run):
        self.run = run

    def give(self, topics):
        for topic in topics:
            self.run.tool("grant", USER, "topic", topic, "read", "write", "describe")
        for group in (self.run.group, self.run.group + "-redrive"):
            self.run.tool("grant", USER, "group", group, "read", "describe")

    def take(self, fault):
        """Some of the rights are away for a while."""
        taken = [("topic", self.run.topic, "read"), ("topic", self.run.topic, "read", "describe"),
                 ("group", self.run.group, "read", "describe"), ("topic", self.run.topic + "-dlt", "write")]
        rights = taken[fault.choice % len(taken)]
        self.run.tool("revoke", USER, *rights)
        time.sleep(fault.lasts * (LONG if fault.choice // len(taken) % 2 else BRIEF))
        self.run.tool("grant", USER, *rights)
        return " ".join(rights)
