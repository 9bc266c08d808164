#!/usr/bin/python3
"""Plans are the same for the same seed, overlap, and bring every kind of fault within ten seeds."""
import unittest

import plan


class Plans(unittest.TestCase):
    def test_a_seed_is_a_plan(self):
        self.assertEqual(plan.plan(7), plan.plan(7))
        self.assertNotEqual(plan.plan(7), plan.plan(8))

    def test_ten_seeds_have_all(self):
        kinds = {step.kind for seed in range(1, 11) for step in plan.plan(seed)}
        self.assertEqual({*plan.BROKERS, *plan.OF_MEMBERS, *plan.DOWNSTREAM, "move leaders", "add partitions", "retention"}, kinds)

    def test_each_seed_has_a_fault_on_every_track(self):
        for seed in range(1, 101):
            steps = plan.plan(seed)
            self.assertEqual(set(plan.TRACKS), {step.track for step in steps})
            self.assertLessEqual(max(step.at for step in steps), plan.WINDOW)


if __name__ == "__main__":
    unittest.main()
