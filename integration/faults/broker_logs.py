"""Reads from the brokers' logs which members a coordinator expelled from a group of the consumer protocol. __consumer_offsets
has the same, except while a coordinator is being replaced: a coordinator that stood still while another broker took over ends
sessions when it goes on, and answers members accordingly, before it learns that its records are no longer accepted.
scripts/kafka makes the brokers log the actions of coordinators.
"""
import re
from datetime import datetime

from facts import Fencing

FENCED = re.compile(r"^(\S+ \S+) INFO .*\[GroupId (\S+)\] Member (\S+) fenced from the group because")


def fencings(logs, group, clients):
    """The Fencings of this group in the order of their time. `logs`: the text of each broker's log; `clients`: the coordinator's id
    of a member -> its client.id."""
    found = []
    for log in logs:
        for line in log.splitlines():
            fenced = FENCED.match(line)
            if fenced and fenced[2] == group and fenced[3] in clients:
                time = datetime.strptime(fenced[1], "%Y-%m-%d %H:%M:%S,%f")  # of this machine's time zone
                found.append(Fencing(clients[fenced[3]], round(time.timestamp() * 1000) * 1_000_000))
    return sorted(found, key=lambda fencing: fencing.time)
