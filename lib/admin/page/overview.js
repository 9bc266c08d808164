// What is above the lanes: header, banner, advice, and the figures of the whole process.

/** Reasons of the same kind about many lanes are one line. */
function reasonTexts(reasons) {
  const kinds = new Map();
  for (const reason of reasons) {
    const kind = reason.topic ? reason.code : `${reason.code} ${reason.text}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), reason]);
  }
  return [...kinds.values()].flatMap((alike) => {
    if (alike.length <= 3) return alike.map((reason) => reason.text);
    return [`${plural(alike.length, "lane")} ${alike[0].code}: ${listed(alike.map(nameOf), 8)}. The first: ${alike[0].text}`];
  });
}

/** Of the downstream, or for how many of the pools it is not closed. */
function breakerFigure({breaker, pools = []}) {
  const {words, figure} = breakerState(breaker?.state);
  const out = pools.filter((pool) => breakerState(pool.breaker?.state).figure).length;
  return ["Breaker", out ? `${out}/${pools.length} out` : words, figure];
}

function figuresOf(status) {
  const {lanes} = status, total = (key) => sum(lanes, key);
  const oldest = Math.max(0, ...lanes.map((lane) => lane.oldest?.age_seconds ?? 0));
  const unknown = lanes.filter((lane) => lane.lag === null).length;
  const capacity = total("queue_capacity"), waiting = total("waiting_retries") + total("waiting_for_pools");
  return [
    ["Records/s", rateText(total("rate"))],
    [unknown ? `Lag (${unknown} not known)` : "Lag", count(total("lag"))],
    ["Oldest record", oldest ? ageText(oldest) : "–"],
    ["Running", `${count(total("in_flight"))}/${count(total("workers"))}`],
    ["Queued", count(total("queued")), capacity && total("queued") > 0.8 * capacity ? "warn" : ""],
    ["Waiting", count(waiting), waiting ? "warn" : ""],
    ["Dead letters", count(status.dead_letters), status.dead_letters ? "warn" : ""],
    ["Dead letters/s", rateText(total("dead_letter_rate")), total("dead_letter_rate") ? "warn" : ""],
    breakerFigure(status),
  ];
}

function showFigures(status) {
  const figures = figuresOf(status), list = byId("figures");
  if (list.childElementCount !== figures.length)
    list.replaceChildren(...figures.map(() => element("div", {}, element("dt"), element("dd"))));
  figures.forEach(([name, value, level], index) => {
    const [term, figure] = list.children[index].children;
    setText(term, name);
    setText(figure, value);
    setClass(figure, level || "plain");
  });
}

/** How calls fail while most of them work. In an outage, the banner says it; of named pools, their table. */
function showDownstream(status) {
  const failures = status.breaker?.since || status.pools ? "" : status.breaker?.failures;
  setText(byId("downstream"), failures ? `The downstream ${status.breaker.downstream} ${failures}.` : "");
  byId("downstream").hidden = !failures;
}

/** How many calls each downstream gets at once, and why that last moved, where the limit follows the downstream. */
function limitTexts({breaker, pools}) {
  const named = (pools ?? []).map((pool) => [`The pool ${pool.name}`, pool.breaker?.limit]);
  const all = named.length ? named : [[`The downstream ${breaker?.downstream}`, breaker?.limit]];
  return all.filter(([, limit]) => limit?.words).map(([name, limit]) => `${name} gets ${limit.words}.`);
}

function showHeader(status) {
  setText(byId("group"), status.group);
  setText(byId("about"), `version ${status.version}, up ${ageText(status.uptime_seconds)}, ${plural(status.members, "member")}`);
  const pill = byId("ready");
  setText(pill, status.ready ? "ready" : "not ready");
  setClass(pill, status.ready ? "pill good" : "pill bad");
  setText(byId("reasons-title"), status.breaker?.since ? "Outage" : "Not ready");
  showList("reasons", "reason-list", reasonTexts(status.reasons));
  showList("advice", "advice-list", status.advice ?? []);
}

/** A section with a list, which is there while there is something in it. */
function showList(section, id, texts) {
  byId(section).hidden = texts.length === 0;
  const list = byId(id);
  while (list.childElementCount > texts.length) list.lastElementChild.remove();
  while (list.childElementCount < texts.length) list.append(element("li"));
  texts.forEach((text, index) => setText(list.children[index], text));
}

let drawnEvents = 0;  // the version of the events that are in the list

/** A flood of dead letters is one event, which has a beginning and an end. */
function eventText({at, since, text}) {
  return at - since > 1000 ? `${text} First at ${clockText(since)}.` : text;
}

function showEvents() {
  if (drawnEvents === eventsVersion) return;
  drawnEvents = eventsVersion;
  byId("no-events").hidden = true;
  byId("events").hidden = false;
  byId("events").replaceChildren(...allEvents().map((event) => element("li", {},
    element("time", {datetime: new Date(event.at).toISOString()}, clockText(event.at)),
    element("span", {class: event.level}, eventText(event)))));
}
