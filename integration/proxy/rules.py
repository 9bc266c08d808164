"""The rules by which a proxy catches requests or answers."""
import enum


class Action(enum.Enum):
    HOLD = 1  # until release()
    DELAY = 2
    DROP = 3  # the connection stays
    CUT = 4  # the frame is lost, and its connection with it
    STALL = 5  # until release(), and all requests behind it


class Rule:
    """Catches requests of one API, or several, or their answers (`answers`), that fit all of these: the client.id begins with
    `client`, the broker has this number (from 1), and `where` is true of the Request. No more than `times`, where given.

    `caught` is what it has caught so far, `answered` what the brokers said to requests that were kept back. Made by a Proxy.
    """

    def __init__(self, action, api, answers=False, client="", broker=None, where=None, times=None, seconds=None):
        self.action, self.seconds, self.answers = action, seconds, answers
        self.apis = api if isinstance(api, tuple) else (api,)
        self.client, self.broker, self.where = client, broker, where
        self.left = times  # None: no limit
        self.caught, self.answered = [], []
        self.held = []  # functions that let a frame go, in the order of catching
        self.ended = False

    def catches(self, request, broker, answer):
        """Whether the rule is for this frame; then it counts as caught."""
        if self.ended or self.left == 0 or self.answers != answer or request.api not in self.apis:
            return False
        if not request.client.startswith(self.client) or self.broker not in (None, broker):
            return False
        if self.where and not self.where(request):
            return False
        self.caught.append(request)
        if self.left is not None:
            self.left -= 1
        return True

    def end(self):
        """Catches no more; held messages go on."""
        self.ended = True
        for let_go in self.held:
            let_go()
        self.held.clear()
