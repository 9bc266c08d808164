"""Wrong files, values and variables, and the messages that `laneway check` shows for them: a table of data.

Each message is complete, as a person sees it on standard error, without the end of the last line. The file is called orders.yaml;
FOLDER stands for its folder.
"""
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
    """What is wrong, the file's text, and the message."""
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


LAYOUT = [
    Row("a tab as indentation", RIGHT + "lanes:\n\tworkers: 3\n",
        "orders.yaml:8:1: this line is indented with a tab (indent with spaces: YAML allows no tabs)"),
    Row("a tab after right lines", RIGHT + "lanes:\n  workers: 3\n\tqueue: 3\n",
        "orders.yaml:9:1: this line is indented with a tab (indent with spaces: YAML allows no tabs)"),
    Row("a line indented too far", RIGHT + "lanes:\n  workers: 3\n   queue: 5\n",
        "orders.yaml:9:4: this line is indented by 3 spaces, line 8 above by 2 spaces (keys of one group need the "
        "same indentation)"),
    Row("a line indented too far below a value in quotes", HTTP + "     timeout: 10s\n",
        "orders.yaml:8:6: this line is indented by 5 spaces, line 7 above by 4 spaces (keys of one group need the "
        "same indentation)"),
    Row("a line indented too far below a list", KAFKA + "topics: [orders]\n  handler: log\n",
        "orders.yaml:5:3: this line is indented by 2 spaces, line 4 above by 0 spaces (keys of one group need the "
        "same indentation)"),
    Row("a line indented too little", RIGHT + "lanes:\n  workers: 3\n queue: 5\n",
        "orders.yaml:9:2: this line is indented by 1 space, which fits no group above (the lines above are indented "
        "by 0 or 2 spaces)"),
    Row("a group that is indented", RIGHT + " lanes:\n   workers: 3\n",
        "orders.yaml:7:2: this line is indented by 1 space, which fits no group above (the lines above are indented "
        "by 0 or 2 spaces)"),
    Row("a key that is not indented", RIGHT + "lanes:\nworkers: 3\n",
        "orders.yaml:8:1: workers: this key does not exist (indent it to put it into lanes, line 7)"),
    Row("no space after a colon", HTTP + "    timeout:10s\n",
        "orders.yaml:8:13: handler.http.timeout: the space after the colon is missing (write a space after timeout:)"),
    Row("no space after a colon, then a right line", RIGHT + "lanes:\n  workers:16\n  queue: 5\n",
        "orders.yaml:8:11: the space after the colon is missing (write a space after workers:)"),
    Row("no space after a colon in braces", RIGHT + "lanes: { workers:16 }\n",
        "orders.yaml:7:18: lanes.workers: the space after the colon is missing (write a space after workers:)"),
    Row("no space before the braces of a handler", KAFKA + "topics: [orders]\nhandler:\n  log:{}\n",
        "orders.yaml:6:7: handler.log: the space after the colon is missing (write a space after log:)"),
    Row("no space after the colon of a secret", kafka("sasl.password:open-sesame"),
        "orders.yaml:4:17: the space after the colon is missing (write a space after sasl.password:)"),
    Row("a bracket that is not closed", topics("[orders"),
        "orders.yaml:4:9: this [ is not closed (add the ] that is missing)"),
    Row("a quote that is not closed", RIGHT + 'journal: { file: "abc }\n',
        'orders.yaml:7:18: this " is not closed (add the " that is missing)'),
    Row("two colons in one line", "kafka:\n  group.id: a: b\n",
        "orders.yaml:2:14: a second colon with a space follows in the same line (put the value in quotes, or begin a "
        "new line for each key)"),
    Row("a value that begins with *", topics("[*]"),
        'orders.yaml:4:11: a value cannot begin with "*" (put the value in quotes)'),
    Row("a value that begins with @", RIGHT + "log: { level: @x }\n",
        'orders.yaml:7:15: a value cannot begin with "@" (put the value in quotes)'),
    Row("a variable in braces without quotes", RIGHT + "lanes: { workers: ${WORKERS} }\n",
        'orders.yaml:7:20: the YAML cannot be read here (inside { } and [ ] a variable needs quotes: "${NAME}")'),
    Row("a key that is set twice", RIGHT + "topics: [bills]\n",
        "orders.yaml:7:1: topics: this key is set twice (remove one; the first is in line 4)"),
    Row("two documents", RIGHT + "---\nlanes: {}\n",
        "orders.yaml:7:1: a second YAML document begins here (a configuration is one document: remove this ---)"),
    Row("an empty file", "",
        "orders.yaml: the file is empty (write at least kafka, topics and handler; laneway help keys prints all keys)"),
    Row("a file without keys", "hello\n",
        'orders.yaml:1:1: found "hello" (expected keys with values, such as topics: [orders])'),
]

