"""The first hour of a user who has the package and a Kafka, and nothing of this repository.

What docs/getting-started.md and docs/operations.md say, by the files and pages that the package has, in a root where it is
installed: a typo, a topic and a web service that are missing, a service that works, its downstream broken and repaired, dead
letters and their way back, a reload, a stop, and the example of a program. usage: first_hour.py ROOT; scripts/test-package
calls it, in a PID namespace of its own. As root.
"""
import contextlib
import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True
REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(REPOSITORY), str(REPOSITORY / "integration" / "framework")]
from tools.kafka.jars import install, wanted_version  # noqa: E402
from tools.ports import free_port  # noqa: E402
from waits import Failed, expect, wait_until  # noqa: E402

LONGEST = 120  # a hang is a failure; nothing passes or fails by being faster
CONFIGURATION = "/etc/laneway/orders.yaml"
REJECTED = 3


class Machine:
    """The root folder, used as the user root; services run as the user laneway."""

    def __init__(self, root):
        self.root = Path(root)
        self.started = []

    def path(self, inside):
        return self.root / inside.lstrip("/")

    def command(self, arguments, user):
        who = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups"] if user else []
        return ["chroot", str(self.root), "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", *who, *arguments]

    def run(self, *arguments, says=(), code=0):
        """Returns the output of the command, which must end with this code and contain all these texts."""
        done = subprocess.run(self.command(arguments, None), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=LONGEST, check=False)
        shown = f"{' '.join(arguments)}: {done.returncode}\n{done.stdout}"
        expect(done.returncode == code, f"ended with {done.returncode} instead of {code}: {shown}")
        for words in says:
            expect(words in done.stdout, f"'{words}' was not said: {shown}")
        return done.stdout

    def start(self, name, *arguments):
        """In a terminal of its own."""
        log = self.path(f"/tmp/{len(self.started)}-{name}.log")
        with open(log, "wb") as output:
            process = subprocess.Popen(self.command(arguments, "laneway"), stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT)
        process.log = log
        self.started.append(process)
        return process

    def end_all(self):
        for process in self.started:
            process.kill()
            process.wait()


class Broker:
    """A real Kafka, with the tools that come with Kafka."""

    def __init__(self, folder):
        self.folder = folder
        self.address = self.script("start").strip()

    def script(self, *arguments):
        done = subprocess.run([REPOSITORY / "scripts/kafka", "--dir", self.folder, *arguments], stdout=subprocess.PIPE, text=True,
                              timeout=LONGEST, check=True)
        return done.stdout

    def tool(self, name, *arguments, text=""):
        done = subprocess.run(["java", "-cp", f"{install(wanted_version())}/*", f"org.apache.kafka.tools.{name}", "--bootstrap-server",
                               self.address, *arguments], input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=LONGEST, check=False)
        expect(done.returncode == 0, f"{name}: {done.stdout}")

    def create(self, topic):
        self.tool("TopicCommand", "--create", "--topic", topic, "--partitions", "2")

    def produce(self, orders):
        self.tool("ConsoleProducer", "--topic", "orders", "--property", "parse.key=true", "--property", "key.separator= ",
                  text="".join(f'{order} {{"id":{order}}}\n' for order in orders))


class Downstream:
    """receiver.py of the page, now and then out, or with a bug."""

    def __init__(self, machine, program, port):
        self.machine, self.program, self.port, self.process, self.good = machine, program, port, None, []

    def start(self, status=200):
        text = self.program.replace("8080", str(self.port)).replace("send_response(200)", f"send_response({status})")
        self.machine.path("/tmp/receiver.py").write_text(text)
        self.process = self.machine.start("receiver", "python3", "/tmp/receiver.py")
        if status == 200:
            self.good.append(self.process)
        wait_until("the receiver listens", self.listens, details=self.process.log.read_text)

    def listens(self):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
            return True
        return False

    def stop(self):
        self.process.kill()
        self.process.wait()

    def orders(self):
        """The records that were accepted at least once."""
        return {int(order) for process in self.good for order in re.findall(r'"id":(\d+)', process.log.read_text())}


