"""What the image pipeline's program that resizes (config/examples/exec/resize.py) makes of strange files."""
import base64
import io
import json
import struct
import subprocess
import unittest
import zlib
from pathlib import Path

from tools.demo.images.around import PYTHON

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "config/examples/exec/resize.py"
WITHIN = 50  # s
SIDE = 700  # pixels
TURNED = struct.pack("<HHIHxx", 0x112, 3, 1, 6)  # an entry of Exif: the picture is to be turned
WRONG_TABLE = struct.pack("<HHII", 0x8769, 1, 1, 38)  # another: a table, but of a type that is a number


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def exif(*entries):
    return chunk(b"eXIf", b"II*\0" + struct.pack("<IH", 8, len(entries)) + b"".join(entries) + bytes(4))


def text(name, value):
    return chunk(b"tEXt", name + b"\0" + value)


def png(*chunks):
    """A grey square, with these chunks."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + chunk(b"IDAT", zlib.compress(bytes(SIDE * (SIDE + 1)))) + chunk(b"IEND", b"")


def has_pillow():
    return subprocess.run([PYTHON, "-c", "import PIL"], stderr=subprocess.DEVNULL, check=False).returncode == 0


@unittest.skipUnless(has_pillow(), "python3-pil is not installed (scripts/setup demo)")
class Resizing(unittest.TestCase):
    def verdicts(self, *files):
        lines = io.StringIO()
        for number, data in enumerate(files):
            lines.write(json.dumps({"id": number, "base64": True, "value": base64.b64encode(data).decode()}) + "\n")
        done = subprocess.run([PYTHON, "-B", PROGRAM], input=lines.getvalue(), capture_output=True, text=True, timeout=WITHIN, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_an_image_is_stored_whatever_its_metadata(self):
        files = (png(), png(text(b"comment", b"x" * 100)), png(text(b"comment", b"x" * 100_000)), png(text(b"dpi", b"abc")),
                 png(exif(TURNED)))
        for verdict in self.verdicts(*files):
            self.assertEqual("done", verdict["outcome"], verdict.get("reason"))
            self.assertEqual(["large", "medium", "small"], [result["id"] for result in verdict["results"]])
            for result in verdict["results"]:
                self.assertFalse(b"xxx" in base64.b64decode(result["value"]), "the text was passed on")

    def test_a_file_that_can_never_be_stored_is_rejected(self):
        files = (b"", b"text", png()[:500], png(exif(TURNED, WRONG_TABLE)))
        for number, verdict in enumerate(self.verdicts(*files)):
            self.assertEqual("reject", verdict["outcome"], (number, verdict.get("reason")))


if __name__ == "__main__":
    unittest.main()
