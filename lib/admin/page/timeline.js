// The last hours as the service keeps them (GET /history), and the events that only this page knows: no answer, and what was asked here.

const longest = 6 * 3600 * 1000;  // what the service keeps
const mostEvents = 500;
const gapAfter = 20000;           // ms between two samples: longer, and the service did not run
// {at, rate, lag, ready, breaker, total, letters, rebalances, gap}, oldest first. `letters` and `rebalances` are those since the
// sample before, `total` is the number of dead letters since the process started. `gap`: there was a break before this sample.
const samples = [];
const ownEvents = [];           // {at, since, level, text}
const serviceEvents = new Map();  // by process and id
const known = {started: null, last: 0, before: null, ahead: 0};
let eventsVersion = 0;          // grows with each change of an event

const nameOf = (lane) => `${lane.topic}:${lane.partition}`;
const sum = (lanes, key) => lanes.reduce((total, lane) => total + (lane[key] ?? 0), 0);

/** The time of the service's clock, which is the clock of all samples and events. */
const serviceNow = () => Date.now() + known.ahead;

function addEvent(level, text) {
  const at = serviceNow();
  ownEvents.push({at, since: at, level, text});
  if (ownEvents.length > mostEvents) ownEvents.shift();
  ++eventsVersion;
}

/** Newest first. */
function allEvents() {
  return [...serviceEvents.values(), ...ownEvents].sort((a, b) => b.at - a.at).slice(0, mostEvents);
}

/** `before`: the sample that came before in the same process, or what it would have been; null if that is not known. */
function learnSample([, at, rate, lag, ready, breaker, total, rebalances], before) {
  while (samples.length && samples[samples.length - 1].at >= at) samples.pop();  // of a clock that was set back
  const last = samples[samples.length - 1];
  samples.push({
    at, rate, lag, ready, breaker, total,
    letters: before ? total - before.total : 0,
    rebalances: before ? rebalances - before.rebalances : 0,
    gap: !last || at - last.at > gapAfter,
  });
  known.before = {total, rebalances};
}

/** False if the service was restarted and must be asked again for everything. */
function learn(news) {
  if (Math.abs(news.now - serviceNow()) > 2000) known.ahead = news.now - Date.now();
  if (known.started !== null && news.started !== known.started) {
    addEvent("warn", "The service was restarted.");
    Object.assign(known, {started: null, last: 0, before: null});
    return false;
  }
  // Nothing is missing before the first sample: whatever it counts happened since the process started.
  if (known.last === 0 && news.complete) known.before = {total: 0, rebalances: 0};
  for (const row of news.samples) learnSample(row, known.before);
  while (samples.length && samples[0].at < serviceNow() - longest) samples.shift();
  for (const event of news.events) {
    serviceEvents.set(`${news.started} ${event.id}`, {at: event.at_ms, since: event.since_ms, level: event.level, text: event.text});
    ++eventsVersion;
  }
  if (serviceEvents.size > mostEvents) forgetOldest();
  known.started = news.started;
  known.last = news.last;
  return true;
}

function forgetOldest() {
  const oldestFirst = [...serviceEvents].sort(([, a], [, b]) => a.at - b.at);
  for (const [key] of oldestFirst.slice(0, serviceEvents.size - mostEvents)) serviceEvents.delete(key);
}
