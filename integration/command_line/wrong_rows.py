"""What the tables of wrong files have in common: a row, and right texts to start from."""
from dataclasses import dataclass, field

KAFKA = "kafka:\n  bootstrap.servers: 127.0.0.1:9092\n  group.id: orders\n"
RIGHT = KAFKA + "topics: [orders]\nhandler:\n  log: {}\n"
HTTP = KAFKA + "topics: [orders]\nhandler:\n  http:\n    url: \"http://127.0.0.1:8080\"\n"
EXEC = KAFKA + "topics: [orders]\nhandler:\n  exec:\n    command: "
LINKS = {"LANEWAY_PORT": "tcp://10.0.0.7:9644", "LANEWAY_SERVICE_HOST": "10.0.0.7", "LANEWAY_SERVICE_PORT": "9644",
         "LANEWAY_SERVICE_PORT_ADMIN": "9644", "LANEWAY_PORT_9644_TCP": "tcp://10.0.0.7:9644",
         "LANEWAY_PORT_9644_TCP_PROTO": "tcp", "LANEWAY_PORT_9644_TCP_PORT": "9644", "LANEWAY_PORT_9644_TCP_ADDR": "10.0.0.7"}


@dataclass
class Row:
    """The mistake, the file's text, and the message."""
    name: str
    text: str
    message: str
    sets: list = field(default_factory=list)
    variables: dict = field(default_factory=dict)
    beside: list = field(default_factory=list)
    """Files in the folder of the configuration file. They are not executable."""
    code: int = 78


def brokers(text):
    return RIGHT.replace("127.0.0.1:9092", text)


def topics(text):
    return RIGHT.replace("[orders]", text)


def kafka(line):
    return KAFKA + f"  {line}\ntopics: [orders]\nhandler: log\n"
