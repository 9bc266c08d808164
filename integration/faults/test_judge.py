#!/usr/bin/python3
"""The judge passes a right run, and reports each planted breach by the rule that is meant for it."""
import unittest
from dataclasses import replace

import plants
from facts import Commit, Fault, Fencing
from judge import judge
from planted import PARTITIONS, RECORDS, SLOW, World, ns

ORDERS = PARTITIONS[0]


def breaches(facts):
    return judge(facts)[0]


class PlantsForRealRuns(unittest.TestCase):
    def test_each_is_seen(self):
        for protocol in ("range", "consumer"):
            self.assertEqual([], plants.unseen(World(protocol).facts), protocol)


class Planted:
    """Under either protocol."""

    def setUp(self):
        self.facts = World(self.PROTOCOL).facts

    def reported_by(self, *rules):
        self.assertEqual(set(rules), set(breaches(self.facts)))

    def of(self, offset, partition=ORDERS):
        """The places of the requests for a record."""
        return [place for place, request in enumerate(self.facts.requests)
                if (request.partition, request.offset) == (partition, offset)]

    def change(self, place, **fields):
        self.facts.requests[place] = self.facts.requests[place]._replace(**fields)

    def commit_at(self, seconds, partition=ORDERS):
        """The place of the first commit of a partition after this time."""
        return next(place for place, commit in enumerate(self.facts.commits)
                    if commit.partition == partition and commit.time >= seconds * 1000)

    def change_commit(self, place, **fields):
        self.facts.commits[place] = self.facts.commits[place]._replace(**fields)

    def test_a_correct_run_has_no_breach(self):
        found, counts = judge(self.facts)
        self.assertEqual({}, found)
        self.assertGreater(counts["maps"], 0)
        self.assertEqual({"killed", "stopped", "handled by a member that did not know of its loss"},
                         set(counts["done again, by reason"]))

    def test_a_record_that_was_never_done(self):
        del self.facts.requests[self.of(300, PARTITIONS[1])[0]]
        self.reported_by("nothing_lost", "nothing_committed_early")

    def test_a_record_that_kafka_lost(self):
        self.facts.log[ORDERS].remove(7)
        self.reported_by("nothing_lost")

    def test_another_record_at_an_offset(self):
        self.change(self.of(7)[0], number=8)
        self.reported_by("same_records")

    def test_a_watermark_before_the_record_was_done(self):
        place = self.commit_at(50)
        self.change_commit(place, offset=self.facts.commits[place].offset + 5)
        self.reported_by("nothing_committed_early", "committed_is_left_alone")

    def test_a_map_before_the_record_was_done(self):
        place = self.commit_at(50)
        watermark = self.facts.commits[place].offset
        self.change_commit(place, runs=((watermark + 3, watermark + 4),))
        self.reported_by("nothing_committed_early", "committed_is_left_alone")

    def test_a_commit_of_a_dead_letter(self):
        (first,) = self.of(400)
        self.change(first, status=400)
        self.facts.letters.append((*ORDERS, 400))
        self.reported_by("no_dead_letters", "keys_in_order")

    def give_up(self, offset=400, poison=True):
        """Record 400 never works, and is a dead letter."""
        (first,) = self.of(offset)
        self.change(first, status=500)
        self.facts.letters.append((*ORDERS, offset))
        self.facts.letter_numbers[(*ORDERS, offset)] = offset
        if poison:
            self.facts.poison.add(offset)
        self.facts.acknowledged = [record for record in self.facts.acknowledged
                                   if record.partition == ORDERS or record.number != offset]

    def test_poison_that_is_a_dead_letter(self):
        self.give_up()
        self.reported_by()

    def test_poison_without_a_dead_letter(self):
        self.give_up()
        self.facts.letter_numbers.clear()
        self.reported_by("no_dead_letters", "poison_is_given_up")

    def test_many_dead_letters_beside_poison(self):
        self.give_up()
        self.facts.letters_allowed = 25
        self.facts.letters += [(*ORDERS, offset) for offset in range(100, 125)]
        self.reported_by()
        self.facts.letters.append((*ORDERS, 125))
        self.reported_by("no_dead_letters")

    def test_a_record_that_is_done_in_its_retry_topic(self):
        (first,) = self.of(400)
        self.change(first, partition=("orders-retry-1s", 0))
        self.facts.passed_on[(*ORDERS, 400)] = 400
        self.facts.ordered = False
        self.reported_by()

    def test_a_record_that_is_never_done_in_its_retry_topic(self):
        for partition in PARTITIONS:
            for place in sorted(self.of(400, partition), reverse=True):
                del self.facts.requests[place]
            self.facts.passed_on[(*partition, 400)] = 400
        self.facts.ordered = False
        self.reported_by("what_is_passed_on_is_finished")

    def test_a_commit_that_goes_back(self):
        place = self.commit_at(50)
        commit = self.facts.commits[place]
        self.facts.commits.insert(place + 1, Commit(commit.position + 0.5, commit.time, ORDERS, 7, ()))
        self.reported_by("offsets_go_forward")

    def test_a_commit_that_goes_back_because_its_owner_was_fenced(self):
        place = self.commit_at(36)
        self.change_commit(place, offset=self.facts.commits[place].offset - 20)
        found = breaches(self.facts)
        self.assertNotIn("offsets_go_forward", found)

    def test_a_reset(self):
        """The owner starts over: it handles again what it has committed, and commits offsets that are far below."""
        for offset in range(440, 460):
            first = self.facts.requests[self.of(offset)[0]]
            begun = 50 + (offset - 440) / 100
            self.facts.requests.append(first._replace(member="b", begun=ns(begun), ended=ns(begun + 0.005)))
        place = self.commit_at(51)
        self.change_commit(place, offset=460)
        self.reported_by("offsets_go_forward", "committed_is_left_alone", "duplicates_are_explained", "keys_in_order")

    def test_a_duplicate_without_a_reason(self):
        (first,) = self.of(500)
        again = self.facts.requests[first]
        self.facts.requests.append(again._replace(begun=again.ended + 1000, ended=again.ended + 2000))
        self.reported_by("duplicates_are_explained")

    def test_a_duplicate_after_an_orderly_hand_over(self):
        """Done before the hand-over at 20 s, which was not committed, and again after it."""
        first = self.facts.requests[self.of(190, PARTITIONS[1])[0]]
        self.facts.requests.append(first._replace(member="c", begun=ns(20.02), ended=ns(20.03)))
        self.reported_by("committed_is_left_alone", "duplicates_are_explained")

    def test_records_committed_before_a_kill_are_not_done_again(self):
        first = self.facts.requests[self.of(20)[0]]
        self.facts.requests.append(first._replace(member="b", begun=ns(16.02), ended=ns(16.025)))
        self.assertIn("committed_is_left_alone", breaches(self.facts))

    def test_records_of_a_map_before_a_kill_are_not_done_again(self):
        commit = next(commit for commit in self.facts.commits if commit.partition == ORDERS and commit.runs)
        offset = commit.runs[0][0]
        first = self.facts.requests[self.of(offset)[0]]
        self.facts.requests.append(first._replace(begun=ns(commit.time / 1000 + 0.002), ended=ns(commit.time / 1000 + 0.003)))
        self.assertIn("committed_is_left_alone", breaches(self.facts))

    def taken_again(self):
        """Nothing of the orders is done from 50 s to 53 s, and then what was done just before, once more."""
        for place, request in enumerate(self.facts.requests):
            if request.partition == ORDERS and request.begun > ns(50):
                self.change(place, begun=request.begun + ns(3), ended=request.ended + ns(3))
        self.facts.commits = [commit for commit in self.facts.commits
                              if commit.partition != ORDERS or not 49500 < commit.time < 54000]
        self.facts.commits = [commit._replace(time=commit.time + 3000) if commit.partition == ORDERS and commit.time > 49500
                              else commit for commit in self.facts.commits]
        last = self.facts.requests[self.of(499)[0]]
        self.facts.requests.append(last._replace(begun=ns(53), ended=ns(53.001)))

    def test_two_owners(self):
        """The member that gave the partition away without having been stopped goes on with it."""
        first = self.facts.requests[self.of(200, PARTITIONS[1])[0]]
        self.facts.requests.append(first._replace(member="b", offset=201, key="key-0", number=201, begun=ns(21), ended=ns(21.01)))
        self.reported_by("one_owner", "duplicates_are_explained")

    def test_two_records_of_a_key_at_once(self):
        first, second = self.of(503)[0], self.of(500)[0]
        self.change(first, begun=self.facts.requests[second].ended - 1000)
        self.reported_by("keys_in_order")

    def test_a_record_that_overtakes_one_of_its_key(self):
        first, second = self.of(503)[0], self.of(500)[0]
        early, late = self.facts.requests[second], self.facts.requests[first]
        self.change(first, begun=early.begun, ended=early.ended)
        self.change(second, begun=late.begun, ended=late.ended)
        self.assertIn("keys_in_order", breaches(self.facts))

    def test_a_record_that_does_not_wait_for_a_refused_one(self):
        (first,) = self.of(500)
        refused = self.facts.requests[first]
        self.change(first, begun=refused.begun + ns(0.4), ended=refused.ended + ns(0.4), attempt=2)
        self.facts.requests.append(refused._replace(status=503))
        self.assertEqual({"keys_in_order"}, set(breaches(self.facts)))

    def test_a_dead_letter(self):
        self.facts.letters.append((*ORDERS, SLOW))
        self.reported_by("no_dead_letters")

    def test_a_partition_that_rests(self):
        for place, request in enumerate(self.facts.requests):
            if request.partition == ORDERS and request.begun > ns(43):
                self.change(place, begun=request.begun + ns(17), ended=request.ended + ns(17))
        self.facts.finished += ns(17)
        self.assertIn("progress", breaches(self.facts))

    def test_a_record_that_waits(self):
        place = self.of(430)[0]
        self.change(place, begun=ns(75), ended=ns(75.01))
        self.assertIn("progress", breaches(self.facts))

    def test_a_log_that_is_not_committed_to_its_end(self):
        for place, commit in enumerate(self.facts.commits):
            if commit.partition == ORDERS and commit.offset == RECORDS:
                self.change_commit(place, offset=RECORDS - 1)
        self.reported_by("progress")

    def test_a_member_that_ends_by_itself(self):
        self.facts.lives["c"] = replace(self.facts.lives["c"], exited=ns(50), code=70)
        self.reported_by("members_live")

    def test_a_member_that_does_not_stop_clean(self):
        self.facts.lives["c"] = replace(self.facts.lives["c"], terminated=ns(61), exited=ns(80), code=75)
        self.reported_by("members_live")

    def test_a_member_that_was_stopped_before_may_abandon_its_work(self):
        self.facts.lives["b"] = replace(self.facts.lives["b"], terminated=ns(40.1), exited=ns(40.2), code=75)
        self.assertNotIn("members_live", breaches(self.facts))

    def leave_out(self):
        """A record that was done long before the last commit of a member that is killed, which does not have it."""
        for place, commit in enumerate(self.facts.commits):
            if commit.partition == ORDERS and 7000 < commit.time < 12000:
                self.change_commit(place, offset=SLOW + 10, runs=())
        (first,) = self.of(SLOW + 10)
        self.facts.requests.append(self.facts.requests[first]._replace(member="b", begun=ns(17), ended=ns(17.005)))

    def test_a_record_that_the_commits_leave_out(self):
        self.leave_out()
        self.assertIn("duplicates_are_explained", breaches(self.facts))

    def test_a_record_that_the_commits_leave_out_after_its_member_was_thrown_out(self):
        """The member commits what it has done since it came again."""
        self.leave_out()
        self.facts.fencings.append(Fencing("a", ns(8.5)))
        self.assertNotIn("duplicates_are_explained", breaches(self.facts))

    def test_a_member_that_does_not_commit(self):
        """What it did of one partition is done again after its death, although it did commit another one."""
        other = PARTITIONS[1]
        self.facts.generations = [generation._replace(owners={ORDERS: "a1", other: "a1"}) if "a1" in generation.members
                                  else generation for generation in self.facts.generations]
        self.facts.requests = [request._replace(member="a") if request.partition == other and request.ended < ns(15.9)
                               else request for request in self.facts.requests]
        self.facts.commits = [commit for commit in self.facts.commits
                              if commit.partition != ORDERS or not 4000 < commit.time < 17000]
        (first,) = self.of(50)
        self.facts.requests.append(self.facts.requests[first]._replace(member="b", begun=ns(17), ended=ns(17.005)))
        self.assertIn("duplicates_are_explained", breaches(self.facts))

    def test_a_kill_after_an_orderly_hand_over_explains_nothing(self):
        self.facts.lives["b"].killed = ns(21)
        first = self.facts.requests[self.of(190, PARTITIONS[1])[0]]
        self.facts.requests.append(first._replace(member="c", begun=ns(22), ended=ns(22.01)))
        self.assertIn("duplicates_are_explained", breaches(self.facts))

    def test_no_evidence(self):
        self.facts.commits.clear()
        self.assertIn("evidence_is_there", breaches(self.facts))


