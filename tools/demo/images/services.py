"""The web services around the image pipeline, in one program:

    GET  /originals/NUMBER.jpg   the images, as on somebody's web server
    POST /fetch                  {"source": "http://…"}: the image; 422 if there is none, 500 if it may come later
    POST /store                  a size of an image (Kafka-Key, Laneway-Part): a file and an object in S3, then where they are
    POST /catalogue              the three places of an image: a row of a database
    POST /mode                   {"delay": s, "status": 503}: how the store behaves; {} is as usual

Objects are named KEY/PART.jpg. What comes again is written again, under the same name with the same content. A store that fails
answers 503, so laneway waits for it, and no attempt counts.

Threads: one for each connection. It needs python3-boto3 and python3-pil.
"""
import argparse
import http.server
import json
import os
import re
import sqlite3
import threading
import time
import urllib.parse
from pathlib import Path

import boto3
import botocore.config
import botocore.exceptions

from . import picture
from .refused import Refused
from .sources import Sources

BUCKET = "images"
MOST_AT_ONCE = 64  # calls of S3
NAME = re.compile(r"[A-Za-z0-9-]{1,64}")


def s3_client(endpoint):
    settings = botocore.config.Config(max_pool_connections=MOST_AT_ONCE, connect_timeout=2, read_timeout=5,
                                      retries={"max_attempts": 1})  # laneway retries
    return boto3.client("s3", endpoint_url=endpoint, aws_access_key_id="demo", aws_secret_access_key="demo",
                        region_name="us-east-1", config=settings)


class Store:
    def __init__(self, endpoint, folder):
        self.s3, self.folder, self.mode = s3_client(endpoint), folder, {}

    def put(self, name, size, data):
        time.sleep(self.mode.get("delay", 0))
        if self.mode.get("status"):
            raise Refused(self.mode["status"], "the store is out")
        file = self.folder / name / f"{size}.jpg"
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(f".{threading.get_ident()}")
        partial.write_bytes(data)
        os.replace(partial, file)
        key = f"{name}/{size}.jpg"
        try:
            self.s3.put_object(Bucket=BUCKET, Key=key, Body=data, ContentType="image/jpeg")
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as error:
            raise Refused(503, str(error)) from error
        return {"size": size, "url": f"s3://{BUCKET}/{key}", "bytes": len(data)}


class Catalogue:
    """A database with a row for each image."""

    def __init__(self, file):
        self.lock, self.database = threading.Lock(), sqlite3.connect(file, check_same_thread=False)
        self.database.execute("create table if not exists images (id text primary key, sizes text, at real)")

    def enter(self, name, parts):
        """`parts`: as laneway gathers them."""
        sizes = [json.loads(part["results"][0]["value"]) for part in parts if not part.get("given_up")]
        if len(sizes) < len(parts):
            raise Refused(422, "a size of the image was given up")
        with self.lock, self.database:
            self.database.execute("insert or replace into images values (?, ?, ?)", (name, json.dumps(sizes), time.time()))


class Requests(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        found = re.fullmatch(r"/originals/(\d+)\.jpg", self.path)
        if self.path == "/originals/broken.jpg":
            self.answer(200, picture.draw(0)[:10_000], "image/jpeg")
        elif found:
            self.answer(200, picture.draw(int(found[1])), "image/jpeg")
        else:
            self.answer(404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        name = urllib.parse.unquote(self.headers.get("Kafka-Key", ""))
        size = urllib.parse.unquote(self.headers.get("Laneway-Part", ""))
        try:
            if self.path == "/fetch":
                image = self.server.sources.fetch(body, self.headers.get("Laneway-Delivery-Id"))
                return self.answer(200, image, "image/jpeg")
            if self.path == "/mode":
                self.server.store.mode = json.loads(body)
                return self.answer(204)
            if not NAME.fullmatch(name):
                raise Refused(422, "the key is no name of an image")
            if self.path == "/store" and NAME.fullmatch(size):
                return self.answer(200, json.dumps(self.server.store.put(name, size, body)).encode(), "application/json")
            if self.path == "/catalogue":
                self.server.catalogue.enter(name, json.loads(body))
                return self.answer(204)
            return self.answer(404)
        except Refused as refused:
            return self.answer(refused.status, str(refused).encode(errors="replace"), "text/plain")

    def answer(self, status, body=b"", kind=None):
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    sources = store = catalogue = None


def main():
    parser = argparse.ArgumentParser(prog="services")
    parser.add_argument("--port", type=int, default=8081)
    parser.add_argument("--s3", required=True, metavar="URL")
    parser.add_argument("--folder", required=True, type=Path, help="for the files and the catalogue")
    options = parser.parse_args()
    server = Server(("127.0.0.1", options.port), Requests)
    server.sources = Sources()
    server.store = Store(options.s3, options.folder / "files")
    server.catalogue = Catalogue(options.folder / "catalogue.db")
    server.store.s3.create_bucket(Bucket=BUCKET)
    for number in range(len(picture.SHAPES)):
        picture.draw(number)
    print("listening", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
