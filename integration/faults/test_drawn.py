#!/usr/bin/python3
"""Stories are the same for the same seed, valid, and bring every kind of fault and of configuration within a hundred seeds."""
import unittest

import drawn

STORIES = [drawn.draw(seed) for seed in range(1, 101)]


class Stories(unittest.TestCase):
    def test_a_seed_is_a_story(self):
        self.assertEqual(drawn.draw(7), drawn.draw(7))
        self.assertNotEqual(drawn.draw(7), drawn.draw(8))

    def test_a_hundred_seeds_have_all_faults(self):
        self.assertEqual(set(drawn.KINDS), {fault.kind for story in STORIES for fault in story.faults})

    def test_ten_seeds_have_all_faults(self):
        self.assertEqual(set(drawn.KINDS), {fault.kind for seed in drawn.FEW for fault in drawn.draw(seed).faults})

    def test_ten_seeds_have_both_protocols_and_handlers(self):
        stories = [drawn.draw(seed) for seed in drawn.FEW]
        self.assertEqual({"classic", "consumer"}, {story.protocol for story in stories})
        self.assertEqual({"http", "exec", "plugin"}, {story.handler for story in stories})

    def test_a_hundred_seeds_have_poison_with_retry_topics_and_each_order(self):
        self.assertTrue(any(story.poison and story.retry_topics for story in STORIES))
        self.assertEqual({"none", "key", "partition"}, {story.order for story in STORIES})

    def test_a_hundred_seeds_have_both_sides_of_each_part(self):
        for name in ("static_ids", "pattern", "batch", "pools", "each", "park_after", "parks", "retry_topics", "burst", "poison", "rejects", "order", "compression",
                     "drain_queued", "protocol", "handler"):
            self.assertGreater(len({getattr(story, name) for story in STORIES}), 1, name)

    def test_each_story_has_faults_in_its_window(self):
        for story in STORIES:
            self.assertTrue(story.faults)
            self.assertLessEqual(max(fault.at for fault in story.faults), drawn.WINDOW)

    def test_retry_topics_are_without_an_order(self):
        self.assertTrue(all(story.order == "none" for story in STORIES if story.retry_topics))

    def test_what_is_parked_has_no_order(self):
        self.assertTrue(all(story.order == "none" for story in STORIES if story.parks))
        self.assertTrue(any(story.parks and story.has("one out") for story in STORIES))

    def test_a_smaller_story_has_a_part_less(self):
        for story in STORIES:
            for smaller in story.smaller():
                self.assertNotEqual(story, smaller)
                self.assertLessEqual(len(smaller.faults), len(story.faults))
                self.assertNotEqual(story.text(), smaller.text())


if __name__ == "__main__":
    unittest.main()
