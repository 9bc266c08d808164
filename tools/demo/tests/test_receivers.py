"""The receivers of webhooks: what they verify, keep and answer."""
import contextlib
import http.client
import stat
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from tools.demo import receivers
from tools.demo.receivers import Receiver, verified, write_subscribers

# The example of the specification.
SECRET, BODY, TIME = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}', 1614265330
HEADERS = {"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": str(TIME),
           "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}


class Signatures(unittest.TestCase):
    def test_the_example_of_the_specification_is_right(self):
        self.assertTrue(verified(SECRET, HEADERS, BODY, TIME))
        self.assertTrue(verified(SECRET, HEADERS | {"webhook-signature": "v1,AAAA " + HEADERS["webhook-signature"]}, BODY, TIME))

    def test_a_changed_late_or_missing_signature_is_wrong(self):
        self.assertFalse(verified(receivers.new_secret(), HEADERS, BODY, TIME))
        self.assertFalse(verified(SECRET, HEADERS, BODY + b" ", TIME))
        self.assertFalse(verified(SECRET, HEADERS, BODY, TIME + receivers.TOLERANCE + 1))
        self.assertFalse(verified(SECRET, HEADERS | {"webhook-timestamp": "soon"}, BODY, TIME))
        for name in HEADERS:
            self.assertFalse(verified(SECRET, {key: value for key, value in HEADERS.items() if key != name}, BODY, TIME))


class Receivers(unittest.TestCase):
    def receiver(self, **options):
        receiver = Receiver("name", **options)
        self.addCleanup(receiver.close)
        receiver.secret = SECRET
        self.enterContext(mock.patch.object(receivers, "TOLERANCE", 1e12))
        return receiver

    def post(self, receiver, body=BODY, timeout=60):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", receiver.server_port, timeout=timeout)) as connection:
            connection.request("POST", "/hooks", body, HEADERS)
            return connection.getresponse().status

    def test_a_receiver_keeps_signed_events_and_refuses_others(self):
        receiver = self.receiver()
        before = time.time_ns()
        self.assertEqual(204, self.post(receiver))
        self.assertEqual(400, self.post(receiver, b"forged"))
        self.assertEqual(1, receiver.unverified)
        delivery, = receiver.deliveries
        self.assertEqual((HEADERS["webhook-id"], BODY), delivery[:2])
        self.assertLessEqual(before, delivery.time)

    def test_a_receiver_fails_only_the_first_attempt(self):
        receiver = self.receiver(fails_every=1)
        self.assertEqual([500, 204], [self.post(receiver), self.post(receiver)])
        self.assertEqual(1, len(receiver.deliveries))

    def test_a_dead_receiver_answers_nothing_until_it_is_back(self):
        receiver, ended = self.receiver(), []
        receiver.die()

        def post():
            with self.assertRaises(http.client.HTTPException):
                self.post(receiver)
            ended.append(True)

        waiting = threading.Thread(target=post)
        waiting.start()
        while not receiver.unanswered:
            time.sleep(0.01)
        self.assertFalse(ended)
        receiver.revive()
        waiting.join()
        self.assertEqual([True], ended)
        self.assertEqual([], receiver.deliveries)
        self.assertEqual(204, self.post(receiver))

    def test_types_of_events_are_whole_or_beginnings(self):
        receiver = self.receiver(events=["order.created", "invoice.*"])
        self.assertEqual([True, True, False], [receiver.wants(kind) for kind in ("order.created", "invoice.paid", "order.created.late")])
        self.assertTrue(self.receiver().wants("anything"))

    def test_only_the_owner_may_read_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "subscribers"
            write_subscribers(file, [self.receiver(), self.receiver(old_secret=True)])
            self.assertEqual(0o600, stat.S_IMODE(file.stat().st_mode))
            self.assertEqual(2, file.read_text().count('- {"name": "name"'))
            self.assertEqual([file], list(Path(folder).iterdir()))
