"""What became of events: from lines as kafka_tool prints them, and from deliveries."""
import unittest

from tools.demo.deliveries import Row, as_json, events, letters, place_of, unfinished
from tools.demo.receivers import Delivery

SECOND = 10**9


def line(offset, value, **headers):
    return {"partition": 1, "offset": offset, "value": value.hex(), "key": None,
            "headers": [[name.replace("_", "-"), content.hex()] for name, content in headers.items()]}


class Reading(unittest.TestCase):
    def test_events_are_the_records_that_were_written_first(self):
        found = events("t", [line(4, b"a", type=b"x"), line(5, b"a", type=b"x", laneway_part=b"n"), {"end": 6}])
        self.assertEqual({b"a": (("t", 1, 4), "x")}, found)

    def test_letters_belong_to_a_subscriber(self):
        lines = [line(0, b"a", laneway_part=b"n"), line(1, b"b", laneway_part=b"n"), line(2, b"c"), {"end": 3}]
        self.assertEqual({"n": {b"a", b"b"}, "": {b"c"}}, letters(lines))

    def test_an_id_names_a_place_and_a_subscriber(self):
        self.assertEqual((("a.b", 3, 70), "n.m"), place_of("cluster/a%2Eb/3/70/n%2Em"))

    def test_a_body_has_a_place_for_the_number(self):
        self.assertEqual('{"type": "x", "number": {}}', as_json(type="x"))


class Rows(unittest.TestCase):
    def row(self, bodies, **options):
        deliveries = [Delivery("id", body, place * SECOND // 2) for place, body in enumerate(bodies)]
        return Row("n", {b"a", b"b", b"c"}, deliveries, **options)

    def test_missing_repeated_and_foreign_events_are_found(self):
        row = self.row([b"a", b"a", b"x"], letters={b"b"})
        self.assertEqual(({b"c"}, {b"a"}, {b"x"}), (row.missing, row.repeated, row.strange))
        self.assertEqual(set(), self.row([b"a", b"b", b"c", b"x"], allowed={b"x"}).strange)

    def test_an_event_is_unfinished_while_a_subscriber_lacks_it(self):
        found = {body: events("t", [line(offset, body, type=b"x")])[body] for offset, body in enumerate((b"a", b"b", b"c"))}
        self.assertEqual({("t", 1, 1)}, unfinished(found, [self.row([b"a", b"c"]), self.row([b"a", b"b", b"c"])]))

    def test_rates(self):
        row = self.row([b"a", b"b", b"c"])  # at 0, 0.5 and 1 s
        self.assertEqual(2.0, row.rate)
        self.assertEqual([1, 2, 3], [row.most_in(seconds) for seconds in (0.4, 0.5, 1)])
        self.assertEqual((0.0, 0), (self.row([]).rate, self.row([]).most_in(1)))
