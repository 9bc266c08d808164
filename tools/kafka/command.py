"""A real Apache Kafka on loopback, for tests, benchmarks and trying things.

  scripts/kafka install                      download Kafka's jars by Maven, once (tools/kafka/jars.py)
  scripts/kafka start [--nodes 3]            start (a new or the existing cluster) and print the bootstrap address: 127.0.0.1:9092
                                             if that port is free
  scripts/kafka status | env                 nodes and addresses; shell lines with the address
  scripts/kafka stop [--kill] [--node N]     stop all or one node; --kill: kill -9
  scripts/kafka restart [--kill] [--node N]  the same and start again, at the same address
  scripts/kafka wipe                         kill -9 and delete the data
  scripts/kafka password USER=PASSWORD       make the user, or change its password (SCRAM-SHA-512)

A cluster started with --secured authenticates its clients (SASL_PLAINTEXT, PLAIN) and checks their rights (ACLs; at first
no user has any right). Its users are "worker" with password "worker-password", and "admin" with "admin-password", who has
all rights. Clients of the address that `env` calls KAFKA_ADMIN_BOOTSTRAP need no login and also have all rights. A cluster
that is started with --access additionally has a listener for each other way to log in (tools/kafka/access).

KAFKA_VERSION=newest installs the newest tested release, and new clusters use this release; KAFKA_VERSION=3.9.1 that release.

--dir DIR holds one cluster (data, logs, pids), so several run side by side; only the cluster of the default folder uses
port 9092, for its first node. --while PID ties a cluster to that process: when the process ends, however it ends, the
nodes are killed.
"""
import argparse
import sys
from pathlib import Path

from ..failure import Failure
from ..locks import locked
from .cluster import Cluster
from .jars import install, wanted_version
from .watcher import end_with, lock_of, watch

ROOT = Path(__file__).resolve().parents[2]
USUAL_DIR = ROOT / "build" / "kafka"
USUAL_PORT = 9092  # the port that every page and every example names
TAKEN = """scripts/kafka: port 9092 was taken when this cluster was created, so the cluster has the address below. The pages and
the example files name 127.0.0.1:9092; to use them as they are, add this to each command of laneway:
  --set kafka.bootstrap.servers={address}
and pass --bootstrap {address} to kafka_tool"""
VERBS = ["install", "start", "stop", "restart", "status", "env", "wipe", "password", "watch"]


def start(cluster, options):
    cluster.folder.mkdir(parents=True, exist_ok=True)
    usual = options.dir == USUAL_DIR
    if cluster.state is None:
        cluster.create(options.nodes, options.heap, dict(pair.split("=", 1) for pair in options.config),
                       options.secured or options.access, options.access, USUAL_PORT if usual else None)
    if options.parent:
        end_with(cluster.folder, options.parent)
    cluster.start(options.node)
    if usual and cluster.state["ports"][0] != USUAL_PORT:
        print(TAKEN.format(address=cluster.bootstrap()), file=sys.stderr)
    print(cluster.bootstrap())


def status(cluster):
    for node in cluster.nodes():
        pid = node.pid()
        print(f"node {node.number} 127.0.0.1:{node.port} " + (f"running pid {pid}" if pid else "stopped"))


def run(options):
    if options.verb == "install":
        install(wanted_version())
        return
    if options.verb == "watch":
        watch(options.dir, int(options.argument))
        return
    with locked(lock_of(options.dir)):
        cluster = Cluster(options.dir)
        if options.verb == "start":
            start(cluster, options)
        elif options.verb == "stop":
            cluster.stop(options.kill, options.node)
        elif options.verb == "restart":
            cluster.stop(options.kill, options.node)
            cluster.start(options.node)
        elif options.verb == "status":
            status(cluster)
        elif options.verb == "env":
            cluster.nodes()
            print(f"export KAFKA_BOOTSTRAP={cluster.bootstrap()} KAFKA_ADMIN_BOOTSTRAP={cluster.admin_bootstrap()}")
        elif options.verb == "password":
            cluster.set_password(*options.argument.split("=", 1))
        elif options.verb == "wipe":
            cluster.wipe()


def parse(arguments):
    parser = argparse.ArgumentParser(prog="scripts/kafka", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", type=Path, default=USUAL_DIR, help="default: build/kafka")
    parser.add_argument("verb", choices=VERBS)
    parser.add_argument("argument", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("--nodes", type=int, default=1, choices=[1, 3], help="of a new cluster")
    parser.add_argument("--heap", default="1g", help="of each node of a new cluster; default: 1g")
    parser.add_argument("--config", action="append", default=[], metavar="KEY=VALUE", help="broker setting of a new cluster")
    parser.add_argument("--secured", action="store_true", help="a new cluster asks for passwords and has ACLs, see above")
    parser.add_argument("--access", action="store_true", help="--secured, with a listener for each way to log in, see above")
    parser.add_argument("--while", dest="parent", type=int, metavar="PID", help="kill the nodes when this process has ended")
    parser.add_argument("--node", type=int, help="only this one")
    parser.add_argument("--kill", action="store_true", help="kill -9 instead of an orderly stop")
    return parser.parse_args(arguments)


def main(arguments=None):
    """The exit code."""
    try:
        run(parse(arguments))
    except Failure as failure:
        print(f"scripts/kafka: {failure}", file=sys.stderr)
        return 69
    return 0
