"""Mistakes in named pools, their routing and stages: a part of the table in wrong_files.py."""
from wrong_rows import KAFKA, RIGHT, Row

POOLS = RIGHT + "pools:\n"
ROUTE = "route: { by: header:tenant, pools: { gold: critical }, default: bulk }\n"
TURN = "route: { by: round_robin, pools: [critical, bulk] }\n"
TWO = "pools:\n  critical: {}\n  bulk: {}\n"

PATHS = [
    Row("a misspelt key of a pool", POOLS + "  critical: { wrokers: 3 }\n",
        "orders.yaml:8:15: pools.critical.wrokers: this key does not exist (did you mean pools.critical.workers?)"),
    Row("a pool with a number", POOLS + "  critical: 32\n",
        'orders.yaml:8:13: pools.critical: found "32" (expected a group of keys, indented below this key)'),
    Row("a name of a pool with a space", POOLS + "  gold customers: {}\n",
        'orders.yaml:8:3: "pools.gold customers": the name of a pool may have letters, digits, - and _ only (such as '
        "critical, or free-tier)"),
    Row("an unknown pool in route", RIGHT + ROUTE.replace("gold: critical", "gold: critcal") + TWO,
        'orders.yaml:7:36: route.pools: there is no pool "critcal" (did you mean the pool critical?)'),
    Row("an unknown pool as the default", RIGHT + ROUTE.replace("default: bulk", "default: bulky") + TWO,
        'orders.yaml:7:65: route.default: there is no pool "bulky" (did you mean the pool bulk?)'),
    Row("an unknown pool in then", POOLS + "  fetch: { then: stor }\n  store: {}\n",
        'orders.yaml:8:18: pools.fetch.then: there is no pool "stor" (did you mean the pool store?)'),
    Row("an unknown pool in helps", RIGHT + ROUTE + "pools:\n  critical: {}\n  bulk: { helps: [urgent] }\n",
        'orders.yaml:10:18: pools.bulk.helps: there is no pool "urgent" (the pools are critical, bulk)'),
    Row("stages in a circle",
        POOLS + "  fetch: { then: resize }\n  resize: { then: store }\n  store: { then: fetch }\n",
        "orders.yaml:8:18: pools.fetch.then: records would go round forever: fetch → resize → store → fetch (let the "
        "last stage have no then)"),
    Row("pools that help each other",
        RIGHT + ROUTE + "pools:\n  critical: { helps: [bulk] }\n  bulk: { helps: [critical] }\n",
        "orders.yaml:9:22: pools.critical.helps: pools would help each other: critical → bulk → critical (let a pool "
        "help only pools that are less urgent)"),
    Row("a pool that no record comes to", POOLS + "  critical: {}\n  bulk: {}\n",
        "orders.yaml:9:3: pools.bulk: no record ever comes to this pool (name it in then of another pool, or set "
        "route.by; without route.by all records go to the first pool of the file, critical)"),
    Row("a pool that route does not name", RIGHT + ROUTE + TWO + "  spare: {}\n",
        "orders.yaml:11:3: pools.spare: no record ever comes to this pool (name it in route.pools, in route.default, "
        "or in then of another pool)"),
    Row("a route without a default", RIGHT + ROUTE.replace(", default: bulk", "") + TWO,
        "orders.yaml:7:14: route.by: route.default is missing (name the pool of all other records, which have an "
        "unknown text or none, in route.default)"),
    Row("a route without pools", RIGHT + ROUTE,
        "orders.yaml:7:14: route.by: there are no pools to which records could go (name the pools below pools, or "
        "remove route)"),
    Row("a default without route.by",
        RIGHT + "route: { default: bulk }\n" + TWO.replace("critical: {}", "critical: { then: bulk }"),
        "orders.yaml:7:19: route.default: this key has no effect without route.by (set route.by, such as header:tenant)"),
    Row("a list of pools for a header", RIGHT + ROUTE.replace("{ gold: critical }", "[critical]") + TWO,
        "orders.yaml:7:36: route.pools: a list is for records that the pools get in turn (name the pool for each text, such as "
        "{ gold: critical }, or set route.by: round_robin)"),
    Row("texts for pools that take turns", RIGHT + TURN.replace("[critical, bulk]", "{ gold: critical, free: bulk }") + TWO,
        "orders.yaml:7:34: route.pools: with route.by: round_robin no text decides (write a list, such as [east, west])"),
    Row("a default for pools that take turns", RIGHT + TURN.replace(" }", ", default: bulk }") + TWO,
        "orders.yaml:7:61: route.default: with route.by: round_robin no record is left for another pool (remove route.default)"),
    Row("one pool that takes turns", RIGHT + TURN.replace(", bulk", "") + "pools:\n  critical: {}\n",
        "orders.yaml:7:14: route.by: there are no two pools to take turns (name them in route.pools, such as [east, west])"),
    Row("an unknown pool that takes turns", RIGHT + TURN.replace("bulk", "bluk") + TWO,
        'orders.yaml:7:34: route.pools: there is no pool "bluk" (did you mean the pool bulk?)'),
    Row("pools that take turns and lead to different ones",
        RIGHT + TURN + "pools:\n  critical: { then: store }\n  bulk: {}\n  store: {}\n",
        "orders.yaml:7:14: route.by: with route.by: round_robin all pools of the list lead to the same pool, or to none (set the "
        "same then in each of them)"),
    Row("turns in the order of keys", RIGHT + "lanes: { order: key }\n" + TURN + TWO,
        "orders.yaml:8:14: route.by: with lanes.order: key the records of a key run one after the other, and this route sends "
        "them to pools that run at the same time (set lanes.order: none, or route.by: key)"),
    Row("a selector that does not exist", RIGHT + ROUTE.replace("header:tenant", "tenant") + TWO,
        'orders.yaml:7:14: route.by: found "tenant" (expected topic, key, header:NAME, value:POINTER with a JSON '
        "pointer into the value, or round_robin)"),
    Row("a JSON pointer without a slash", RIGHT + ROUTE.replace("header:tenant", "value:tenant") + TWO,
        'orders.yaml:7:14: route.by: found "value:tenant": the JSON pointer: it does not begin with a / (expected '
        "topic, key, header:NAME, value:POINTER with a JSON pointer into the value, or round_robin)"),
    Row("a JSON pointer with a wrong escape", RIGHT + ROUTE.replace("header:tenant", "\"value:/a~b\"") + TWO,
        'orders.yaml:7:14: route.by: found "value:/a~b": the JSON pointer: in a JSON pointer ~ is written as ~0, and / '
        "as ~1 (expected topic, key, header:NAME, value:POINTER with a JSON pointer into the value, or round_robin)"),
    Row("a text that is hidden by an earlier one",
        RIGHT + ROUTE.replace("gold: critical", "\"g*\": critical, gold: bulk") + TWO,
        'orders.yaml:7:54: route.pools: found "gold": every such text already goes to critical by "g*" above it; the '
        "first text that matches decides (expected a map of texts, or beginnings of texts with a *, to the names of "
        'pools, such as { gold: critical, "free-*": bulk }, or with route.by: round_robin a list of names)'),
    Row("a star in the middle of a text", RIGHT + ROUTE.replace("gold: critical", "\"g*d\": critical") + TWO,
        'orders.yaml:7:38: route.pools: found "g*d": a * stands only at the end, for any text (expected a map of '
        'texts, or beginnings of texts with a *, to the names of pools, such as { gold: critical, "free-*": bulk }, or with '
        "route.by: round_robin a list of names)"),
]

