#!/usr/bin/python3
"""A program for laneway's exec handler in a pool with a next one: makes three sizes of an image, each a sub-job for the next pool.

It needs Pillow (the Debian package python3-pil), and is started by config/examples/image-pipeline.yaml. The record's value is an
image file; the results are JPEG files with the ids small, medium and large. What is no image, or cannot be written as one, is
rejected: all work depends on the file alone. A file that makes the decoder crash, or take too long, ends this process alone.
"""
import base64
import io
import json
import sys

from PIL import Image, ImageOps, UnidentifiedImageError

LONGEST_SIDE = {"large": 640, "medium": 320, "small": 96}  # pixels, the largest first: each size is made from the one before
FORMATS = ("JPEG", "PNG", "WEBP")  # a decoder that is not needed cannot be attacked
Image.MAX_IMAGE_PIXELS = 50_000_000  # twice as many are refused before they are decoded
QUALITY = 82


def sizes(data):
    """[(id, JPEG file)]. Raises ValueError if it is not an image."""
    try:
        return written(decoded(data))
    except UnidentifiedImageError:
        raise ValueError(f"this is no image of the formats {', '.join(FORMATS)}") from None
    except MemoryError:
        raise
    except Exception as error:  # Pillow raises TypeError, KeyError, struct.error and more for wrong metadata
        raise ValueError(f"this image cannot be decoded and written: {error}") from error


def decoded(data):
    """The image, upright and without its metadata."""
    image = Image.open(io.BytesIO(data), formats=FORMATS)
    if image.format != "JPEG":
        image = image.convert("RGB")
    shrink(image, max(LONGEST_SIDE.values()))  # before anything else: a JPEG is then decoded at a fraction of its size
    image = ImageOps.exif_transpose(image).convert("RGB")
    image.info = {}  # save() would write a PNG's text named comment, which may be too long for a JPEG
    return image


def written(image):
    made = []
    for name, side in LONGEST_SIDE.items():
        shrink(image, side)
        file = io.BytesIO()
        image.save(file, "JPEG", quality=QUALITY)
        made.append((name, file.getvalue()))
    return made


def shrink(image, side):
    """Never larger than it was."""
    image.thumbnail((side, side), Image.Resampling.LANCZOS, reducing_gap=2.0)


def verdict(record):
    value = record["value"] or ""
    data = base64.b64decode(value) if record.get("base64") else value.encode()
    try:
        results = [{"id": name, "base64": True, "value": base64.b64encode(file).decode()} for name, file in sizes(data)]
    except ValueError as error:
        return {"outcome": "reject", "reason": str(error)}
    except Exception as error:  # the memory, for example: it may work later
        return {"outcome": "retry", "reason": f"{type(error).__name__}: {error}"}
    return {"outcome": "done", "results": results}


def main():
    for line in sys.stdin:
        record = json.loads(line)
        print(json.dumps({"id": record["id"], **verdict(record)}), flush=True)


if __name__ == "__main__":
    main()
