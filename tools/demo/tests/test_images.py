"""The bound of the image pipeline's front, with the timelines of the source documents; and the pinned S3 server."""
import tempfile
import unittest
import zipfile
from pathlib import Path

from tools.demo.images import moto
from tools.demo.images.admission import Admission, Answer
from tools.failure import Failure


class Front:
    """An Admission whose images are acknowledged at once, in one partition."""

    def __init__(self, capacity=200):
        self.admission, self.end, self.done = Admission(capacity), 0, 0

    def arrive(self, count):
        answers = [self.admission.ask() for _ in range(count)]
        for _ in range(answers.count(Answer.ACCEPTED)):
            self.admission.sent(0, self.end)
            self.end += 1
        return answers

    def finish(self, count, now):
        self.done += count
        self.admission.look({0: self.done}, now)


class Bound(unittest.TestCase):
    def test_a_burst_of_50_a_second_on_20_a_second_is_refused_in_the_seventh_second(self):
        front, depths = Front(), []
        for second in range(1, 7):
            self.assertEqual({Answer.ACCEPTED}, set(front.arrive(50)))
            front.finish(20, second)
            depths.append(front.admission.depth())
        self.assertEqual([30, 60, 90, 120, 150, 180], depths)
        answers = front.arrive(50)
        self.assertEqual((20, 30), (answers.count(Answer.ACCEPTED), answers.count(Answer.FULL)))
        self.assertEqual(200, front.admission.depth())

    def test_a_hundred_at_once_are_accepted_and_done_after_two_seconds_of_four_workers_with_80_ms(self):
        front, now = Front(), 0.0
        self.assertEqual({Answer.ACCEPTED}, set(front.arrive(100)))
        while front.admission.depth():
            now += 0.080
            front.finish(4, now)
        self.assertAlmostEqual(2.0, now)

    def test_an_image_that_kafka_has_not_acknowledged_takes_a_place(self):
        admission = Admission(1)
        self.assertEqual([Answer.ACCEPTED, Answer.FULL], [admission.ask(), admission.ask()])
        admission.failed()
        self.assertEqual(Answer.ACCEPTED, admission.ask())

    def test_a_front_that_starts_again_counts_the_backlog(self):
        admission = Admission(10)
        admission.look({0: 5, 1: 0}, 0.0, {0: 9, 1: 6})
        self.assertEqual((10, Answer.FULL), (admission.depth(), admission.ask()))

    def test_a_stopping_front_reports_the_stop_even_if_it_is_full(self):
        admission = Admission(0)
        admission.stopping = True
        self.assertEqual(Answer.STOPPING, admission.ask())

    def test_clients_are_asked_to_come_when_a_quarter_of_the_places_will_be_free(self):
        front = Front()
        self.assertEqual(1, front.admission.retry_after())  # nothing is known yet
        front.arrive(200)
        front.finish(0, 0.0)
        front.finish(40, 2.0)
        self.assertEqual(3, front.admission.retry_after())  # 50 places at 20/s
        for now in range(3, 20):
            front.finish(0, now)
        self.assertEqual(10, front.admission.retry_after())  # nothing is finished


class Wheel(unittest.TestCase):
    def test_a_wheel_that_is_not_pinned_is_refused(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with zipfile.ZipFile(folder / "moto.whl", "w") as wheel:
                wheel.writestr("moto/__init__.py", "")
            with self.assertRaisesRegex(Failure, "not the one that is pinned"):
                moto.unpack(folder / "moto.whl", folder)
            self.assertFalse((folder / "moto").exists())


if __name__ == "__main__":
    unittest.main()
