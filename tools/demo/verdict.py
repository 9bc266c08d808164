"""The account of a run, and the verdict: figures from evidence alone, and checks whose failure makes the exit code."""

FIGURES = ("produced", "processed", "committed", "lost", "unfinished", "duplicated")


class Account:
    """What became of the records of one consumer.

    `acknowledged`, `successes`: as evidence.py has them; `committed`: as broker.committed. A record is lost if it was never
    finished, and lies below the committed offset: nobody will read it again. It is unfinished if it lies above: somebody will.
    """

    def __init__(self, name, acknowledged, successes, committed):
        self.name = name
        acknowledged = set(acknowledged)
        self.produced = len(acknowledged)
        self.processed = len(acknowledged & successes.keys())
        self.lost_places = {place for place in acknowledged - successes.keys() if below(place, committed)}
        self.lost = len(self.lost_places)
        self.unfinished = self.produced - self.processed - self.lost
        self.committed = sum(below(place, committed) for place in acknowledged)
        self.repeats = {place: all_of for place, all_of in successes.items() if len(all_of) > 1}
        self.duplicated = len(self.repeats)
        self.given_up = sum(all_of[0].outcome == "dead_letter" for all_of in successes.values())
        ends = [attempt.end for all_of in successes.values() for attempt in all_of]
        starts = [attempt.start for all_of in successes.values() for attempt in all_of]
        self.seconds = (max(ends) - min(starts)) / 1e9 if ends else 0.0

    @property
    def rate(self):
        """Records a second, from the first start to the last end."""
        return self.processed / self.seconds if self.seconds else 0.0

    def complete(self):
        """Whether every record was finished and is committed."""
        return self.lost == 0 and self.unfinished == 0 and self.committed == self.produced


def below(place, committed):
    topic, partition, offset = place
    return offset < committed.get((topic, partition), 0)


class Verdict:
    """Accounts and checks; prints itself."""

    def __init__(self):
        self.accounts, self.notes, self.checks = [], [], []

    def account(self, account):
        self.accounts.append(account)
        return account

    def note(self, text):
        """A line between the table and the checks."""
        self.notes.append(text)

    def check(self, holds, text):
        """`text` says what holds if all is right."""
        self.checks.append((bool(holds), text))

    def right(self):
        return bool(self.checks) and all(holds for holds, _ in self.checks)

    def lines(self):
        wide = max([len(account.name) for account in self.accounts] or [0])
        if self.accounts:
            yield " " * wide + "".join(f"{figure:>12}" for figure in FIGURES)
        for account in self.accounts:
            yield f"{account.name:<{wide}}" + "".join(f"{getattr(account, figure):>12,}" for figure in FIGURES)
        if self.accounts:
            yield "produced: acknowledged by the broker; processed: by the journals; committed: by the broker's offsets"
        yield from self.notes
        for holds, text in self.checks:
            yield ("right  " if holds else "WRONG  ") + text
