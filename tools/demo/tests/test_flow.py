"""A flow that is right has no stall and no repeat, and each planted one is found where it is."""
import unittest

from tools.demo.flow import SECOND, Act, Flow, behind, by_act, overtaken, overtakers, stalls

END = 60 * SECOND
EACH = SECOND // 4


def events(begin=0, end=END):
    return {("events", 0, number): number * EACH for number in range(begin // EACH, end // EACH)}


def delivered(offered, late=0):
    return [(place, time + late) for place, time in offered.items()]


class Flows(unittest.TestCase):
    KILL = Act("kill", 20 * SECOND, 26 * SECOND, down=True)

    def test_a_right_one(self):
        flow = Flow("audit", events(), delivered(events()))
        self.assertEqual((1.0, [], [], set(), set()),
                         (flow.ratio(0, END), stalls(flow, 0, END, [], 0.5), flow.repeats(), flow.missing, flow.strange))
        self.assertEqual(0.25, flow.longest_gap(0, END, []))

    def with_a_rest(self, begin, end):
        """Nothing from `begin` to `end`, in seconds; then everything at once."""
        return Flow("audit", events(), [(place, end * SECOND if begin * SECOND <= time < end * SECOND else time)
                                        for place, time in events().items()])

    def test_a_rest_is_a_stall(self):
        flow = self.with_a_rest(20, 26)
        self.assertEqual([], stalls(flow, 0, END, [], 0.5))
        self.assertEqual(6.25, flow.longest_gap(0, END, []))
        self.assertEqual([20 * SECOND, 30 * SECOND], [at for at, _ in stalls(self.with_a_rest(20, 40), 0, END, [], 0.5)])

    def test_a_rest_is_none_while_nobody_was_there(self):
        self.assertEqual(0.25, self.with_a_rest(20, 26).longest_gap(0, END, [self.KILL]))
        flow, joins = self.with_a_rest(20, 30), self.KILL._replace(down=False)
        self.assertEqual([], stalls(flow, 0, END, [self.KILL], 0.5))
        self.assertEqual([20 * SECOND], [at for at, _ in stalls(flow, 0, END, [joins], 0.5)])

    def test_what_is_too_slow(self):
        slow = [(place, time) for place, time in events().items() if place[2] % 10]
        self.assertAlmostEqual(0.9, Flow("audit", events(), slow).ratio(0, END))

    def test_what_is_missing_or_of_somebody_else(self):
        flow = Flow("audit", events(), [*delivered(events())[1:], (("events", 1, 7), 1)])
        self.assertEqual(({("events", 0, 0)}, {("events", 1, 7)}), (flow.missing, flow.strange))

    def test_repeats_are_told_of_the_last_act_before(self):
        place = ("events", 0, 8)
        for time, act in ((10, "no act"), (22, "kill")):
            flow = Flow("audit", events(), [*delivered(events()), (place, time * SECOND)])
            self.assertEqual({act: [("audit", place, time * SECOND, 2 * SECOND)]}, by_act([flow], [self.KILL]))


class Commits(unittest.TestCase):
    def test_how_far_commits_are_behind(self):
        samples = [(time * SECOND, {0: time}, {0: time - time % 4}) for time in range(9)]
        self.assertEqual([0, 1, 2, 3, 0, 1, 2, 3, 0], [seconds for _, seconds in behind(samples)])

    def test_one_partition_is_enough_to_be_behind(self):
        samples = [(time * SECOND, {0: time, 1: time}, {0: time, 1: 0}) for time in range(1, 4)]
        self.assertEqual([0, 1, 2], [seconds for _, seconds in behind(samples)])


class Orders(unittest.TestCase):
    def test_nobody_overtakes_in_order(self):
        self.assertEqual(0, overtaken("abc", {"a": SECOND, "b": 2 * SECOND, "c": 3 * SECOND}))

    def test_the_most_that_one_was_overtaken_by(self):
        self.assertEqual(7, overtaken("abc", {"a": 9 * SECOND, "b": 5 * SECOND, "c": 2 * SECOND}))

    def test_how_many_came_much_too_early(self):
        delivered = {"a": 9 * SECOND, "b": 5 * SECOND, "c": 2 * SECOND, "d": 9 * SECOND}
        self.assertEqual(2, overtakers("abcd", delivered, 3))
        self.assertEqual(1, overtakers("abcd", delivered, 5))
        self.assertEqual(0, overtakers("bc", {"c": SECOND}, 0))

    def test_one_that_was_not_delivered_overtakes_nobody(self):
        self.assertEqual(0, overtaken("abc", {"a": SECOND}))
