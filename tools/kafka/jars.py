"""The jars of Apache Kafka, as Maven downloads them: a folder of the user's cache for each release."""
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from ..failure import Failure
from ..locks import locked

POM = Path(__file__).resolve().parent / "pom.xml"
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
DEFAULT, NEWEST = "4.1.1", "4.3.1"
# The digest_of() of the releases that tests use. Any other release is used as Maven delivers it.
PINNED = {
    "4.1.1": "e41fc051165a94bfb20c39ab7d1dd2eafe829f11abf6890e10df6dd4d38ff920",
    "4.3.1": "3679e088a48c03601ce93e33c418648c7313d6f29bceb78e73cf43a82a9583b7",
}


def wanted_version():
    """KAFKA_VERSION, where it is set: a number, or newest."""
    version = os.environ.get("KAFKA_VERSION") or DEFAULT
    return NEWEST if version == "newest" else version


def install(version):
    """The folder of jars; downloads them when they are not there."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    target = base / "laneway" / f"kafka-{version}"
    if target.is_dir():
        return target
    with locked(target.with_name(target.name + ".lock")):
        if not target.is_dir():
            partial = target.with_name(target.name + ".partial")
            shutil.rmtree(partial, ignore_errors=True)
            download(version, partial)
            verify(version, partial)
            partial.rename(target)
    return target


def download(version, folder):
    command = ["mvn", "-B", "-q", "-f", str(POM), PLUGIN, f"-DoutputDirectory={folder}", "-DincludeScope=runtime",
               f"-Dkafka.version={version}"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except FileNotFoundError:
        raise Failure("mvn is not installed; run: scripts/setup test")
    if done.returncode != 0:
        raise Failure(f"Maven could not download Kafka {version}:\n{done.stdout[-3000:]}")


def digest_of(folder):
    """SHA-256 of the lines that sha256sum prints of the jars, in the order of their names."""
    lines = "".join(f"{hashlib.sha256(jar.read_bytes()).hexdigest()}  {jar.name}\n" for jar in sorted(folder.iterdir()))
    return hashlib.sha256(lines.encode()).hexdigest()


def verify(version, folder):
    found, pinned = digest_of(folder), PINNED.get(version)
    if pinned and found != pinned:
        raise Failure(f"the jars of Kafka {version} that Maven brought to {folder} are not the ones that are pinned in {__file__}: "
                      f"their digest is {found}. Delete the jars in ~/.m2/repository and try again")
