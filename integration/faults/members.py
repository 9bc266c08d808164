"""The members of the group: laneway processes that are killed, stopped, terminated and joined, and the record of that."""
import signal
import subprocess
import time

import plan
from facts import Life
from waits import wait_until

DRAIN = 10  # s


class Members:
    """One thread at a time. `work` returns the settings for what the member of a name does with records."""

    def __init__(self, run, work, strategy):
        self.run, self.work, self.strategy = run, work, strategy
        self.lives, self.services = {}, {}

    def join(self):
        name = f"m{len(self.lives) + 1}-{self.run.group}"
        self.lives[name] = Life(started=time.time_ns())
        service = self.services[name] = self.run.service(name, **self.settings(name))
        wait_until(f"{name} takes signals", lambda: service.events("starting"), within=30)
        return name

    def settings(self, name):
        return {
            "kafka": {"client.id": name, "session.timeout.ms": int(plan.SESSION * 1000), "heartbeat.interval.ms": 1000,
                      "partition.assignment.strategy": self.strategy, "topic.metadata.refresh.interval.ms": 2000},
            "lanes": {"order": "key", "drain": f"{DRAIN}s"},
            "commit": {"interval": "1s"},
            "retry": {"attempts": 5, "backoff": "50ms", "max_backoff": "500ms"},
            "breaker": {"probe": "500ms"},
            **self.work(name),
        }

    def running(self):
        """Of these a fault takes one."""
        return [name for name, life in self.lives.items()
                if life.killed is None and life.terminated is None and self.services[name].running()]

    def chosen(self, choice):
        running = self.running()
        return running[choice % len(running)]

    def kill(self, choice, lasts, then=lambda: None):
        name = self.chosen(choice)
        self.lives[name].killed = time.time_ns()
        self.services[name].kill()
        then()
        time.sleep(lasts)
        return name, self.join()

    def stop(self, choice, lasts):
        """By SIGSTOP, until after the session has ended."""
        name = self.chosen(choice)
        begun = time.time_ns()
        self.services[name].signal(signal.SIGSTOP)
        time.sleep(plan.SESSION + lasts)
        self.services[name].signal(signal.SIGCONT)
        self.lives[name].stops.append((begun, time.time_ns()))
        return (name,)

    def terminate(self, choice, _, then=lambda: None):
        """A rolling restart: another one joins when this one has ended. `then` is called while it drains."""
        name = self.chosen(choice)
        self.terminate_all([name], then)
        return name, self.join()

    def terminate_all(self, names, then=lambda: None):
        for name in names:
            self.lives[name].terminated = time.time_ns()
            self.services[name].signal(signal.SIGTERM)
        then()
        for name in names:
            try:
                code = self.services[name].process.wait(DRAIN + 10)
            except subprocess.TimeoutExpired:
                self.services[name].kill()
                code = None
            self.lives[name].exited, self.lives[name].code = time.time_ns(), code

    def join_more(self, choice, lasts):
        """One more, and one of the others goes if there are many."""
        joined = self.join()
        time.sleep(lasts)
        if len(self.running()) > plan.MEMBERS + 1:
            name = self.chosen(choice)
            self.terminate_all([name])
            return joined, name
        return (joined,)

    def note_ends(self):
        """Notes the ends of members that ended without a request."""
        for name, life in self.lives.items():
            if life.killed is None and life.terminated is None and life.exited is None and not self.services[name].running():
                life.exited, life.code = time.time_ns(), self.services[name].process.returncode

    def await_all_own(self):
        """Waits until each member has partitions."""
        for name in self.running():
            wait_until(f"{name} owns partitions", lambda name=name: self.services[name].events("lane assigned"), within=30)
