"""The broker's settings of a node, made of the cluster's state. Nothing is read or written here."""

USERS = {"admin": "admin-password", "worker": "worker-password"}
LOG4J = ("appender.out.type=Console\nappender.out.name=out\nappender.out.layout.type=PatternLayout\n"
         "appender.out.layout.pattern=%d %p %m (%c)%n\nrootLogger.level=WARN\nrootLogger.appenderRef.out.ref=out\n"
         "logger.groups.name=org.apache.kafka.coordinator.group\nlogger.groups.level=INFO\n")


def addresses(ports):
    return ",".join(f"127.0.0.1:{port}" for port in ports)


def open_ports(state):
    """The listeners without a password; the ports that brokers use among themselves."""
    return state.get("internal_ports") or state["ports"]


def properties(settings):
    return "".join(f"{key}={value}\n" for key, value in settings.items())


def broker_settings(state, number, folder):
    """The settings of node `number`, whose data is in `folder`; the ways to log in and the cluster's creator add more."""
    settings = plain(state, number, folder)
    if state.get("internal_ports"):
        settings.update(secured(state, number))
    return settings


def plain(state, number, folder):
    nodes = range(1, len(state["ports"]) + 1)
    controller_ports = state["controller_ports"]
    copies = len(nodes)
    in_sync = 2 if copies > 1 else 1
    return {
        "node.id": number,
        "process.roles": "broker,controller",
        "listeners": f"PLAINTEXT://127.0.0.1:{state['ports'][number - 1]},CONTROLLER://127.0.0.1:{controller_ports[number - 1]}",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": ",".join(f"{node}@127.0.0.1:{controller_ports[node - 1]}" for node in nodes),
        "log.dirs": folder / "data",
        "auto.create.topics.enable": "false",
        "default.replication.factor": copies,
        "min.insync.replicas": in_sync,
        "offsets.topic.replication.factor": copies,
        "offsets.topic.num.partitions": 4,
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": in_sync,
        "transaction.state.log.num.partitions": 4,
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": 1000,
        "share.coordinator.state.topic.replication.factor": copies,
        "share.coordinator.state.topic.min.isr": in_sync,
        "group.initial.rebalance.delay.ms": 0,
        # Members of group.protocol: consumer learn by these heartbeats which partitions they get and must give back.
        "group.consumer.heartbeat.interval.ms": 500,
        "group.consumer.min.heartbeat.interval.ms": 500,
        "group.consumer.min.session.timeout.ms": 5000,
        "group.consumer.max.session.timeout.ms": 300000,
        # A node that was killed may come back only when its old session has ended.
        "broker.session.timeout.ms": 4000,
        "broker.heartbeat.interval.ms": 500,
        # Tests check what the cleaner leaves; with the defaults they would wait for minutes.
        "log.cleaner.backoff.ms": 500,
        "log.retention.check.interval.ms": 1000,
        "num.io.threads": 4,
        "num.network.threads": 2,
    }


def secured(state, number):
    """Settings by which clients need a password and rights; brokers and controllers among themselves do not."""
    users = " ".join(f'user_{name}="{password}"' for name, password in USERS.items())
    return {
        "listeners": f"SASL_PLAINTEXT://127.0.0.1:{state['ports'][number - 1]},"
                     f"INTERNAL://127.0.0.1:{open_ports(state)[number - 1]},"
                     f"CONTROLLER://127.0.0.1:{state['controller_ports'][number - 1]}",
        "listener.security.protocol.map": "SASL_PLAINTEXT:SASL_PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "INTERNAL",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config":
            f"org.apache.kafka.common.security.plain.PlainLoginModule required {users};",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "false",
        "super.users": "User:admin;User:ANONYMOUS",
    }