NAMES = [
    Row("a misspelt key", RIGHT + "lanes: { wrokers: 3 }\n",
        "orders.yaml:7:10: lanes.wrokers: this key does not exist (did you mean lanes.workers?)"),
    Row("a misspelt group", RIGHT + "lane: { workers: 3 }\n",
        "orders.yaml:7:1: lane: this key does not exist (did you mean lanes?)"),
    Row("a key that is like no other", RIGHT + "xylophone: 3\n",
        "orders.yaml:7:1: xylophone: this key does not exist (laneway help keys prints all keys)"),
    Row("a name with dots in the file", RIGHT + "lanes.workers: 3\n",
        "orders.yaml:7:1: lanes.workers: this key does not exist (in the file, write nested keys; names with dots "
        "are for --set and for the keys below kafka)"),
    Row("dlq", RIGHT + "dlq: orders-dlq\n",
        "orders.yaml:7:1: dlq: this key does not exist (did you mean dead_letter.topic?)"),
    Row("dead_letter_queue with keys", RIGHT + "dead_letter_queue: { topic: x }\n",
        "orders.yaml:7:1: dead_letter_queue: this key does not exist (did you mean dead_letter.topic?)"),
    Row("logging", RIGHT + "logging: { level: debug }\n",
        "orders.yaml:7:1: logging: this key does not exist (did you mean log?)"),
    Row("brokers and group_id", "brokers: [127.0.0.1:9092]\ngroup_id: orders\ntopics: [orders]\nhandler: log\n",
        "orders.yaml:1:1: brokers: this key does not exist (did you mean kafka.bootstrap.servers?)\n"
        "orders.yaml:2:1: group_id: this key does not exist (did you mean kafka.group.id?)"),
    Row("concurrency", RIGHT + "concurrency: 16\n",
        "orders.yaml:7:1: concurrency: this key does not exist (did you mean lanes.workers?)"),
    Row("webhook", KAFKA + 'topics: [orders]\nwebhook: { url: "http://127.0.0.1:8080" }\n',
        "orders.yaml:5:1: webhook: this key does not exist (did you mean handler.http?)"),
    Row("max_retries", RIGHT + "max_retries: 3\n",
        "orders.yaml:7:1: max_retries: this key does not exist (did you mean retry.attempts?)"),
    Row("port", RIGHT + "port: 9000\n",
        "orders.yaml:7:1: port: this key does not exist (did you mean admin.listen?)"),
    Row("timeout beside the handler", HTTP + "timeout: 3s\n",
        "orders.yaml:8:1: timeout: this key does not exist (did you mean handler.http.timeout?)"),
    Row("a key of the Java clients", kafka("sasl.jaas.config: x"),
        "orders.yaml:4:3: kafka.sasl.jaas.config: laneway does not accept this key: this is a key of Kafka's Java "
        "clients (use sasl.username and sasl.password_file, or the keys of the mechanism (docs/access.md), instead)"),
    Row("a key that laneway sets itself", kafka("enable.auto.commit: false"),
        "orders.yaml:4:3: kafka.enable.auto.commit: laneway does not accept this key: laneway commits finished "
        "records itself (use commit.interval and commit.every instead)"),
    Row("no handler", KAFKA + "topics: [orders]\n",
        "orders.yaml: handler: this key is missing (the work for each record: one of log, simulate, http, exec, "
        "plugin, produce)"),
    Row("two handlers", HTTP + "  log: {}\n",
        "orders.yaml:8:8: handler.log: the handler http is set already, and a service has one handler (remove one of "
        "the two; --set handler=log replaces the handler of the file)"),
]