class UnderClassic(Planted, unittest.TestCase):
    PROTOCOL = "range"

    def test_records_taken_again_in_an_outage(self):
        self.taken_again()
        self.facts.faults.append(Fault("kill coordinator", "2", ns(49.8), ns(51)))
        self.assertEqual({}, breaches(self.facts))

    def test_records_taken_again_without_an_outage(self):
        self.taken_again()
        self.reported_by("duplicates_are_explained")

    def lose_at_20(self, claims, moves):
        """When c comes, b joins without the partition that goes to c: it was at work on one record, and had not committed the
        last one that it did. `claims`: what b says that it has; `moves`: the coordinator."""
        other = PARTITIONS[1]
        self.facts.generations[2] = self.facts.generations[2]._replace(protocol="cooperative-sticky", claims={"b1": claims})
        self.facts.faults[0] = Fault("kill broker", "2", ns(0.1), ns(0.5))  # too long ago to be a reason
        if moves:
            self.facts.faults.append(Fault("move leaders", "", ns(19), ns(19.1)))
        for place, commit in enumerate(self.facts.commits):
            if commit.partition == other and 19000 < commit.time < 20000:
                self.change_commit(place, offset=commit.offset - 1, runs=())
        first = self.facts.requests[self.of(194, other)[0]]
        self.facts.requests += [first._replace(member="c", begun=ns(20.005), ended=ns(20.006)),
                                first._replace(member="b", begun=ns(19.9), ended=ns(20.1), key="key-x")]

    def test_a_loss_without_another_identity(self):
        self.lose_at_20(claims={ORDERS}, moves=True)
        found, counts = judge(self.facts)
        self.assertEqual({}, found)
        self.assertIn("lost", counts["done again, by reason"])

    def test_a_loss_for_which_the_coordinator_gave_no_reason(self):
        self.lose_at_20(claims={ORDERS}, moves=False)
        self.reported_by("duplicates_are_explained", "one_owner")

    def test_a_member_has_not_lost_the_partitions_that_it_claims(self):
        self.lose_at_20(claims=set(PARTITIONS), moves=True)
        self.reported_by("duplicates_are_explained", "one_owner")

    def test_a_member_begins_nothing_of_a_lost_partition(self):
        self.lose_at_20(claims={ORDERS}, moves=True)
        self.change(-1, begun=ns(20.05))
        self.assertIn("one_owner", breaches(self.facts))


