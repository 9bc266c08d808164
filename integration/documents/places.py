"""Where the commands of the pages are run: in a checkout, or with the files of an unpacked Debian package."""
import atexit
import functools
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from pages import PACKAGED, PAGES, ROOT, in_repository

LONGEST = 120  # a hang is a failure; nothing passes or fails by being faster


def environment_of(folder):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LANEWAY_")}
    return {**kept, "PATH": f"{folder}:{os.environ['PATH']}"}


class Checkout:
    """A folder that looks like a checkout which was built, for commands that write there."""

    def __init__(self, folder):
        self.folder, self.pages, self.laneway = folder, PAGES, os.environ["LANEWAY"]
        for name in ("scripts", "tools"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "config").symlink_to(ROOT / "config")
        (folder / "laneway").symlink_to(self.laneway)
        (folder / "build").mkdir()
        for name in ("app", "integration"):
            (folder / "build" / name).symlink_to(Path(os.environ["BUILD"]) / name)

    @staticmethod
    def here(text):
        return re.sub(PACKAGED + r"[\w/.-]+\w", lambda found: str(in_repository(found[0])), text)


@functools.cache
def unpacked():
    """The root of a machine that has this build's package, unpacked and not installed; it is there until this process ends."""
    holder = tempfile.TemporaryDirectory(prefix="laneway-documents-package-")
    atexit.register(holder.cleanup)
    folder = Path(holder.name)
    subprocess.run(["cpack", "-D", "CPACK_COMPONENTS_ALL=runtime", "--config", Path(os.environ["BUILD"]) / "CPackConfig.cmake"],
                   cwd=folder, check=True, timeout=2 * LONGEST, stdout=subprocess.DEVNULL)
    (deb,) = folder.glob("laneway_*.deb")
    subprocess.run(["dpkg-deb", "-x", deb, folder / "root"], check=True, timeout=LONGEST)
    return folder / "root"


class Package:
    """The program, the pages and the examples that a user of the Debian package has."""

    def __init__(self, folder):
        self.folder, self.laneway = folder, unpacked() / "usr/bin/laneway"
        (folder / "laneway").symlink_to(self.laneway)
        self.documents = unpacked() / PACKAGED.lstrip("/")
        self.pages = sorted(self.documents.glob("*.md"))

    def here(self, text):
        """As the pages say: `laneway` for `build/app/laneway`, and the package's examples for `config/`; kafka_tool is the producer."""
        text = text.replace("build/app/laneway", "laneway").replace(PACKAGED, f"{self.documents}/")
        text = text.replace("build/integration/kafka_tool/kafka_tool", os.environ["KAFKA_TOOL"])
        return re.sub(r"(?<![\w/.-])config/(?:examples/)?(?=[\w/]+\.)", f"{self.documents}/examples/", text)
