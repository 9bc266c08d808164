#!/usr/bin/python3
"""A story that fails is cut down to what it fails by. A stand-in plays the stories."""
import time
import unittest
from dataclasses import replace
from unittest import mock

import drawn
import stories

RULE, OTHER = "progress: a record waits", "one_owner: two members have a partition"


def large_story():
    """A story with several faults, among them one of the kind that matters, and with an order."""
    story = next(story for story in map(drawn.draw, range(1, 101))
                 if story.order == "key" and len({fault.kind for fault in story.faults}) > 2)
    return replace(story, members=3, burst=500)


def shrunk(story, fails, until=float("inf")):
    """The story that is left, if `fails` returns the breaches of a story, and the stories that were played."""
    played = []

    def play(_, candidate, __):
        played.append(candidate)
        return "", fails(candidate)
    with mock.patch.object(stories, "play", play):
        return stories.shrink(None, story, fails(story), until, stories.Trial), played


class Shrink(unittest.TestCase):
    def setUp(self):
        self.story = large_story()
        self.kind = self.story.faults[-1].kind

    def fails(self, story):
        """Without an order another rule is broken."""
        if not story.has(self.kind):
            return []
        return [RULE if story.order == "key" else OTHER]

    def test_the_parts_that_the_rule_needs_are_left(self):
        left, _ = shrunk(self.story, self.fails)
        self.assertEqual([self.kind], [fault.kind for fault in left.faults])
        self.assertEqual("key", left.order)
        self.assertEqual((drawn.Story(0).members, drawn.Story(0).burst), (left.members, left.burst))
        self.assertEqual([RULE], self.fails(left))

    def test_no_remaining_part_can_be_left_out(self):
        left, _ = shrunk(self.story, self.fails)
        self.assertEqual([], [smaller for smaller in left.smaller() if RULE in self.fails(smaller)])

    def test_a_story_stays_as_it_is_if_every_smaller_story_passes(self):
        left, played = shrunk(self.story, lambda story: [RULE] if story == self.story else [])
        self.assertEqual(self.story, left)
        self.assertEqual(self.story.smaller(), played)

    def test_no_story_is_played_after_the_time(self):
        self.assertEqual((self.story, []), shrunk(self.story, self.fails, until=time.monotonic() - 1))


if __name__ == "__main__":
    unittest.main()