WORK = [
    Row("gather in the first pool", POOLS + "  fetch: { gather: true }\n",
        "orders.yaml:8:20: pools.fetch.gather: no other pool leads to this one, so there are no results to gather (set "
        "then: fetch in the pool whose results are gathered)"),
    Row("gather without sub-jobs", POOLS + "  fetch: { then: store }\n  store: { gather: true }\n",
        "orders.yaml:9:20: pools.store.gather: no record becomes sub-jobs before it comes to this pool, so there is "
        "nothing to gather (let the results of a pool with the handler http, exec, plugin or fan_out go to a pool that "
        "runs them, and from there to this one)"),
    Row("gather after work without results",
        POOLS + "  fetch: { then: resize }\n  resize: { then: store }\n  store: { gather: true }\n",
        "orders.yaml:10:20: pools.store.gather: no record becomes sub-jobs before it comes to this pool, so there is "
        "nothing to gather (let the results of a pool with the handler http, exec, plugin or fan_out go to a pool that "
        "runs them, and from there to this one)"),
    Row("part in the first pool", POOLS + "  deliver: { each: { by: part, workers: 4 } }\n",
        "orders.yaml:8:26: pools.deliver.each.by: no other pool leads to this one, so its records are no sub-jobs (set "
        "each.by: key, or a header, or let another pool lead to this one)"),
    Row("each without a limit", POOLS + "  deliver: { each: { by: key } }\n",
        "orders.yaml:8:26: pools.deliver.each.by: there is no limit for the records of one text (set "
        "each.rate.records, each.rate.bytes or each.workers)"),
    Row("a limit of each without a text", POOLS + "  deliver: { each: { workers: 4 } }\n",
        "orders.yaml:8:31: pools.deliver.each.workers: this key has no effect without each.by (set each.by, such as "
        "part or key)"),
    Row("transactions and pools",
        KAFKA + "topics: [orders]\nhandler:\n  produce: { topic: out, transactional: true }\n" +
        TWO.replace("critical: {}", "critical: { then: bulk }"),
        "orders.yaml:6:41: handler.produce.transactional: a transaction holds the records of one run of a lane, and "
        "pools finish their records apart (set transactional: false, or remove pools)"),
    Row("a transaction in a pool",
        KAFKA + "topics: [orders]\npools:\n  copy: { handler: { produce: { topic: out, transactional: true } } }\n",
        "orders.yaml:6:60: pools.copy.handler.produce.transactional: a transaction holds the records of one run of a "
        "lane, and pools finish their records apart (set transactional: false, or remove pools)"),
    Row("threads for a pool that has none",
        RIGHT + ROUTE + "pools:\n  critical: {}\n"
        "  bulk: { helps: [critical], handler: { http: { url: \"http://127.0.0.1:8080\" } } }\n",
        "orders.yaml:10:18: pools.bulk.helps: the handler http of this pool has no threads, and the handler log of the "
        "pool critical needs them (name only pools with the handler http or produce, or give this pool a handler that "
        "runs on threads)"),
    Row("a route by key in order of the partition", RIGHT + "lanes: { order: partition }\n" + ROUTE + TWO,
        "orders.yaml:8:14: route.by: with lanes.order: partition the records of a partition run one after the other, "
        "and this route sends them to pools that run at the same time (set lanes.order: key or none, or route.by: "
        "topic)"),
    Row("a pool for retries in order", RIGHT + "lanes: { order: key }\npools:\n  deliver: { retry_workers: 2 }\n",
        "orders.yaml:9:29: pools.deliver.retry_workers: with lanes.order: key a separate pool for retries would break "
        "the order: later records overtake a record that runs again there (set lanes.order: none, or remove "
        "retry_workers)"),
    Row("each in order", RIGHT + "lanes: { order: key }\npools:\n  deliver: { each: { by: key, workers: 4 } }\n",
        "orders.yaml:9:26: pools.deliver.each.by: with lanes.order: key limits for each text would break the order: "
        "later records overtake a record that waits for its limit (set lanes.order: none, or remove each)"),
]

