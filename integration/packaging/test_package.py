"""The Debian packages as cpack makes them from this build, without installing them; scripts/test-package does that."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LANEWAY = os.environ["LANEWAY"]
LONGEST = 240


def output(*command, **more):
    done = subprocess.run(list(map(str, command)), text=True, capture_output=True, timeout=LONGEST, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


BUNDLED = "(bundled)" in output(LANEWAY, "version")


def verbs(*before):
    """The verbs that the program's help names, those of a verb's own after it."""
    section = re.search(r"^Verbs:\n(.*?)\n\n", output(LANEWAY, *before, "--help"), re.MULTILINE | re.DOTALL)
    return re.findall(r"^  ([\w-]+)", section[1], re.MULTILINE) if section else []


class Packages(unittest.TestCase):
    def test_each_package_has_its_files(self):
        with tempfile.TemporaryDirectory(prefix="laneway-package-") as folder:
            output("cpack", "--config", Path(os.environ["BUILD"]) / "CPackConfig.cmake", cwd=folder)
            version = re.search(r"^project\(laneway VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
            runtime, dev = sorted(Path(folder).glob("*.deb"), key=lambda deb: "-dev" in deb.name)
            architecture = output("dpkg", "--print-architecture").strip()
            self.assertEqual([f"laneway_{version}_{architecture}.deb", f"laneway-dev_{version}_{architecture}.deb"],
                             [runtime.name, dev.name])
            self.contains(runtime, "usr/bin/laneway", "etc/logrotate.d/laneway", "usr/lib/systemd/system/laneway@.service",
                          "usr/share/man/man1/laneway.1.gz", "usr/share/bash-completion/completions/laneway",
                          "usr/share/zsh/vendor-completions/_laneway", "usr/share/fish/vendor_completions.d/laneway.fish",
                          "usr/share/doc/laneway/examples/full.yaml", "usr/share/doc/laneway/operations.md",
                          "usr/share/doc/laneway/runbooks.md", "usr/share/doc/laneway/configuration.md",
                          "usr/share/doc/laneway/prometheus/laneway.rules.yml", "usr/share/doc/laneway/grafana/laneway.json", "usr/share/doc/laneway/changelog.gz", "usr/share/doc/laneway/copyright")
            self.assertEqual("/etc/logrotate.d/laneway\n", output("dpkg-deb", "-I", runtime, "conffiles"))
            self.bill_names_what_is_linked(runtime)
            self.contains(dev, "usr/include/laneway/plugin.h", "usr/share/laneway/examples/plugin/greeting.cpp")
            needs = output("dpkg-deb", "-f", runtime, "Depends")
            client = ("libsasl2-2", "libzstd1", "liblz4-1") if BUNDLED else ("librdkafka1",)
            for library in (*client, "libsystemd0", "libcurl4", "adduser"):
                self.assertIn(library, needs)
            if BUNDLED:
                self.assertNotIn("librdkafka", needs)
                self.assertNotIn("librdkafka", output("dpkg-deb", "-f", dev, "Depends"))
                self.contains(runtime, "usr/share/doc/laneway/librdkafka-licences.txt")
                self.contains(dev, "usr/share/doc/laneway-dev/librdkafka-licences.txt")
            changelog = (ROOT / "scripts" / "debian" / "changelog").read_text()
            self.assertTrue(changelog.startswith(f"laneway ({version}) "), "scripts/debian/changelog is of another version")

    def bill_names_what_is_linked(self, package):
        """laneway.spdx.json: what SPDX 2.3 requires is there, and every shared library that the program asks for."""
        archive = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(package)], capture_output=True, timeout=LONGEST, check=True).stdout
        text = subprocess.run(["tar", "-xO", "./usr/share/doc/laneway/laneway.spdx.json"], input=archive, capture_output=True,
                              timeout=LONGEST, check=True).stdout
        bill = json.loads(text)
        self.assertEqual(["SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"], [bill[key] for key in ("spdxVersion", "dataLicense", "SPDXID")])
        self.assertRegex(bill["creationInfo"]["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        packages = {one["SPDXID"]: one for one in bill["packages"]}
        self.assertEqual(len(bill["packages"]), len(packages))
        for one in bill["packages"]:
            self.assertRegex(one["SPDXID"], r"^SPDXRef-[A-Za-z0-9.-]+$")
            self.assertTrue(one["name"] and one["versionInfo"] and one["downloadLocation"])
        linked = set()
        for link in bill["relationships"]:
            self.assertIn(link["relatedSpdxElement"], packages)
            if (link["spdxElementId"], link["relationshipType"]) == ("SPDXRef-laneway", "DYNAMIC_LINK"):
                linked |= set(packages[link["relatedSpdxElement"]]["sourceInfo"].split("shared libraries: ")[1].split())
        needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", LANEWAY)))
        self.assertEqual(not BUNDLED, "librdkafka.so.1" in needed)
        self.assertEqual(set(), needed - linked)
        named = {one["name"]: one for one in bill["packages"]}
        client = named["librdkafka" if BUNDLED else "librdkafka1"]
        self.assertEqual("BSD-2-Clause", client["licenseDeclared"])
        if BUNDLED:
            self.assertIn(f"librdkafka {client['versionInfo']} (bundled)", output(LANEWAY, "version"))
            patches = sorted(patch.name for patch in (ROOT / "scripts" / "librdkafka").glob("*.patch"))
            self.assertIn(" ".join(patches), client["sourceInfo"])
            self.assertIn("STATIC_LINK", {link["relationshipType"] for link in bill["relationships"]
                                          if link["relatedSpdxElement"] == client["SPDXID"]})
        else:
            self.assertEqual(output("dpkg-query", "-W", "-f", "${Version}", "librdkafka1"), client["versionInfo"])
        self.assertIn("nlohmann-json3-dev", named)

    def contains(self, package, *paths):
        lines = output("dpkg-deb", "-c", package).splitlines()
        listed = [re.search(r" \./(\S+)", line)[1] for line in lines if " ./" in line and not line.endswith(" ./")]
        for path in paths:
            self.assertIn(path, listed)
        for line in lines:
            self.assertIn(" root/root ", line)
            self.assertNotRegex(line, r"^.{5}(...)?w", "writable by others")

    @unittest.skipUnless(shutil.which("logrotate"), "there is no logrotate")
    def test_logrotate_accepts_the_packaged_file(self):
        """Of each service, as the user of the test."""
        with tempfile.TemporaryDirectory(prefix="laneway-logrotate-") as folder:
            journals = [Path(folder) / service / "journal" for service in ("orders", "bills")]
            for journal in journals:
                journal.parent.mkdir()
                journal.write_text("{}\n")
            text = (ROOT / "config/logrotate/laneway").read_text()
            for old, new in (("/var/log/laneway", folder), ("su laneway laneway", f"su {output('id', '-un').strip()} {output('id', '-gn').strip()}")):
                self.assertIn(old, text)
                text = text.replace(old, new)
            file = Path(folder) / "laneway"
            file.write_text(text)
            file.chmod(0o644)
            output("logrotate", "--force", "--state", Path(folder) / "state", file)
            for journal in journals:
                self.assertFalse(journal.exists())
                self.assertEqual("{}\n", journal.with_name("journal.1").read_text())

    def test_the_manual_names_each_verb(self):
        manual = (ROOT / "docs" / "laneway.1").read_text()
        described = re.search(r"^\.SH VERBS\n(.*?)^\.SH ", manual, re.MULTILINE | re.DOTALL)[1]
        self.assertEqual(verbs(), re.findall(r"^\.TP\n\.B ([\w-]+)$", described, re.MULTILINE))
        for verb in verbs("dlq"):
            self.assertRegex(described, rf"(?m)^\.B {verb}$")
        codes = re.findall(r"int \w+ = (\d+);", (ROOT / "app" / "exit_code.h").read_text())
        self.assertEqual(codes, re.findall(r"^\.B (\d+)$", manual, re.MULTILINE))

    def complete(self, *words):
        script = f"""source {ROOT}/config/completion/laneway
            COMP_WORDS=({' '.join(f"'{word}'" for word in words)}) COMP_CWORD={len(words) - 1}
            _laneway; printf '%s\\n' "${{COMPREPLY[@]}}" """
        path = f"{Path(LANEWAY).parent}:{os.environ['PATH']}"
        return output("bash", "-c", script, env={**os.environ, "PATH": path}).split()

    def test_completion_of_verbs_and_options(self):
        self.assertEqual(verbs(), self.complete("laneway", ""))
        self.assertEqual(["redrive"], self.complete("laneway", "dlq", "r"))
        self.assertEqual(["suspend"], self.complete("laneway", "help", "su"))
        self.assertEqual(["list"], self.complete("laneway", "help", "dlq", "l"))
        self.assertEqual(["--config", "--connect"], self.complete("laneway", "check", "--c"))
        self.assertEqual([], self.complete("laneway", "run", "--set", ""))

    def test_completion_of_configurations(self):
        with tempfile.TemporaryDirectory(prefix="laneway-package-") as folder:
            for name in ("orders.yaml", "other.txt"):
                (Path(folder) / name).touch()
            self.assertEqual([f"{folder}/orders.yaml"], self.complete("laneway", "run", "-c", f"{folder}/o"))

    def test_the_other_shells_ask_the_help_as_bash_does(self):
        """The code that finds verbs and options in it is the same everywhere, and tested by bash, above."""
        picks = re.findall(r"(?:sed -n|grep(?: -o --)?) '[^']+'", (ROOT / "config/completion/laneway").read_text())
        self.assertEqual(3, len(picks))
        for name in ("_laneway", "laneway.fish"):
            text = (ROOT / "config" / "completion" / name).read_text()
            self.assertCountEqual(picks, re.findall(r"(?:sed -n|grep(?: -o --)?) '[^']+'", text), name)
        self.assertTrue((ROOT / "config/completion/_laneway").read_text().startswith("#compdef laneway\n"))

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_zsh(self):
        def complete(*words):
            script = f"""compadd() {{ shift; print -l -- "$@" }}
                laneway_words() {{ local -a words=("$@"); local CURRENT=$#words; source {ROOT}/config/completion/_laneway }}
                laneway_words {' '.join(f"'{word}'" for word in words)}"""
            return output("zsh", "-fc", script).split()
        self.assertEqual(verbs(), complete(LANEWAY, ""))
        self.assertIn("redrive", complete(LANEWAY, "dlq", ""))
        self.assertIn("--connect", complete(LANEWAY, "check", "--"))

    @unittest.skipUnless(shutil.which("fish"), "there is no fish")
    def test_fish(self):
        def complete(line):
            return output("fish", "--no-config", "-c", f"source {ROOT}/config/completion/laneway.fish; complete -C '{line}'",
                          env={**os.environ, "PATH": f"{Path(LANEWAY).parent}:{os.environ['PATH']}"}).split()
        self.assertEqual(set(verbs()), set(complete("laneway ")))
        self.assertIn("redrive", complete("laneway dlq "))
        self.assertIn("--connect", complete("laneway check --c"))


if __name__ == "__main__":
    unittest.main()
