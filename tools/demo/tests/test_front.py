"""The images that the image pipeline's front has under way, with a Kafka that acknowledges when the test says so."""
import importlib
import sys
import threading
import types
import unittest
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

WITHIN = 30  # s


class Place(types.SimpleNamespace):
    def __init__(self, topic, partition, offset=0):
        super().__init__(topic=topic, partition=partition, offset=offset)


class Kafka:
    """As much of confluent_kafka as the front uses, with one partition."""
    TopicPartition, KafkaException = Place, type("KafkaException", (Exception,), {})

    def __init__(self):
        self.changed, self.produced = threading.Condition(), []  # callbacks

    def Producer(self, _):
        return types.SimpleNamespace(produce=self.produce, poll=lambda within: None, flush=lambda within: None)

    def Consumer(self, _):
        topic = types.SimpleNamespace(error=None, partitions=[0])
        return types.SimpleNamespace(committed=lambda places, timeout: places, get_watermark_offsets=lambda place, timeout: (0, 0),
                                     list_topics=lambda name, timeout: types.SimpleNamespace(topics={name: topic}), close=lambda: None)

    def produce(self, *_, key, on_delivery):
        with self.changed:
            self.produced.append(on_delivery)
            self.changed.notify_all()

    def wait_for(self, count):
        with self.changed:
            return self.changed.wait_for(lambda: len(self.produced) == count, WITHIN)

    def acknowledge(self, index):
        self.produced[index](None, types.SimpleNamespace(partition=lambda: 0, offset=lambda: index))


class UnderWay(unittest.TestCase):
    def setUp(self):
        self.kafka = Kafka()
        with mock.patch.dict(sys.modules, {"confluent_kafka": self.kafka}):
            front = importlib.import_module("tools.demo.images.front")
        self.pipeline = front.Pipeline(types.SimpleNamespace(topic="images", group="g", bootstrap="", capacity=10, acknowledged_within=WITHIN,
                                                             acks=None))
        self.addCleanup(self.pipeline.close)
        self.threads = ThreadPoolExecutor()
        self.addCleanup(self.threads.shutdown)

    def accept(self, *names):
        answers = [self.threads.submit(self.pipeline.accept, name, "http://a") for name in names]
        self.assertTrue(self.kafka.wait_for(len(names)))
        return answers

    def test_an_image_is_accepted_when_kafka_has_it(self):
        answer, = self.accept("a")
        self.assertFalse(answer.done())
        self.kafka.acknowledge(0)
        self.assertEqual((202, None), answer.result(WITHIN))
        self.assertEqual([], self.pipeline.drain(0))

    def test_two_images_with_the_same_id_are_two(self):
        answers = self.accept("a", "a")
        self.kafka.acknowledge(0)
        self.assertEqual(["a"], self.pipeline.drain(0))
        self.assertEqual([202, 503], sorted(answer.result(WITHIN)[0] for answer in answers))

    def test_the_client_of_an_image_that_is_abandoned_gets_a_503(self):
        answers = self.accept("b", "a")
        self.assertEqual(["a", "b"], self.pipeline.drain(0))
        self.assertEqual([(503, 1), (503, 1)], [answer.result(WITHIN) for answer in answers])
        self.kafka.acknowledge(1)  # too late
        self.assertEqual([503, 2], [answers[0].result()[0], self.pipeline.state()["answers"][503]])


if __name__ == "__main__":
    unittest.main()