class UnderConsumer(Planted, unittest.TestCase):
    PROTOCOL = "consumer"

    def test_records_taken_again_in_an_outage(self):
        """An outage is no reason where the brokers have noted no return."""
        self.taken_again()
        self.facts.faults.append(Fault("kill coordinator", "2", ns(49.8), ns(51)))
        self.reported_by("duplicates_are_explained")

    def test_a_member_that_is_thrown_out_by_a_replaced_coordinator(self):
        """Its record of that is lost, so that only the broker's log has it; the member starts over with what it did before."""
        self.taken_again()
        self.facts.fencings.append(Fencing("b", ns(50)))
        self.assertEqual({}, breaches(self.facts))

    def test_a_member_that_works_before_learning_that_it_was_thrown_out(self):
        self.taken_again()
        self.facts.fencings.append(Fencing("b", ns(49.5)))
        self.assertEqual({}, breaches(self.facts))

    def test_another_member_that_is_thrown_out(self):
        self.taken_again()
        self.facts.fencings.append(Fencing("c", ns(50)))
        self.reported_by("duplicates_are_explained")

    def test_a_member_that_was_thrown_out_long_before(self):
        self.taken_again()
        self.facts.fencings.append(Fencing("b", ns(42.5)))
        self.reported_by("duplicates_are_explained")

    def test_a_member_that_is_thrown_out_with_nothing_to_repeat_keeps_the_order(self):
        self.overtake()
        self.facts.fencings.append(Fencing("b", ns(24.9)))
        self.assertIn("keys_in_order", breaches(self.facts))

    def overtake(self):
        """Records 248 and 251 of a key change places, about the time when the owners go on to another epoch."""
        early, late = (self.facts.requests[self.of(offset)[0]] for offset in (248, 251))
        self.assertTrue(early.ended < ns(25) < late.begun)
        self.change(self.of(248)[0], begun=late.begun, ended=late.ended)
        self.change(self.of(251)[0], begun=early.begun, ended=early.ended)

    def test_an_owner_that_goes_on_to_another_epoch_keeps_the_order(self):
        self.overtake()
        self.assertIn("keys_in_order", breaches(self.facts))

    def test_an_owner_that_gave_the_partition_back_starts_over(self):
        self.overtake()
        (place,) = [place for place, generation in enumerate(self.facts.generations) if generation.time == 25000]
        generation = self.facts.generations[place]
        gone = generation._replace(position=generation.position - 0.5, owners={PARTITIONS[1]: "c1"})
        self.facts.generations.insert(place, gone)
        self.assertNotIn("keys_in_order", breaches(self.facts))

    def return_at_53(self):
        """At 53 s, b handles what it had taken before the brokers gave its partition to nobody; then they give it to b, who handles
        that record again."""
        self.taken_again()
        self.facts.requests.pop()
        place = next(place for place, generation in enumerate(self.facts.generations) if generation.time == 42000)
        has = self.facts.generations[place]
        for time, generation in ((52000, has._replace(members={"c1": "c"}, owners={PARTITIONS[1]: "c1"})), (53002, has)):
            position = next(commit.position for commit in self.facts.commits if commit.time >= time) - 0.5
            self.facts.generations.append(generation._replace(position=position, time=time))
        (first,) = self.of(500)
        self.change(first, begun=ns(53), ended=ns(53.003))
        self.facts.requests.append(self.facts.requests[first]._replace(begun=ns(53.004), ended=ns(53.005)))

    def test_a_member_that_goes_on_after_a_stop_until_the_next_assignment(self):
        self.return_at_53()
        self.facts.lives["b"].stops.append((ns(50), ns(52.9)))
        self.assertEqual({}, breaches(self.facts))

    def test_a_member_that_goes_on_after_a_stop_keeps_the_order(self):
        self.return_at_53()
        self.facts.lives["b"].stops.append((ns(50), ns(52.9)))
        self.facts.requests.append(self.facts.requests[self.of(494)[0]]._replace(begun=ns(52.95), ended=ns(52.96)))
        self.reported_by("keys_in_order")

    def test_a_member_that_has_given_a_partition_back_and_goes_on(self):
        self.return_at_53()
        self.facts.generations = [generation._replace(members={"b1": "b", "c1": "c"}) if generation.time > 50000 else generation
                                  for generation in self.facts.generations]
        self.reported_by("duplicates_are_explained")


if __name__ == "__main__":
    unittest.main()