VALUES = [
    Row("a variable that is not set", RIGHT + "journal:\n  file: ${JOURNAL_OF_ORDERS}\n",
        "orders.yaml:8:9: journal.file: the environment has no variable JOURNAL_OF_ORDERS (set the variable, or "
        "write $${ for ${ itself)"),
    Row("a duration without a unit", RIGHT + "lanes: { drain: 20 }\n",
        'orders.yaml:7:17: lanes.drain: found "20", which has no unit (expected a duration from 0s to 1h, such as '
        "500ms, 2s or 1m)"),
    Row("a size with a wrong unit", RIGHT + "lanes: { memory: 1GB }\n",
        'orders.yaml:7:18: lanes.memory: found "1GB", which has an unknown unit (expected a size from 1MiB to 1TiB, '
        "such as 64MiB or 1GiB)"),
    Row("a number out of range", RIGHT + "lanes: { workers: 0 }\n",
        'orders.yaml:7:19: lanes.workers: found "0", which is out of range (expected a whole number from 1 to 4096)'),
    Row("a word that is no choice", RIGHT + "lanes: { order: sorted }\n",
        'orders.yaml:7:17: lanes.order: found "sorted" (expected one of none, key, partition)'),
    Row("yes for true", RIGHT + "admin: { enabled: yes }\n",
        'orders.yaml:7:19: admin.enabled: found "yes" (expected true or false)'),
    Row("a scheme before a broker", brokers("kafka://host:9092"),
        'orders.yaml:2:22: kafka.bootstrap.servers: "kafka://host:9092" begins with "kafka://"; write "host:9092", '
        "and the protocol in security.protocol, which is plaintext (expected HOST:PORT, several separated by commas)"),
    Row("a broker's port that is too large", brokers("host:90920"),
        'orders.yaml:2:22: kafka.bootstrap.servers: "host:90920" has no port from 1 to 65535 after the colon '
        "(expected HOST:PORT, several separated by commas)"),
    Row("a broker's port 0", brokers("host:0"),
        'orders.yaml:2:22: kafka.bootstrap.servers: "host:0" has no port from 1 to 65535 after the colon (expected '
        "HOST:PORT, several separated by commas)"),
    Row("a broker with two ports", brokers("host:9092:9092"),
        'orders.yaml:2:22: kafka.bootstrap.servers: "host:9092:9092" is not HOST:PORT (expected HOST:PORT, several '
        "separated by commas)"),
    Row("a broker's port without a host", brokers('":9092"'),
        'orders.yaml:2:22: kafka.bootstrap.servers: ":9092" is not HOST:PORT (expected HOST:PORT, several separated '
        "by commas)"),
    Row("a broker's port that is no number", brokers("host:abc"),
        'orders.yaml:2:22: kafka.bootstrap.servers: "host:abc" has no port from 1 to 65535 after the colon (expected '
        "HOST:PORT, several separated by commas)"),
    Row("a web address as broker", brokers("http://host:9092"),
        'orders.yaml:2:22: kafka.bootstrap.servers: "http://host:9092" is the address of a web server, and not of a '
        "broker (expected HOST:PORT, several separated by commas)"),
    Row("a pattern that does not compile", topics('["^orders-("]'),
        'orders.yaml:4:10: topics: found "^orders-(": the pattern does not compile (POSIX extended syntax): '
        "Unmatched ( or \\( (expected a list of topic names, or one pattern that starts with ^)"),
    Row("a pattern that matches the topic of the commits", topics('["^.*"]'),
        'orders.yaml:4:10: topics: found "^.*": the pattern also matches __consumer_offsets, to which each commit '
        "adds a record, so the lag would never end; begin with ^[^_] to exclude Kafka's own topics (expected a list "
        "of topic names, or one pattern that starts with ^)"),
    Row("topics in one text", topics("orders, bills"),
        'orders.yaml:4:9: topics: found "orders, bills", which contains a character other than letters, digits, dot, '
        "underscore and hyphen (expected a list of topic names, or one pattern that starts with ^; write topics: "
        "[orders, bills])"),
    Row("a command in one text", EXEC + "python3 work.py\n",
        'orders.yaml:7:14: handler.exec.command: found "python3 work.py": no shell splits this line into words; '
        'write each word by itself: ["python3", "work.py"] (expected a list: a program and its arguments; write '
        "command: [python3, work.py])"),
    Row("a program that is not in PATH", EXEC + "[pythn3, work.py]\n",
        'orders.yaml:7:14: handler.exec.command: "pythn3" is not a program in PATH; searched /usr/bin, /bin (write '
        "the path of the program, or add its folder to PATH)",
        variables={"PATH": "/usr/bin:/bin"}),
    Row("a script without a path", EXEC + "[work.py]\n",
        'orders.yaml:7:14: handler.exec.command: "work.py" is not a program in PATH; searched /usr/bin, /bin (the '
        "configuration file's folder has this file: write ./work.py, or the program that runs the file before it, "
        "such as python3)",
        variables={"PATH": "/usr/bin:/bin"}, beside=["work.py"]),
    Row("a script that does not exist", EXEC + "[./gone.py]\n",
        "handler.exec.command: FOLDER/gone.py cannot be executed: No such file or directory (check the path; a "
        "relative path begins in the configuration file's folder)"),
    Row("a script that is not executable", EXEC + "[./work.py]\n",
        "handler.exec.command: FOLDER/work.py cannot be executed: Permission denied (name a program that this user "
        "may execute: chmod +x, or the program that runs the file, such as python3, before it)",
        beside=["work.py"]),
]

