#!/usr/bin/python3
"""What the judge asks of random stories besides: each planted breach is reported by the rule that is meant for it."""
import unittest

import plants
from facts import Acknowledged, Fault, Life, Parked, Request
from judge import judge
from planted import PARTITIONS, World, ns

ORDERS = PARTITIONS[0]
ANEW = ("orders-anew", 0)


class Stories(unittest.TestCase):
    def setUp(self):
        self.facts = World().facts

    def reported_by(self, *rules):
        self.assertEqual(set(rules), set(judge(self.facts)[0]))

    def make_anew(self):
        """Ten records of the topic that was deleted, and ten of the new one, at the same offsets; all are done."""
        for offset in range(10):
            for number, begun in ((1000000 + offset, 10), (2000000 + offset, 20)):
                self.facts.other_requests.append(Request("b", ANEW, offset, "key-1", number, 1, ns(begun), ns(begun + 0.01), 204))
            self.facts.anew.append(Acknowledged(ANEW, offset, 2000000 + offset, ns(19)))

    def test_a_recreated_topic(self):
        self.make_anew()
        self.reported_by()

    def test_a_recreated_topic_that_is_read_from_an_old_offset(self):
        self.make_anew()
        self.facts.other_requests = [request for request in self.facts.other_requests if request.number < 2000000 or request.offset > 4]
        self.reported_by("new_topics_are_done")

    def test_a_dead_letter_of_a_new_topic(self):
        self.make_anew()
        self.facts.other_requests.pop()
        self.facts.letter_numbers["orders-anew-dlt", 0, 0] = 2000009
        self.reported_by()

    def park(self, offset=400):
        """The record waits for 5 s in a retry topic, and is done then."""
        request = next(one for one in self.facts.requests if (one.partition, one.offset) == (ORDERS, offset))
        self.facts.requests.remove(request)
        self.facts.other_requests.append(request._replace(begun=request.begun + ns(5), ended=request.ended + ns(5)))
        self.facts.passed_on[(*ORDERS, offset)] = request.number
        self.facts.parked[(*ORDERS, offset)] = Parked(request.number, request.begun)
        self.facts.ordered = False

    def change_parked(self, **fields):
        self.facts.other_requests[-1] = self.facts.other_requests[-1]._replace(**fields)

    def test_a_record_that_is_parked(self):
        self.park()
        self.reported_by()

    def test_a_record_that_is_parked_without_a_write(self):
        self.park()
        self.facts.passed_on.clear()
        self.facts.parked.clear()
        self.facts.other_requests.clear()
        self.reported_by("nothing_lost", "nothing_committed_early")

    def test_a_record_that_is_parked_for_ever(self):
        self.park()
        self.change_parked(status=503)
        self.reported_by("parked_is_done_once")

    def test_a_record_that_is_parked_and_done_twice(self):
        self.park()
        again = self.facts.other_requests[-1]
        self.facts.other_requests.append(again._replace(begun=again.begun + ns(1), ended=again.ended + ns(1)))
        self.reported_by("parked_is_done_once")

    def test_a_record_that_is_done_again_because_its_member_was_killed(self):
        self.park()
        again = self.facts.other_requests[-1]
        self.facts.other_requests.append(again._replace(begun=again.begun + ns(1), ended=again.ended + ns(1)))
        self.facts.lives["d"] = Life(ns(0), killed=again.ended + ns(0.5))
        self.reported_by()

    def test_a_record_that_is_done_again_because_its_answer_came_too_late(self):
        self.park()
        again = self.facts.other_requests[-1]
        self.facts.other_requests.append(again._replace(begun=again.begun + ns(1), ended=again.ended + ns(1), attempt=2))
        self.reported_by()

    def test_attempts_that_are_used_up_while_a_record_is_parked(self):
        self.park()
        self.change_parked(attempt=2)
        self.reported_by("parked_keeps_its_attempts")
        self.facts.other_requests.insert(0, self.facts.other_requests[-1]._replace(attempt=1, status=503, ended=ns(39)))
        self.reported_by()

    def test_a_record_that_is_parked_although_records_keep_an_order(self):
        self.park()
        self.facts.ordered = True
        self.reported_by("nothing_is_parked_in_order")

    def test_each_plant_for_a_real_run_that_parked_is_seen(self):
        self.park(500)
        self.assertTrue(all(plant(plants.copied(self.facts)) for plant in plants.PARKED_PLANTS))
        self.assertEqual([], plants.unseen(self.facts, plants.PARKED_PLANTS))

    def test_plants_that_have_no_place_in_a_real_run_are_left_out(self):
        self.park(500)
        again = self.facts.other_requests[-1]
        self.facts.lives["d"] = Life(ns(0), killed=again.ended + ns(0.5))
        self.facts.faults.append(Fault("refuse", "", ns(1), ns(2)))
        self.assertEqual([plants.forget_a_parked_record, plants.park_in_order],
                         [plant for plant in plants.PARKED_PLANTS if plant(plants.copied(self.facts))])
        self.assertEqual([], plants.unseen(self.facts, plants.PARKED_PLANTS))

    def test_a_member_that_ends_without_the_right_to_begin(self):
        self.facts.lives["d"] = Life(ns(29), exited=ns(30), code=69)
        self.reported_by("members_live")
        self.facts.faults.append(Fault("take rights", "group", ns(28), ns(31)))
        self.reported_by()

    def test_a_member_that_ends_when_its_right_to_the_group_is_taken_away(self):
        self.facts.lives["d"] = Life(ns(10), exited=ns(30), code=69)
        self.facts.faults.append(Fault("take rights", "group orders read", ns(28), ns(29)))
        self.reported_by("members_live")  # under classic it goes on trying
        self.facts.generations[-1] = self.facts.generations[-1]._replace(protocol="consumer")
        self.reported_by()
        self.facts.faults[-1] = Fault("take rights", "topic orders read", ns(28), ns(29))
        self.reported_by("members_live")

    def test_a_hand_over_whose_commit_may_have_been_refused(self):
        first = next(request for request in self.facts.requests if (request.partition, request.offset) == (PARTITIONS[1], 190))
        self.facts.requests.append(first._replace(member="c", begun=ns(20.02), ended=ns(20.03)))
        self.reported_by("committed_is_left_alone", "duplicates_are_explained")
        self.facts.faults.append(Fault("take rights", "topic", ns(18), ns(20.1)))
        self.reported_by("committed_is_left_alone")

    def test_a_hand_over_that_a_client_did_not_wait_for(self):
        first = next(request for request in self.facts.requests if (request.partition, request.offset) == (PARTITIONS[1], 190))
        self.facts.requests.append(first._replace(member="c", begun=ns(20.02), ended=ns(20.03)))
        self.facts.faults.append(Fault("add partitions", "", ns(10), ns(15.5)))
        self.reported_by("committed_is_left_alone", "duplicates_are_explained")
        self.facts.faults[-1] = Fault("add partitions", "", ns(18), ns(19))
        self.reported_by("committed_is_left_alone")

    def test_a_member_that_abandons_records_its_client_did_not_wait_for(self):
        self.facts.lives["d"] = Life(ns(20), terminated=ns(61), exited=ns(62), code=75)
        self.reported_by("members_live")
        self.facts.faults.append(Fault("add partitions", "", ns(57), ns(58)))
        self.reported_by()

    def lose(self, offset):
        self.facts.requests = [request for request in self.facts.requests
                               if (request.partition, request.offset) != (PARTITIONS[1], offset)]

    def test_a_record_whose_batch_cannot_be_read(self):
        self.lose(300)
        self.reported_by("nothing_lost", "nothing_committed_early")
        self.facts.corrupt.add((*PARTITIONS[1], 300))
        self.reported_by()

    def test_more_than_the_batch_that_cannot_be_read_is_passed_over(self):
        self.lose(300)
        self.lose(301)
        self.facts.corrupt.add((*PARTITIONS[1], 300))
        self.reported_by("nothing_lost", "nothing_committed_early")

    def delete(self, end):
        """Retention deletes the first records, of which record 7 was not done."""
        self.facts.requests = [request for request in self.facts.requests
                               if (request.partition, request.offset) != (ORDERS, 7)]
        self.facts.log[ORDERS] -= set(range(end))
        gone = [record for record in self.facts.acknowledged if record.partition == ORDERS and record.offset < end]
        self.facts.deleted = gone
        self.facts.acknowledged = [record for record in self.facts.acknowledged if record not in gone]

    def test_records_that_retention_took_before_they_were_done(self):
        self.delete(20)
        self.reported_by("what_retention_took_is_told")
        self.facts.gaps[ORDERS] = [(0, 7), (8, 20)]
        self.reported_by("what_retention_took_is_told")
        self.facts.gaps[ORDERS] = [(5, 8)]
        self.reported_by()


if __name__ == "__main__":
    unittest.main()
