"""The HTTP front of the image pipeline: POST /images with {"id": "…", "source": "http://…"}.

202: the image's record is in Kafka, acknowledged by all in-sync replicas, and will be worked on whatever happens to this process.
429 with Retry-After: as many images as may be are unfinished. 503 with Retry-After: this front stops, or Kafka does not answer.
400, 408, 411, 413: the request is wrong (intake.py). GET /state has the figures.

On SIGTERM it answers 503 to new images, waits for those that are under way, and for as long as --linger, so that a load balancer
sees the 503. What is not acknowledged after --drain is answered with 503 and logged by its id: nobody knows whether Kafka has it.
Exit code 0, or 75 if there was any such image.

Threads: one for each connection, one that serves the client library, and one that asks Kafka for the offsets. A request waits for
Kafka's acknowledgement and for nothing else. It needs the Debian package python3-confluent-kafka.
"""
import argparse
import contextlib
import json
import logging
import signal
import threading
import time

import confluent_kafka

from .admission import Admission, Answer
from .intake import Requests, Server

LOOK_EVERY = 0.1  # s
ASK_WITHIN = 5.0  # s for an answer of Kafka
ANSWER_WITHIN = 2.0  # s for the last answers of a front that stops
RETRY_LATER = 1  # s, with a 503
log = logging.getLogger("front")


class UnderWay:
    """An image whose record Kafka has not acknowledged. Two of them can have the same id."""

    def __init__(self, name):
        self.name, self.known, self.acknowledged = name, threading.Event(), False

    def end(self, acknowledged):
        if not self.known.is_set():
            self.acknowledged = acknowledged
        self.known.set()


class Pipeline:
    """The topic, and the bound. Any thread."""

    def __init__(self, options):
        self.topic, self.lock = options.topic, threading.Lock()
        self.admission = Admission(options.capacity)
        self.counts = {answer.value: 0 for answer in Answer}
        self.waiting = set()  # of UnderWay
        self.producer = confluent_kafka.Producer({
            "bootstrap.servers": options.bootstrap, "acks": "all", "enable.idempotence": True, "linger.ms": 2,
            "message.timeout.ms": int(options.acknowledged_within * 1000)})
        self.reader = confluent_kafka.Consumer({"bootstrap.servers": options.bootstrap, "group.id": options.group,
                                                "enable.auto.commit": False})
        self.within = options.acknowledged_within
        self.acks = open(options.acks, "a", encoding="utf-8", buffering=1) if options.acks else None
        self.ended = threading.Event()
        self.look(with_backlog=True)
        self.threads = [threading.Thread(target=self.serve), threading.Thread(target=self.watch)]
        for thread in self.threads:
            thread.start()

    def accept(self, name, source):
        """(status, seconds of Retry-After or None). Returns when Kafka has the record, or has not."""
        with self.lock:
            answer = self.admission.ask()
            again = self.admission.retry_after() if answer is Answer.FULL else RETRY_LATER
            if answer is Answer.ACCEPTED:
                image = UnderWay(name)
                self.waiting.add(image)
        if answer is Answer.ACCEPTED and not self.produce(image, source):
            answer = Answer.STOPPING
        with self.lock:
            self.counts[answer.value] += 1
        return answer.value, None if answer is Answer.ACCEPTED else again

    def produce(self, image, source):
        value = json.dumps({"id": image.name, "source": source})
        try:
            self.producer.produce(self.topic, value, key=image.name,
                                  on_delivery=lambda error, message: self.delivered(image, error, message))
        except (BufferError, confluent_kafka.KafkaException) as error:
            self.delivered(image, error, None)
        image.known.wait(self.within + ASK_WITHIN)
        return image.acknowledged

    def delivered(self, image, error, message):
        with self.lock:
            self.waiting.discard(image)
            if error is not None:
                log.warning("image %s is not in Kafka: %s", image.name, error)
                self.admission.failed()
            else:
                self.admission.sent(message.partition(), message.offset())
                if self.acks:  # before the 202
                    self.acks.write(json.dumps({"topic": self.topic, "partition": message.partition(), "offset": message.offset(),
                                                "time": time.time_ns(), "id": image.name}) + "\n")
        image.end(acknowledged=error is None)

    def serve(self):
        while not self.ended.is_set():
            self.producer.poll(0.1)

    def watch(self):
        while not self.ended.wait(LOOK_EVERY):
            with contextlib.suppress(confluent_kafka.KafkaException):  # then the depth cannot fall, and the bound holds
                self.look()

    def look(self, with_backlog=False):
        """Asks for the committed offsets, and with_backlog for the records that are there already."""
        found = self.reader.committed(self.places(), timeout=ASK_WITHIN)
        committed = {place.partition: place.offset for place in found if place.offset >= 0}
        ends = {}
        if with_backlog:
            for place in found:
                low, ends[place.partition] = self.reader.get_watermark_offsets(place, timeout=ASK_WITHIN)
                committed.setdefault(place.partition, low)
        with self.lock:
            self.admission.look(committed, time.monotonic(), ends)

    def places(self):
        topic = self.reader.list_topics(self.topic, timeout=ASK_WITHIN).topics[self.topic]
        if topic.error or not topic.partitions:
            raise confluent_kafka.KafkaException(topic.error)
        return [confluent_kafka.TopicPartition(self.topic, number) for number in topic.partitions]

    def state(self):
        with self.lock:
            admission = self.admission
            return {"depth": admission.depth(), "capacity": admission.capacity, "stopping": admission.stopping,
                    "answers": dict(self.counts)}

    def stop_accepting(self):
        with self.lock:
            self.admission.stopping = True

    def drain(self, within):
        """The ids of images that Kafka has not acknowledged within this time. Their clients get a 503."""
        self.producer.flush(within)
        with self.lock:
            abandoned = list(self.waiting)
        for image in abandoned:
            image.end(acknowledged=False)
        return sorted(image.name for image in abandoned)

    def close(self):
        self.ended.set()
        for thread in self.threads:
            thread.join()
        self.reader.close()


def parse():
    parser = argparse.ArgumentParser(prog="front")
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--topic", default="images")
    parser.add_argument("--group", default="image-pipeline", help="whose committed offsets say what is finished")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--capacity", type=int, default=200, help="images that are accepted and unfinished")
    parser.add_argument("--acknowledged-within", type=float, default=10.0, help="seconds for Kafka's acknowledgement")
    parser.add_argument("--drain", type=float, default=30.0, help="seconds for the images that are under way at a SIGTERM")
    parser.add_argument("--linger", type=float, default=2.0, help="seconds of 503 after a SIGTERM")
    parser.add_argument("--acks", help="a file with a line for each accepted image")
    return parser.parse_args()


def main():
    options = parse()
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    pipeline = Pipeline(options)
    server = Server(("127.0.0.1", options.port), Requests)
    server.pipeline = pipeline
    threading.Thread(target=server.serve_forever, daemon=True).start()
    log.info("listening on port %d, for %d unfinished images", options.port, options.capacity)
    stop.wait()
    pipeline.stop_accepting()
    log.info("stopping: new images get a 503")
    begun = time.monotonic()
    abandoned = pipeline.drain(options.drain)
    time.sleep(max(0.0, options.linger - (time.monotonic() - begun)))
    server.shutdown()
    server.wait_until_answered(ANSWER_WITHIN)
    pipeline.close()
    for name in abandoned:
        log.error("abandoned: %s", name)
    log.info("ended with %s", pipeline.state()["answers"])
    return 75 if abandoned else 0


if __name__ == "__main__":
    raise SystemExit(main())
