"""What the image pipeline has stored, as JSON: {id: [what is wrong with the image]}

Each object of S3 is compared with the file of the same name (MD5) and, decoded, with the number in its picture and the size that
it must have; each image with its row of the catalogue. It judges nothing. It needs python3-boto3 and python3-pil.
"""
import argparse
import hashlib
import json
import sqlite3
from collections import defaultdict
from pathlib import Path

from . import picture
from .services import BUCKET, s3_client

LONGEST_SIDE = {"small": 96, "medium": 320, "large": 640}


def objects(endpoint):
    """{id: {size: ETag}}"""
    found = defaultdict(dict)
    for page in s3_client(endpoint).get_paginator("list_objects_v2").paginate(Bucket=BUCKET):
        for entry in page.get("Contents", ()):
            name, _, size = entry["Key"].removesuffix(".jpg").rpartition("/")
            found[name][size] = entry["ETag"].strip('"')
    return found


def rows(file):
    """{id: {sizes}}"""
    with sqlite3.connect(file) as database:
        return {name: {size["size"] for size in json.loads(sizes)} for name, sizes in database.execute("select id, sizes from images")}


def problems_of(name, number, sizes, in_catalogue, folder):
    """What is wrong with an image. `sizes`: {size: ETag}."""
    for size, side in LONGEST_SIDE.items():
        file = folder / name / f"{size}.jpg"
        if size not in sizes:
            yield f"{size} is not in S3"
        elif not file.exists():
            yield f"{size} is not a file"
        elif hashlib.md5(file.read_bytes()).hexdigest() != sizes[size]:
            yield f"{size} differs between S3 and the file"
        else:
            shown, shape = picture.read(file)
            if shown != number:
                yield f"{size} shows picture {shown}"
            if max(shape) != side:
                yield f"{size} has {shape} pixels"
    if in_catalogue != set(LONGEST_SIDE):
        yield f"the catalogue has {sorted(in_catalogue)}"


def main():
    parser = argparse.ArgumentParser(prog="audit")
    parser.add_argument("--s3", required=True, metavar="URL")
    parser.add_argument("--folder", required=True, type=Path)
    options = parser.parse_args()
    stored, catalogue = objects(options.s3), rows(options.folder / "catalogue.db")
    images = {}
    for name in sorted(stored.keys() | catalogue.keys()):
        number = int(name.rpartition("-")[2])
        images[name] = list(problems_of(name, number, stored.get(name, {}), catalogue.get(name, set()), options.folder / "files"))
    print(json.dumps(images))


if __name__ == "__main__":
    main()
