"""Wrong command lines, each with its exit code and the first line that the user gets.

`orders.yaml` is right, names brokers and a service that do not answer, and has no dead-letter topic. {closed} is an address that
nothing listens on, {other} an HTTP server that is not laneway and knows no POST, {helpful} one that answers
everything with 200, {mute} a program that accepts connections and closes them. A message
that ends with ... goes on. A line `see laneway VERB --help` follows where the command line itself is wrong."""

ROWS = [
    # verbs
    ("", 64, "laneway: a verb is missing"),
    ("rum", 64, "laneway: 'rum' is not a verb. Did you mean laneway run?"),
    ("rnu", 64, "laneway: 'rnu' is not a verb. Did you mean laneway run?"),
    ("stop", 64, "laneway: 'stop' is not a verb. Did you mean laneway suspend?"),
    ("chek -c orders.yaml", 64, "laneway: 'chek' is not a verb. Did you mean laneway check?"),
    ("validate -c orders.yaml", 64, "laneway: 'validate' is not a verb. Did you mean laneway check?"),
    ("suspned orders", 64, "laneway: 'suspned' is not a verb. Did you mean laneway suspend?"),
    ("redrive -c orders.yaml", 64, "laneway: 'redrive' is not a verb. Did you mean laneway dlq redrive?"),
    ("xylophone", 64, "laneway: 'xylophone' is not a verb"),
    ("dlq", 64, "laneway dlq: a verb is missing: list, show, redrive"),
    ("dlq lst", 64, "laneway dlq: 'lst' is not a verb. Did you mean laneway dlq list?"),
    ("dlq replay", 64, "laneway dlq: 'replay' is not a verb. Did you mean laneway dlq redrive?"),
    ("dlq xylophone", 64, "laneway dlq: 'xylophone' is not a verb; the verbs are list, show, redrive"),
    ("help chek", 64, "laneway: 'chek' is not a verb. Did you mean laneway check?"),
    ("help dlq lst", 64, "laneway dlq: 'lst' is not a verb. Did you mean laneway dlq list?"),
    ("help run now", 64, "laneway run: unexpected argument 'now'"),
    # options
    ("--hlep", 64, "laneway: there is no option --hlep. Did you mean --help?"),
    ("--verison", 64, "laneway: there is no option --verison. Did you mean --version?"),
    ("-c orders.yaml run", 64, "laneway: there is no option -c; the options of a verb come after the verb"),
    ("run -c orders.yaml --bogus", 64, "laneway run: there is no option --bogus"),
    ("run -c orders.yaml --wokers 4", 64, "laneway run: there is no option --wokers. Did you mean --set lanes.workers=...?"),
    ("run --brokers {closed}", 64, "laneway run: there is no option --brokers. Did you mean --set kafka.bootstrap.servers=...?"),
    ("check --conect", 64, "laneway check: there is no option --conect. Did you mean --connect?"),
    ("check --conn", 64, "laneway check: there is no option --conn. Did you mean --connect?"),
    ("check --connect=maybe -c orders.yaml", 64, "laneway check: --connect takes no value"),
    ("check -f orders.yaml", 64, "laneway check: there is no option -f. Did you mean -c?"),
    ("status --wach", 64, "laneway status: there is no option --wach. Did you mean --watch?"),
    ("reload --dryrun", 64, "laneway reload: there is no option --dryrun. Did you mean --dry-run?"),
    ("dlq list -c orders.yaml --pendign", 64, "laneway dlq list: there is no option --pendign. Did you mean --pending?"),
    ("demo --secs 5", 64, "laneway demo: there is no option --secs. Did you mean --seconds?"),
    # files
    ("run", 64, "laneway run: --config FILE is missing"),
    ("run -c", 64, "laneway run: --config needs a value"),
    ("run orders.yaml", 64, "laneway run: unexpected argument 'orders.yaml'. Did you mean -c orders.yaml?"),
    ("run -c orders.yaml -c orders.yaml", 64, "laneway run: --config is given more than once"),
    ("check -c missing.yaml", 66, "missing.yaml: the file cannot be opened: No such file or directory (check the path)"),
    ("check -c orders.yaml --set lanes.wrokers=4", 64, "--set lanes.wrokers: this key does not exist (did you mean lanes.workers?)"),
    ("version more", 64, "laneway version: unexpected argument 'more'"),
    # a running service
    ("status --admin nonsense", 64, "laneway status: 'nonsense' is not HOST:PORT (such as 127.0.0.1:9644)"),
    ("status --admin {closed}", 69, "laneway status: no answer from {closed}: nothing accepts connections there ..."),
    ("status --admin {other}", 69, "laneway status: {other} is not a laneway service: GET /status did not return its status ..."),
    ("status --admin http://{other}/", 69, "laneway status: {other} is not a laneway service: GET /status did not return its status ..."),
    ("status --admin nosuch.invalid:9644", 69,
     "laneway status: no answer from nosuch.invalid:9644: the host name 'nosuch.invalid' cannot be resolved: ..."),
    *((f"{change} --admin {{{server}}}", 69, f"laneway {change.split()[0]}: {{{server}}} is not a laneway service: ...")
      for change in ("reload", "reload --dry-run", "suspend orders", "resume orders:1", "skip orders:1:2 --reason late")
      for server in ("other", "helpful")),
    ("status --admin {closed} -c orders.yaml", 64, "laneway status: --admin and --config cannot be given together"),
    ("suspend", 64, "laneway suspend: TOPIC[:PARTITION] is missing"),
    ("suspend orders:x", 64, "laneway suspend: 'orders:x' is ..."),
    ("suspend orders:1:2", 64, "laneway suspend: 'orders:1:2' is not a topic or a partition (TOPIC or TOPIC:PARTITION, such as orders or orders:2)"),
    ("resume orders refunds", 64, "laneway resume: unexpected argument 'refunds'"),
    ("skip orders:1:2", 64, "laneway skip: --reason TEXT is missing"),
    ("skip orders:1 --reason late", 64, "laneway skip: 'orders:1' is not a record (TOPIC:PARTITION:OFFSET, such as orders:2:40)"),
    # dead letters
    ("dlq list", 64, "laneway dlq list: --config FILE is missing"),
    ("dlq list -c orders.yaml", 64,
     "laneway dlq list: the configuration has no dead-letter topic (name a topic with --topic TOPIC, or set dead_letter.topic)"),
    ("dlq list -c orders.yaml --topic orders/dlt", 64, "laneway dlq list: --topic: 'orders/dlt' is not the name of a topic"),
    ("dlq show -c orders.yaml 0:1 --topic orders-dlt:0", 64, "laneway dlq show: --topic: 'orders-dlt:0' is not the name of a topic"),
    ("dlq redrive -c orders.yaml --pending --to orders/2", 64, "laneway dlq redrive: --to: 'orders/2' is not the name of a topic"),
    ("dlq list -c orders.yaml --limit -1", 64, "laneway dlq list: --limit: '-1' is not a whole number of at least 0"),
    ("dlq list -c orders.yaml --since yesterday", 64,
     "laneway dlq list: --since: 'yesterday' is not a time (write a date such as 2026-11-21 or 2026-11-21T10:30:00Z (UTC), or how long ago, "
     "such as 90m or 24h)"),
    ("dlq list -c orders.yaml --origin orders/2", 64,
     "laneway dlq list: --origin: 'orders/2' is not a place; write orders, orders:2 or orders:2:40"),
    ("dlq show -c orders.yaml", 64, "laneway dlq show: [TOPIC:]PARTITION:OFFSET is missing"),
    ("dlq show -c orders.yaml zero", 64,
     "laneway dlq show: 'zero' is not the place of a dead letter (write TOPIC:PARTITION:OFFSET as `laneway dlq list` prints it, or "
     "PARTITION:OFFSET)"),
    ("dlq redrive -c orders.yaml --rate 0", 64, "laneway dlq redrive: --rate: '0' is not a number from 0.001 to 1000000000"),
    # plans
    ("plan", 64, "laneway plan: --rate is missing; without --from, --rate and --service-time are required"),
    ("plan --rate 10", 64, "laneway plan: --service-time is missing; without --from, --rate and --service-time are required"),
    ("plan --rate 10 --service-time 15", 64,
     "laneway plan: --service-time: '15' is not a duration (write a whole number with ns, us, ms, s, m or h, such as 500ms, 2s or 1m)"),
    ("plan --rate 10 --service-time 2h", 64, "laneway plan: --service-time: '2h' is not a duration (from 1us to 1h)"),
    ("plan --rate 10 --service-time 15ms --cpu 1s", 64, "laneway plan: --cpu is longer than --service-time, of which it is a part"),
    ("plan --rate 10 --service-time 15ms --partitions 0", 64,
     "laneway plan: --partitions: '0' is not a whole number from 1 to 1000000"),
    ("plan --from {closed}", 69,
     "laneway plan: no answer from {closed}: nothing accepts connections there (is the service running? --from takes the address of its "
     "admin.listen, such as 127.0.0.1:9644)"),
    ("plan --from {other}", 69,
     "laneway plan: {other}: GET /status does not return the status of a laneway service of this version (--from takes the address of "
     "admin.listen, such as 127.0.0.1:9644)"),
    ("plan --from http://{other}/metrics", 69,
     "laneway plan: {other}: GET /status does not return the status of a laneway service of this version (--from takes the address of "
     "admin.listen, such as 127.0.0.1:9644)"),
    ("plan --from {mute}", 69, "laneway plan: no answer from {mute}: the connection was closed without an answer ..."),
    ("plan --from https://{closed}", 64, "laneway plan: 'https://{closed}' is not HOST:PORT (such as 127.0.0.1:9644)"),
    # numbers
    ("demo --records 5", 64, "laneway demo: --records: '5' is not a whole number from 100 to 50000"),
    ("demo --records many", 64, "laneway demo: --records: 'many' is not a whole number from 100 to 50000"),
]
