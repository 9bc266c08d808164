"""config/systemd/laneway@.service by systemd-analyze: every line is understood, and a service has few rights."""
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "config" / "systemd" / "laneway@.service"
MOST_EXPOSURE = 1.5  # of 10
# The score alone would let one or the other go.
HARDENING = """
User=laneway
Group=laneway
UMask=0077
StateDirectoryMode=0750
LogsDirectoryMode=0750
MemoryMax=2G
TasksMax=8192
CapabilityBoundingSet=
AmbientCapabilities=
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
DevicePolicy=closed
PrivateUsers=yes
ProtectProc=invisible
ProcSubset=pid
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectClock=yes
ProtectHostname=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
MemoryDenyWriteExecute=yes
""".split("\n")[1:-1]
LIFE = """
Type=notify
NotifyAccess=main
ExecStartPre=-/usr/bin/laneway check -c /etc/laneway/%i.yaml
ExecStart=/usr/bin/laneway run -c /etc/laneway/%i.yaml
ExecReload=/usr/bin/laneway reload -c /etc/laneway/%i.yaml
Restart=on-failure
RestartSec=5s
KillMode=mixed
""".split("\n")[1:-1]


def analyze(*arguments):
    return subprocess.run(["systemd-analyze", "--no-pager", *map(str, arguments)], text=True, capture_output=True, timeout=120,
                          env={**os.environ, "LC_ALL": "C.UTF-8"}, check=False)


def seconds(text):
    return sum(int(number) * {"min": 60, "s": 1}[unit] for number, unit in re.findall(r"(\d+)(min|s)", text))


class Unit(unittest.TestCase):
    def setting(self, name):
        found = re.findall(rf"^{name}=(.*)$", UNIT.read_text(), re.MULTILINE)
        self.assertEqual(1, len(found), name)
        return found[0]

    def test_systemd_understands_each_line(self):
        with tempfile.TemporaryDirectory(prefix="laneway-unit-") as folder:
            copy = Path(folder) / "laneway@orders.service"
            copy.write_text(UNIT.read_text().replace("/usr/bin/laneway", os.environ["LANEWAY"]))
            done = analyze("verify", "--man=no", copy)
            self.assertEqual((0, ""), (done.returncode, done.stderr))
            copy.write_text(copy.read_text() + "Wantedby=misspelt\n")
            self.assertIn("Unknown key 'Wantedby'", analyze("verify", "--man=no", copy).stderr)

    def test_each_line_that_starts_reloads_or_confines_the_service_is_there_once(self):
        lines = UNIT.read_text().splitlines()
        keys = [line.split("=")[0] for line in lines]
        for wanted in [*LIFE, *HARDENING]:
            self.assertTrue(wanted in lines, f"the unit has no {wanted}")
            key = wanted.split("=")[0]
            self.assertEqual(1 + (key == "SystemCallFilter"), keys.count(key), f"a second {key}= would change the first")

    def test_little_is_exposed(self):
        done = analyze("security", "--offline=true", UNIT)
        self.assertEqual(0, done.returncode, done.stderr)
        exposure = float(re.search(r"Overall exposure level for .*: ([\d.]+)", done.stdout)[1])
        self.assertLessEqual(exposure, MOST_EXPOSURE, done.stdout)

    def test_times_and_codes_are_those_of_the_program(self):
        default_drain = re.search(r"^  drain: (\d+)s$", (ROOT / "config" / "full.yaml").read_text(), re.MULTILINE)
        self.assertGreater(seconds(self.setting("TimeoutStopSec")), int(default_drain[1]) + 5)
        self.assertGreaterEqual(seconds(self.setting("TimeoutStartSec")), 60 + 5)  # start_deadline
        self.assertGreater(seconds(self.setting("WatchdogSec")), 2 * 10)  # the loop is taken for dead after 10 s
        codes = dict(re.findall(r"int (\w+) = (\d+);", (ROOT / "app" / "exit_code.h").read_text()))
        hopeless = sorted(int(codes[name]) for name in ("usage", "no_input", "configuration"))
        self.assertEqual(hopeless, [int(code) for code in self.setting("RestartPreventExitStatus").split()])


if __name__ == "__main__":
    unittest.main()