SIZES = [
    Row("more workers than total", POOLS + "  critical: { workers: 32, total: 8 }\n",
        "orders.yaml:8:24: pools.critical.workers: workers is 32, more than total, 8, so some workers would never run "
        "a record (set workers to at most total)"),
    Row("a range upside down", RIGHT + "lanes: { workers: { min: 64, max: 2, algorithm: aimd } }\n",
        "orders.yaml:7:19: lanes.workers: found a map: min is 64, more than max, 2 (expected a whole number from 1 to "
        "4096, or { min, max, algorithm })"),
    Row("a range of a pool without a maximum", POOLS + "  critical: { workers: { min: 2 } }\n",
        "orders.yaml:8:24: pools.critical.workers: found a map: max is missing (expected a whole number from 1 "
        "to 4096, or { min, max, algorithm })"),
    Row("an unknown algorithm", RIGHT + "lanes: { workers: { min: 2, max: 64, algorithm: tcp } }\n",
        'orders.yaml:7:49: lanes.workers: found "tcp": the algorithms are aimd, vegas and gradient (expected a whole '
        "number from 1 to 4096, or { min, max, algorithm })"),
    Row("an adaptive pool with a total",
        POOLS + "  critical: { workers: { min: 2, max: 64, algorithm: aimd }, total: 8 }\n",
        "orders.yaml:8:69: pools.critical.total: with a range of workers, its max is the limit of the process already "
        "(remove total, or give workers as a number)"),
    Row("longest_wait without helps", POOLS + "  critical: { longest_wait: 1s }\n",
        "orders.yaml:8:29: pools.critical.longest_wait: this key has no effect without helps (name the pools that this "
        "pool helps, or remove this key)"),
    Row("more workers in a pool than records in a lane",
        RIGHT + "lanes: { max_incomplete: 10 }\npools:\n  critical: { workers: 32 }\n",
        "orders.yaml:9:24: pools.critical.workers: lanes.max_incomplete is 10, less than workers of the pool critical, "
        "32, so some workers would never run a record (set lanes.max_incomplete to at least the workers of each pool)"),
    Row("a handler that no pool uses", RIGHT + "pools:\n  critical: { handler: log }\n",
        "orders.yaml:6:8: handler.log: each pool has a handler of its own, so this handler does nothing (remove it, or "
        "the handler of a pool)"),
    Row("a pool without a handler",
        KAFKA + "topics: [orders]\npools:\n  fetch: { handler: log, then: store }\n  store: {}\n",
        "orders.yaml: handler: this key is missing (the work for each record: one of log, simulate, http, exec, "
        "plugin, produce, fan_out; it is the work of all pools without their own (pools.store.handler))"),
    Row("a key that is missing in the handler of a pool",
        KAFKA + "topics: [orders]\npools:\n  fetch: { handler: { http: { timeout: 3s } } }\n",
        "orders.yaml:6:40: pools.fetch.handler.http.url: this key is missing (the URL that receives the records, such "
        "as http://127.0.0.1:8080/orders)"),
    Row("records of one key in different pools", RIGHT + "lanes: { order: key }\n" + ROUTE + TWO,
        "warning: lanes.order: key holds within each pool: records of one key that route.by: header:tenant sends to "
        "different pools run at the same time (route by key or topic if their order matters)",
        code=0),
    Row("--set of a pool that the file does not have", RIGHT + "pools:\n  critical: {}\n",
        "--set pools.critcal.workers: the file has no pool critcal (did you mean the pool critical?)",
        sets=["pools.critcal.workers=5"], code=64),
]

MISTAKES_IN_POOLS = [*PATHS, *WORK, *SIZES]
