"""Wrong files, values and variables, and the messages that `laneway check` shows for them: a table of data.

Each message is complete, as a person sees it on standard error, without the end of the last line. The file is called orders.yaml;
FOLDER stands for its folder.
"""
from wrong_pools import MISTAKES_IN_POOLS
from wrong_rows import EXEC, HTTP, KAFKA, LINKS, RIGHT, Row, brokers, kafka, topics
from wrong_yaml import LAYOUT

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
    Row("a name with capital letters", RIGHT + "deadLetterTopic: x\n",
        "orders.yaml:7:1: deadLetterTopic: this key does not exist (did you mean dead_letter.topic?)"),
    Row("a word that another group has", RIGHT + "dead_letter: { file: /d }\n",
        "orders.yaml:7:16: dead_letter.file: this key does not exist (the keys of dead_letter are topic, headers, create, "
        "max_rate)"),
    Row("a merge key", RIGHT + "lanes:\n  <<: { workers: 3 }\n",
        "orders.yaml:8:3: found a merge key (<<) (write the keys themselves: merge keys are not supported)"),
    Row("the value of a handler without its key", KAFKA + "topics: [orders]\nhandler:\n  http: http://127.0.0.1:8080\n",
        'orders.yaml:6:9: handler.http: found "http://127.0.0.1:8080" (expected a group of keys, such as http: { url: '
        '"http://127.0.0.1:8080/orders" })'),
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
        "plugin, produce, fan_out)"),
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
        'orders.yaml:7:19: lanes.workers: found "0", which is out of range (expected a whole number from 1 to 4096, or { min, max, algorithm })'),
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
    Row("a broker's name with a variable of the shell", brokers('"$KAFKA:9092"'),
        'orders.yaml:2:22: kafka.bootstrap.servers: "$KAFKA:9092" contains a character that no host name has (expected '
        "HOST:PORT, several separated by commas)"),
    Row("brokers as a list", brokers("[a:9092, b:9092]"),
        "orders.yaml:2:22: kafka.bootstrap.servers: found a list (expected one text, with commas; write bootstrap.servers: "
        '"a:9092,b:9092")'),
    Row("a login without a mechanism", kafka("security.protocol: sasl_ssl"),
        "orders.yaml:4:22: kafka.security.protocol: kafka.sasl.mechanism is missing; without this key the login uses "
        "Kerberos (set sasl.mechanism: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or GSSAPI)"),
    Row("an address with a protocol", RIGHT + 'admin: { listen: "http://127.0.0.1:9644" }\n',
        'orders.yaml:7:18: admin.listen: found "http://127.0.0.1:9644", which begins with "http://"; write HOST:PORT '
        "(expected HOST:PORT or HOST:FIRST-LAST; port 0 takes a free port)"),
    Row("a pattern without its first character", topics("[orders.*]"),
        'orders.yaml:4:10: topics: found "orders.*", which contains a character other than letters, digits, dot, underscore '
        "and hyphen; a pattern starts with ^ (expected a list of topic names, or one pattern that starts with ^)"),
    Row("a pattern that does not compile", topics('["^orders-("]'),
        'orders.yaml:4:10: topics: found "^orders-(": the pattern does not compile (POSIX extended syntax): '
        "Unmatched ( or \\( (expected a list of topic names, or one pattern that starts with ^)"),
    Row("a pattern with an escape of other languages", topics("['^orders-\\d+$']"),
        "orders.yaml:4:10: topics: found \"^orders-\\\\d+$\": POSIX extended syntax has no \\d; write [0-9] (expected a "
        "list of topic names, or one pattern that starts with ^)"),
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
        "orders.yaml:7:14: handler.exec.command: FOLDER/gone.py cannot be executed: No such file or directory (check the path; a "
        "relative path begins in the configuration file's folder)"),
    Row("a script of an interpreter that does not exist", EXEC + "[sh, gone.sh]\n",
        "orders.yaml:7:14: handler.exec.command: FOLDER/gone.sh does not exist, or is not a file (check the path; a "
        "relative path begins in the configuration file's folder)"),
    Row("a program and its argument in one word", EXEC + '["/usr/bin/env sh"]\n',
        "orders.yaml:7:14: handler.exec.command: /usr/bin/env sh cannot be executed: no shell splits this line into words "
        "(write each word by itself: [/usr/bin/env, sh])"),
    Row("a script that is not executable", EXEC + "[./work.py]\n",
        "orders.yaml:7:14: handler.exec.command: FOLDER/work.py cannot be executed: Permission denied (name a program that this user "
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
    Row("--set of a group of a handler", HTTP,
        "--set handler.http.batch: this is a group of keys (name one key of the group, such as handler.http.batch.records)",
        sets=["handler.http.batch={ records: 50 }"], code=64),
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

ROWS = [*LAYOUT, *NAMES, *VALUES, *RULES, *MISTAKES_IN_POOLS, *OUTSIDE_THE_FILE]
