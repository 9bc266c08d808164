"""What a terminal and a pipe get to see."""
import io
import unittest

from tools.demo.screen import Screen, lane_letters


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Screens(unittest.TestCase):
    def setUp(self):
        self.now = 0.0

    def screen(self, output):
        return Screen(output, lambda: self.now)

    def test_a_pipe_gets_a_line_every_few_seconds_and_all_events(self):
        output = io.StringIO()
        screen = self.screen(output)
        for second in range(7):
            self.now = second
            screen.show(f"at {second}", ["row"])
        screen.say("an event")
        self.assertEqual(["   0.0 s  at 0", "   3.0 s  at 3", "   6.0 s  at 6", "   6.0 s  an event"], output.getvalue().splitlines())

    def test_a_terminal_redraws_the_present_and_keeps_events_above(self):
        output = Terminal()
        screen = self.screen(output)
        screen.show("first", ["row"])
        screen.say("an event")
        self.assertIn("\033[2A\033[J", output.getvalue())
        before, after = output.getvalue().split("an event")
        self.assertIn("first", before)
        self.assertIn("first", after)
        screen.print("the verdict")
        end = output.getvalue()
        screen.show("second")
        self.assertNotIn("\033[2A", output.getvalue()[len(end):])  # what was left is not erased

    def test_lanes_are_letters(self):
        lanes = [{"partition": 1, "state": "running"}, {"partition": 2, "state": "held"}, {"partition": 3, "state": "new"}]
        self.assertEqual(".rH?", lane_letters(lanes, 4))