class Service:
    def __init__(self, machine, configuration, admin):
        self.configuration, self.admin = configuration, admin
        self.process = machine.start("laneway", "laneway", "run", "-c", configuration)

    def ask(self, path):
        """(status, text); status 0 if there is no answer."""
        expect(self.process.poll() is None, f"ended with {self.process.returncode}: {self.log()}")
        try:
            with urllib.request.urlopen(f"http://{self.admin}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def log(self):
        return self.process.log.read_text()

    def wait_until_ready(self):
        wait_until("the service is ready", lambda: self.ask("/readyz")[0] == 200,
                   details=lambda: self.ask("/readyz")[1] + self.log())

    def lanes(self):
        return json.loads(self.ask("/status")[1])["lanes"]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        expect(self.process.wait(LONGEST) == 0, f"SIGTERM: ended with {self.process.returncode}\n{self.log()}")


def firing(rules, metrics):
    """The alerts of the package's rules that fire when for ten minutes the metrics are what they are now."""
    series = [("up", "1")] + [re.fullmatch(r"(\S+(?:\{.*\})?) (\S+)", line).groups() for line in metrics.splitlines() if not line.startswith("#")]
    fired = 'count by (alertname) (ALERTS{alertstate="firing"})'
    test = {"rule_files": [str(rules)], "evaluation_interval": "1m", "tests": [{
        "interval": "1m", "input_series": [{"series": name, "values": f"{value}+0x10"} for name, value in series],
        "promql_expr_test": [{"expr": fired, "eval_time": "10m", "exp_samples": []}]}]}
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        json.dump(test, file)
        file.flush()
        done = subprocess.run([REPOSITORY / "scripts/promtool", "test", "rules", file.name], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=LONGEST, check=False)
    alerts = set(re.findall(r'alertname="(\w+)"', done.stdout))
    expect(done.returncode == 0 or alerts, f"promtool: {done.stdout}")
    return alerts


class FirstHour:
    def __init__(self, machine, broker):
        self.machine, self.broker = machine, broker
        self.admin = f"127.0.0.1:{free_port()}"
        page = machine.path("/usr/share/doc/laneway/getting-started.md").read_text()
        program = re.search(r"^`receiver.py`:\n\n```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL).group(1)
        self.downstream = Downstream(machine, program, free_port())
        self.rules = machine.path("/usr/share/doc/laneway/prometheus/laneway.rules.yml")

    def install(self, example, configuration):
        self.machine.run("install", "-m", "640", "-g", "laneway", f"/usr/share/doc/laneway/examples/{example}", configuration)
        self.edit(configuration, "127.0.0.1:9092", self.broker.address)
        with open(self.machine.path(configuration), "a") as file:
            file.write(f"admin: {{ listen: {self.admin} }}\n")

    def edit(self, configuration, old, new):
        file = self.machine.path(configuration)
        text = file.read_text()
        expect(text.count(old) == 1, f"{configuration} has '{old}' {text.count(old)} times:\n{text}")
        file.write_text(text.replace(old, new))

    def laneway(self, *arguments, **more):
        return self.machine.run("laneway", *arguments, "-c", CONFIGURATION, **more)

    def mistakes(self):
        self.install("http.yaml", CONFIGURATION)
        self.edit(CONFIGURATION, "127.0.0.1:8080", f"127.0.0.1:{self.downstream.port}")
        self.edit(CONFIGURATION, "  workers: 16", "  wokers: 16")
        self.laneway("check", code=78, says=["lanes.wokers: this key does not exist (did you mean lanes.workers?)", "orders.yaml:9:"])
        self.edit(CONFIGURATION, "  wokers: 16", "  workers: 16")
        self.laneway("check", "--connect", code=69, says=["orders", "does not exist"])
        self.broker.create("orders")
        self.laneway("check", "--connect", code=69, says=["cannot connect", "start the web service"])
        self.laneway("status", code=69, says=[self.admin])
        self.downstream.start()
        self.laneway("check", "--connect", says=["topic orders: 2 partitions", "accepts connections"])

    def run(self):
        service = Service(self.machine, CONFIGURATION, self.admin)
        service.wait_until_ready()
        self.send(range(20))
        self.wait_for(range(20), service)
        self.laneway("status", says=["orders:0", "orders:1", "ready"])
        expect(not firing(self.rules, service.ask("/metrics")[1]), f"alerts: {firing(self.rules, service.ask('/metrics')[1])}")
        return service

    def send(self, orders):
        self.broker.produce(orders)

    def wait_for(self, orders, service):
        wait_until("the receiver has all", lambda: self.downstream.orders() >= set(orders), details=service.log)

    def outage(self, service):
        self.downstream.stop()
        self.send(range(20, 40))
        wait_until("not ready", lambda: service.ask("/readyz")[0] == 503, details=service.log)
        said = service.ask("/readyz")[1]
        expect("the lanes have been held since" in said, said)
        self.laneway("status", says=["NOT READY: the downstream"])
        expect("LanewayBreakerOpen" in firing(self.rules, service.ask("/metrics")[1]), "LanewayBreakerOpen does not fire")
        self.downstream.start()
        self.wait_for(range(40), service)
        service.wait_until_ready()
        alerts = firing(self.rules, service.ask("/metrics")[1])
        expect("LanewayBreakerOpen" not in alerts, f"alerts: {alerts}")

    def dead_letters(self, service):
        self.downstream.stop()
        self.downstream.start(status=422)
        orders = range(40, 40 + REJECTED)
        self.send(orders)
        given_up = re.compile(r'^laneway_dead_letters_total{.*reason="rejected"} (\d+)$', re.MULTILINE)
        wait_until("dead letters", lambda: sum(map(int, given_up.findall(service.ask("/metrics")[1]))) == REJECTED, details=service.log)
        self.laneway("dlq", "list", says=["rejected", "HTTP 422"])
        self.downstream.stop()
        self.downstream.start()
        self.laneway("dlq", "redrive", "--yes", says=[str(REJECTED)])
        self.wait_for(orders, service)

    def reload(self):
        self.edit(CONFIGURATION, "  workers: 16", "  workers: many")
        self.laneway("reload", code=78, says=["lanes.workers", "many"])
        self.edit(CONFIGURATION, "  workers: many", "  workers: 8")
        self.laneway("reload", says=["lanes.workers: 16 → 8"])

    def stop(self, service):
        service.stop()
        before = [process.log.read_text() for process in self.downstream.good]
        again = Service(self.machine, CONFIGURATION, self.admin)
        again.wait_until_ready()
        wait_until("the lanes have no lag", lambda: [lane["lag"] for lane in again.lanes()] == [0, 0], details=again.log)
        again.stop()
        expect(before == [process.log.read_text() for process in self.downstream.good], "records were sent again after a stop")

    def program(self):
        folder, configuration = "/usr/share/doc/laneway/examples/exec", "/etc/laneway/program.yaml"
        self.install("exec/python.yaml", configuration)
        self.machine.run("install", f"{folder}/handler.py", "/etc/laneway/handler.py")
        self.machine.run("laneway", "check", "-c", configuration, "--connect", says=["/usr/bin/python3 starts"])
        service = Service(self.machine, configuration, self.admin)
        service.wait_until_ready()
        wait_until("the program has done all", lambda: len(service.lanes()) == 2 and all(
            lane["lag"] == 0 and lane["committed"] > 0 for lane in service.lanes()), details=service.log)
        service.stop()
        for file in (configuration, "/etc/laneway/handler.py"):
            self.machine.path(file).unlink()


def story(hour):
    print("-- a typo, no topic, no web service")
    hour.mistakes()
    print("-- records, status, and no alert")
    service = hour.run()
    print("-- the web service is out: not ready, the alert")
    hour.outage(service)
    print("-- dead letters, and back")
    hour.dead_letters(service)
    print("-- reload")
    hour.reload()
    print("-- stop, and on where it stopped")
    hour.stop(service)
    print("-- the example of a program")
    hour.program()


def main(root):
    with tempfile.TemporaryDirectory(prefix="laneway-first-hour-") as folder:
        machine, broker = Machine(root), Broker(Path(folder) / "kafka")
        sys.stdout.reconfigure(line_buffering=True)
        try:
            story(FirstHour(machine, broker))
        except Failed as failure:
            print(f"first_hour.py: FAILED: {failure}", file=sys.stderr)
            return 1
        finally:
            machine.end_all()
            broker.script("wipe")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