RULES = [
    Row("a backoff above the longest", RIGHT + "retry: { backoff: 1m }\n",
        "orders.yaml:7:19: retry.backoff: retry.backoff is 1m, more than retry.max_backoff, 30s (lower "
        "retry.backoff, or raise retry.max_backoff)"),
    Row("dead letters to a consumed topic", RIGHT + "dead_letter: { topic: orders }\n",
        "orders.yaml:7:23: dead_letter.topic: the dead letters of orders would go to orders, which is consumed too "
        '(choose another name, such as "{topic}-dlt")'),
    Row("retry topics without a dead-letter topic", RIGHT + "retry: { topics: [5s] }\n",
        "orders.yaml:7:18: retry.topics: a record that fails after the last retry topic needs a dead-letter topic "
        '(set dead_letter.topic, such as "{topic}-dlt")'),
    Row("a drain that is too long for the group", RIGHT + "lanes: { drain: 10m }\n",
        "orders.yaml:7:17: lanes.drain: lanes.drain is 10m, not less than max.poll.interval.ms, 5m: the group would "
        "remove this member during a drain (set a shorter lanes.drain, or a longer max.poll.interval.ms)"),
    Row("a login without TLS", kafka("sasl.username: me"),
        "orders.yaml:4:18: kafka.sasl.username: this key has no effect while security.protocol is plaintext (set "
        "security.protocol: sasl_ssl or sasl_plaintext)"),
]

