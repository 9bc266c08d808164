"""What people see: a few lines that are drawn again on a terminal, one line every few seconds on a pipe; events stay."""
import os
import sys
import time

EVERY_ON_PIPE = 3.0  # s between two lines of the present


class Screen:
    """Not for several threads. `clock` gives seconds."""

    def __init__(self, output=None, clock=time.monotonic):
        self.output, self.clock = output or sys.stdout, clock
        self.terminal = self.output.isatty()
        self.begun, self.shown_at, self.drawn, self.last = clock(), None, 0, ([], "")

    def seconds(self):
        return self.clock() - self.begun

    def width(self):
        try:
            return os.get_terminal_size(self.output.fileno()).columns
        except (OSError, ValueError):
            return 120

    def say(self, text):
        """A line that stays; on a terminal the present is drawn again below it."""
        self.erase()
        print(f"{self.seconds():6.1f} s  {text}", file=self.output, flush=True)
        if self.terminal:
            self.draw(*self.last)

    def show(self, summary, rows=()):
        """The present. A terminal shows the rows and the summary; a pipe gets the summary every few seconds."""
        if self.terminal:
            self.last = (list(rows), summary)
            self.erase()
            self.draw(*self.last)
        elif self.shown_at is None or self.clock() >= self.shown_at + EVERY_ON_PIPE:
            self.shown_at = self.clock()
            print(f"{self.seconds():6.1f} s  {summary}", file=self.output, flush=True)

    def leave(self):
        """What is drawn stays, and is not drawn again."""
        self.drawn, self.last = 0, ([], "")

    def print(self, text=""):
        self.leave()
        print(text, file=self.output, flush=True)

    def draw(self, rows, summary):
        if not summary:
            return
        lines = [*rows, f"{self.seconds():6.1f} s  {summary}"]
        most = self.width() - 1
        self.output.write("".join(line[:most] + "\033[K\n" for line in lines))
        self.output.flush()
        self.drawn = len(lines)

    def erase(self):
        if self.terminal and self.drawn:
            self.output.write(f"\033[{self.drawn}A\033[J")
            self.drawn = 0


def lane_letters(lanes, partitions):
    """One letter for each partition: its lane's state in this member, '.' where another one has it."""
    letters = ["."] * partitions
    for lane in lanes:
        letters[lane["partition"]] = LETTERS.get(lane["state"], "?")
    return "".join(letters)


LETTERS = {"running": "r", "held": "H", "paused": "P", "draining": "d"}
LEGEND = "one letter for each lane: r running, H held, P paused, d draining"
