"""moto, which answers the S3 protocol on loopback: the wheel, as pip downloads it, in a folder of the user's cache.

What moto needs is in Debian's packages (scripts/setup demo). The wheel is pinned by its SHA-256; the index is the one of the
user's configuration of pip.
"""
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from ...failure import Failure
from ...locks import locked

VERSION = "4.1.15"
SHA256 = "3fbcf91090692c30117d275fb34b48a075a6f65d4712ba6c4d004ffab976db46"


def install():
    """The folder to import moto from; downloads it when it is not there."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    target = base / "laneway" / f"moto-{VERSION}"
    if target.is_dir():
        return target
    with locked(target.with_name(target.name + ".lock")):
        if not target.is_dir():
            partial = target.with_name(target.name + ".partial")
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            unpack(download(partial), partial)
            partial.rename(target)
    return target


def download(folder):
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
               "--dest", str(folder), f"moto=={VERSION}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        raise Failure(f"pip could not download moto {VERSION}; is the network there, and pip (scripts/setup demo)?\n{done.stdout[-2000:]}")
    return wheels[0]


def unpack(wheel, folder):
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != SHA256:
        raise Failure(f"{wheel.name}, as pip brought it, is not the one that is pinned in {__file__}: its SHA-256 is {found}")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    wheel.unlink()
