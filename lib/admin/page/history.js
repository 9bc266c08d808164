// What this page has seen: a sample a poll, and what changed between two of them. Gone when the page is.

const historyTime = 15 * 60 * 1000;
const mostEvents = 300;
// {at, rate, lag, ready, breaker, and since the one before: letters, rebalances}; {at, gap: true} for no answer
const samples = [];
const events = [];  // {at, level, text}, newest first

const nameOf = (lane) => `${lane.topic}[${lane.partition}]`;
const byName = (status) => new Map(status.lanes.map((lane) => [nameOf(lane), lane]));
const sum = (lanes, key) => lanes.reduce((total, lane) => total + (lane[key] ?? 0), 0);

function addSample(sample) {
  samples.push(sample);
  while (samples[0].at < sample.at - historyTime) samples.shift();
}

function addEvent(level, text) {
  events.unshift({at: Date.now(), level, text});
  events.length = Math.min(events.length, mostEvents);
}

function remember(before, now) {
  const sample = {
    at: Date.now(), rate: sum(now.lanes, "rate"), lag: sum(now.lanes, "lag"), ready: now.ready,
    breaker: now.breaker ? now.breaker.state : "closed", letters: 0, rebalances: 0,
  };
  addSample(sample);
  // What is amiss when the page is opened is news to who opens it.
  compareReadiness(before ?? {ready: true, reasons: []}, now);
  compareBreaker(before?.breaker ?? {state: "closed"}, now.breaker);
  if (!before) return;
  if (now.uptime_seconds < before.uptime_seconds) {
    addEvent("warn", "The service was started anew.");
    return;
  }
  sample.rebalances = compareGroup(before, now);
  compareLanes(byName(before), byName(now));
  sample.letters = compareLetters(byName(before), byName(now));
}

/** A reason's text has ages in it; it is the same one as long as it is about the same. */
function compareReadiness(before, now) {
  const key = (reason) => `${reason.code} ${reason.topic ?? ""} ${reason.partition ?? ""}`;
  const known = new Set(before.reasons.map(key));
  for (const reason of now.reasons)
    if (!known.has(key(reason))) addEvent("bad", `Not ready: ${reason.text}`);
  if (now.ready && !before.ready) addEvent("good", "Ready again.");
}

function compareBreaker(before, now) {
  if (!now || before.state === now.state) return;
  const level = now.state === "closed" ? "good" : now.state === "open" ? "bad" : "warn";
  addEvent(level, `Breaker of ${now.downstream}: ${now.state}${now.reason ? `, ${now.reason}` : ""}`);
}

function compareGroup(before, now) {
  const more = (part, key) => now[part][key] - before[part][key];
  const was = byName(before), is = byName(now);
  const came = [...is.keys()].filter((name) => !was.has(name));
  const went = [...was.keys()].filter((name) => !is.has(name));
  const lost = more("rebalances", "lost");
  const happened = came.length > 0 || went.length > 0 || lost > 0 || more("rebalances", "assigned") > 0;
  if (happened) {
    const parts = [];
    if (lost > 0) parts.push("partitions were lost");
    if (went.length) parts.push(`went: ${listed(went)}`);
    if (came.length) parts.push(`came: ${listed(came)}`);
    addEvent(lost > 0 ? "bad" : "plain", `Rebalance, ${parts.join("; ") || "the same lanes as before"}.`);
  }
  const failed = more("commits", "failed");
  if (failed > 0) addEvent("bad", `${plural(failed, "commit")} failed.`);
  return happened ? 1 : 0;
}

function compareLanes(before, now) {
  for (const [name, lane] of now) {
    const old = before.get(name);
    if (!old) continue;
    if (lane.paused_by_hand !== old.paused_by_hand)
      addEvent("warn", `${name} was ${lane.paused_by_hand ? "paused" : "resumed"} by hand.`);
    if (lane.silent_seconds > 0 && !old.silent_seconds)
      addEvent("bad", `${name} is silent: its log goes on, and nothing comes.`);
    if (lane.stuck > old.stuck) addEvent("bad", `${name}: work is stuck and ignores its stop.`);
  }
}

/** How many are new. Those of polls one after another are one event, or a flood would leave room for nothing else. */
function compareLetters(before, now) {
  const fresh = new Map();
  for (const [name, lane] of now) {
    const more = lane.dead_letters - (before.get(name) ?? lane).dead_letters;
    if (more > 0) fresh.set(name, more);
  }
  const total = (letters) => [...letters.values()].reduce((all, one) => all + one, 0);
  if (fresh.size === 0) return 0;
  const found = total(fresh);
  const last = events[0]?.letters ? events.shift() : {letters: new Map(), since: Date.now()};
  for (const [name, more] of fresh) last.letters.set(name, (last.letters.get(name) ?? 0) + more);
  const names = [...last.letters].map(([name, number]) => (last.letters.size > 1 ? `${name} ${count(number)}` : name));
  const since = Date.now() - last.since > 1000 ? ` since ${clockText(last.since)}` : "";
  addEvent("warn", `${plural(total(last.letters), "dead letter")}${since}: ${listed(names)}.`);
  Object.assign(events[0], last);
  return found;
}
