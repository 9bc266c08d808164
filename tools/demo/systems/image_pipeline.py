"""an HTTP front, images in three sizes, files and S3: a burst, a slow store, kill -9; every accepted image is stored"""
import time

from ..evidence import acknowledged, percentile, successes
from ..images.around import Around
from ..images.clients import Sender
from ..verdict import Account

TARGETS = ("laneway", "kafka_tool")
SECONDS = 20
CONFIG = "config/examples/image-pipeline.yaml"
TOPIC, GROUP, PARTITIONS = "images", "image-pipeline", 4
CAPACITY, QUEUED, BURST = 200, 180, 50  # of the front; waiting; at once
RATE, RESIZED = 50, 20  # images/s that arrive, and that four workers of 200 ms do
KILL = 0.6  # of the time in which images are sent
SLOW, SLOW_RATE, SLOW_COUNT = 1.0, 20, 150  # s for one size; images/s; images: fewer than the front's places


class Story:
    def __init__(self, stage):
        self.stage, self.members = stage, []
        self.around = Around(stage.program, stage.folder)
        self.clients = self.around.clients
        self.next, self.depths, self.begun = 0.0, [], None

    def start(self):
        stage, around = self.stage, self.around
        around.start_s3()
        stage.until("the S3 server listens", lambda: around.listens(around.s3_port))
        services = around.start_services()
        stage.until("the web services listen", lambda: "listening" in services.log)
        self.front = around.start_front(stage.kafka.bootstrap, TOPIC, GROUP)
        stage.until("the front listens", lambda: around.listens(around.front_port))
        stage.say(f"front http://127.0.0.1:{around.front_port}/images for {CAPACITY} unfinished images, S3 {around.s3_url}")

    def join(self, **settings):
        self.members.append(self.stage.member(f"laneway-{len(self.members) + 1}", CONFIG, **self.around.settings(), **settings))

    def finished(self):
        return sum(member.finished() for member in self.members)

    def present(self):
        now = time.monotonic()
        if self.begun and now >= self.begun + len(self.depths) + 1:
            self.depths.append(self.clients.state()["depth"])
        if now < self.next:
            return
        self.next = now + 0.5
        state, running = self.clients.state(), [member for member in self.members if member.running()]
        pools = running[-1].status().get("pools", []) if running else []
        rows = [f"  {pool['name']:<10} running {pool['running']:>3}  queued {pool['queued']:>3}  waiting {pool['waiting']:>3}  "
                f"{pool['rate']:>6.1f}/s" for pool in pools]
        answers = state["answers"]
        short = " ".join(f"{pool['name']} {pool['running'] + pool['queued'] + pool['waiting']}" for pool in pools)
        self.stage.show(f"unfinished {state['depth']:>3} of {CAPACITY} | 202: {answers['202']} 429: {answers['429']} | {short} | "
                        f"finished {self.finished()}", rows)

    def drain(self, what):
        self.stage.until(what, lambda: self.clients.state()["depth"] == 0, self.present)

    def full(self):
        """180 images wait while no worker is there, then 50 come at once: how many of them got a 202, how many a 429."""
        for _ in range(QUEUED // 30):
            self.clients.at_once(30)
        self.stage.say(f"{self.clients.state()['depth']} images are accepted, and nobody works yet; {BURST} more come at once")
        replies = self.clients.at_once(BURST)
        found = [sum(reply.status == status for reply in replies) for status in (202, 429)]
        hints = sorted({reply.again for reply in replies if reply.status == 429})
        self.stage.say(f"of {BURST} images at once {found[0]} got a 202 and {found[1]} a 429 with Retry-After: {', '.join(hints)}")
        return found, all(hints)

    def burst(self):
        """50/s arrive, 20/s are done; clients that are refused come again; a kill -9 on the way: the sender."""
        self.stage.say(f"{RATE} images/s for {self.stage.seconds:.0f} s, and four workers of 200 ms: {RESIZED}/s")
        self.depths, self.begun = [], time.monotonic()
        sender = Sender(self.clients, RATE, int(RATE * self.stage.seconds))
        end = self.begun + KILL * self.stage.seconds
        self.stage.until("time passes", lambda: time.monotonic() >= end, self.present, within=self.stage.seconds + 60)
        self.members[0].kill()
        self.stage.say("kill -9; another process takes over after session.timeout.ms, and begins what was not committed again")
        self.join()
        self.stage.until("every image is accepted", sender.done, self.present, within=600)
        return sender

    def slow_store(self):
        """Images arrive while each size takes a second to store: the sender."""
        self.stage.say(f"each size now takes {SLOW:.0f} s to store; {SLOW_RATE} images/s arrive")
        self.around.store_becomes(delay=SLOW)
        sender = Sender(self.clients, SLOW_RATE, SLOW_COUNT)
        self.stage.until("all are sent and answered", lambda: len(sender.replies) >= SLOW_COUNT, self.present)
        self.stage.say(f"{len(sender.accepted)} of {SLOW_COUNT} were accepted meanwhile; the store is as usual again")
        self.around.store_becomes()
        return sender

    def stop(self):
        """The order matters: nothing new, then drain, then end. The status of an image that came meanwhile."""
        self.front.stop()
        self.stage.say("the front stops")
        late = self.stage.until("the front refuses", lambda: self.refusal(), self.present)
        self.stage.until("laneway has committed everything", lambda: self.stage.kafka.lag(GROUP, TOPIC) == 0)
        self.stage.ended(self.front)
        self.members[-1].stop()
        self.stage.ended(self.members[-1])
        return late

    def refusal(self):
        reply = self.clients.send(self.clients.new())
        return reply if reply.status != 202 else None


def play(stage):
    story = Story(stage)
    stage.start_kafka({TOPIC: PARTITIONS})
    story.start()
    found, hinted = story.full()
    story.join(pools__resize__rate__records=str(RESIZED))
    story.drain("the images are stored")
    burst = story.burst()
    story.drain("the images of the burst are stored")
    slow = story.slow_store()
    story.drain("the images of the slow time are stored")
    late = story.stop()
    judge(story, found, hinted, burst, slow, late)


def milliseconds(replies):
    took = sorted(reply.took for reply in replies if reply.status == 202)
    return f"{percentile(took, 50) * 1000:,.0f} ms (median), {percentile(took, 99) * 1000:,.0f} ms (99th percentile)"


def judge(story, found, hinted, burst, slow, late):
    stage, verdict, clients = story.stage, story.stage.verdict, story.clients
    account = verdict.account(Account("laneway", acknowledged(story.around.acks), successes([one.journal for one in story.members]),
                                      stage.kafka.committed(GROUP, TOPIC)))
    stored, accepted = story.around.audit(), clients.accepted()
    missing = accepted - stored.keys()
    wrong = {name: problems for name, problems in stored.items() if problems}
    verdict.note(f"unfinished after 1, 2, … s of {RATE}/s: {' '.join(map(str, story.depths[:10]))}; by the arithmetic 30 60 90 120 150 180")
    verdict.note(f"a 202 took {milliseconds(burst.replies)} in the burst, and {milliseconds(slow.replies)} while the store was slow")
    verdict.note(f"images: {len(accepted):,} accepted, {len(stored):,} stored, {3 * (len(stored) - len(wrong)):,} objects in S3 that are "
                 f"right; {sum(reply.status == 429 for reply in clients.replies):,} times 429")
    for name, problems in list(wrong.items())[:5]:
        verdict.note(f"{name}: {'; '.join(problems)}")
    verdict.check(found == [CAPACITY - QUEUED, BURST - CAPACITY + QUEUED] and hinted,
                  f"{QUEUED} of {CAPACITY} places taken and {BURST} images at once: {found[0]} times 202, {found[1]} times 429 with Retry-After")
    verdict.check(any(reply.status == 429 for reply in burst.replies) and max(story.depths) <= CAPACITY,
                  f"in the burst clients got a 429, came again and were accepted; never more than {max(story.depths)} images were unfinished")
    verdict.check(len(slow.accepted) == SLOW_COUNT == len(slow.replies), "a slow store did not block the intake: each image got its 202 at once")
    verdict.check(late.status == 503 and late.again, "a front that stops answers 503 with Retry-After")
    verdict.check(story.front.process.returncode == 0 == story.members[-1].process.returncode, "each stop was clean")
    verdict.check(account.complete() and account.given_up == 0, "laneway finished and committed every record")
    verdict.check(not missing and not wrong, "every image with a 202 is there: three sizes of the right picture as files and in S3, and a row "
                                             "of the catalogue")
    verdict.check(not stored.keys() - accepted, "no image is there that was refused")