OUTSIDE_THE_FILE = [
    Row("--set without a value", RIGHT,
        "--set lanes.workers: expected KEY=VALUE (such as --set lanes.workers=16)",
        sets=["lanes.workers"], code=64),
    Row("--set of a group", RIGHT,
        "--set lanes: this is a group of keys (name one key of the group, such as lanes.workers)",
        sets=["lanes=3"], code=64),
    Row("--set of a misspelt key", RIGHT,
        "--set lanes.wrokers: this key does not exist (did you mean lanes.workers?)",
        sets=["lanes.wrokers=3"], code=64),
    Row("--set topics with a comma", RIGHT,
        '--set topics: found "orders,bills", which contains a character other than letters, digits, dot, underscore '
        "and hyphen (expected a list of topic names, or one pattern that starts with ^; write --set topics='[orders, bills]')",
        sets=["topics=orders,bills"], code=64),
    Row("--set of a list that is not closed", RIGHT,
        '--set topics: found "[orders": this [ is not closed (expected a list of topic names, or one pattern that '
        "starts with ^; write --set topics='[a, b]')",
        sets=["topics=[orders"], code=64),
    Row("--set of a command in one text", EXEC + "[sh]\n",
        '--set handler.exec.command: found "python3 work.py": no shell splits this line into words; write each word '
        'by itself: ["python3", "work.py"] (expected a list: a program and its arguments; write --set '
        "handler.exec.command='[python3, work.py]')",
        sets=["handler.exec.command=python3 work.py"], code=64),
    Row("--set of a second handler", RIGHT,
        "--set handler.exec.command: the handler log is set already, and a service has one handler (remove one of "
        "the two; --set handler=exec replaces the handler of the file)",
        sets=['handler.exec.command=["sh"]'], code=64),
    Row("--set of a secret", RIGHT,
        "--set kafka.sasl.password: every user of the machine can see a secret on the command line (use "
        "kafka.sasl.password_file, or the variable LANEWAY_KAFKA__SASL_PASSWORD)",
        sets=["kafka.sasl.password=x"], code=64),
    Row("a misspelt variable", RIGHT,
        "LANEWAY_LANES__WORKRES: this key does not exist (did you mean LANEWAY_LANES__WORKERS?)",
        variables={"LANEWAY_LANES__WORKRES": "3"}),
    Row("a variable with one underscore", RIGHT,
        "LANEWAY_LANES_WORKERS: this key does not exist (did you mean LANEWAY_LANES__WORKERS?)",
        variables={"LANEWAY_LANES_WORKERS": "3"}),
    Row("a variable by the name of another program", RIGHT,
        "LANEWAY_DLQ: this key does not exist (did you mean LANEWAY_DEAD_LETTER__TOPIC?)",
        variables={"LANEWAY_DLQ": "x"}),
    Row("a variable with topics in one text", RIGHT,
        "LANEWAY_TOPICS: topics: found a value that is not shown, which contains a character other than letters, "
        "digits, dot, underscore and hyphen (expected a list of topic names, or one pattern that starts with ^; "
        "write LANEWAY_TOPICS='[a, b]')",
        variables={"LANEWAY_TOPICS": "orders,bills"}),
    Row("the variables of a Kubernetes Service", RIGHT,
        "warning: LANEWAY_PORT, LANEWAY_PORT_9644_TCP, LANEWAY_PORT_9644_TCP_ADDR, LANEWAY_PORT_9644_TCP_PORT and 4 "
        "more are ignored: Kubernetes sets these variables for the Service laneway (set enableServiceLinks: false in "
        "the pod's spec to end this)",
        variables=LINKS, code=0),
    Row("the variables of a Service and a misspelt key", RIGHT,
        "LANEWAY_LANES__WORKRES: this key does not exist (did you mean LANEWAY_LANES__WORKERS?)",
        variables={"LANEWAY_X_SERVICE_HOST": "10.0.0.7", "LANEWAY_LANES__WORKRES": "3"}),
]

ROWS = [*LAYOUT, *NAMES, *VALUES, *RULES, *OUTSIDE_THE_FILE]
