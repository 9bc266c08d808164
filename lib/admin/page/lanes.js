// The table of lanes: a tbody each, kept from one poll to the next, so that focus and selection stay.

const mostRows = 200;
// The kinds of trouble, worst first. A lane that is held because its workers cannot keep up is no trouble: it would jump about.
const troubles = ["stuck", "named", "silent", "blocked", "suspended", "paused", "pool out"];
const stateClass = {
  running: "good", assigned: "idle", draining: "idle", suspended: "warn", blocked: "warn", paused: "warn", held: "warn",
  silent: "bad", stuck: "bad"};
const rows = new Map();  // by name

const isAtWork = (lane) => ["running", "held", "paused", "suspended"].includes(lane.state);

function stateOf(lane) {
  if (lane.stuck > 0) return "stuck";
  if (lane.silent_seconds > 0 && lane.state === "running") return "silent";
  if (lane.suspended && lane.state !== "draining") return "suspended";
  return lane.commits_blocked && isAtWork(lane) ? "blocked" : lane.state;
}

/** Whether a reason of readiness is about the lane. */
function isNamed(lane, status) {
  return status.reasons.some((reason) => reason.topic === lane.topic && reason.partition === lane.partition);
}

/** The place of the lane's kind of trouble in the table. */
function troubleOf(lane, status) {
  const state = stateOf(lane);
  const kind = troubles.indexOf(state !== "stuck" && isNamed(lane, status) ? "named" : state);
  if (kind < 0 && lane.pools_out?.length) return troubles.indexOf("pool out");
  return kind < 0 ? troubles.length : kind;
}

/** Trouble first, then by name: numbers that change all the time do not change the order. */
function sortedLanes(status) {
  const wanted = byId("filter").value.trim().toLowerCase().split(/\s+/);
  const shown = status.lanes.filter((lane) => {
    const text = `${nameOf(lane)} ${stateOf(lane)}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const trouble = new Map(shown.map((lane) => [lane, troubleOf(lane, status)]));
  return shown.sort((a, b) => trouble.get(a) - trouble.get(b) || a.topic.localeCompare(b.topic) || a.partition - b.partition);
}

function newRow() {
  const cell = (label, name) => element("td", {role: "cell", class: name, ...(label && {"data-label": label})});
  const row = {
    name: element("th", {role: "rowheader", scope: "row", class: "lane-name row-name"}),
    state: element("td", {role: "cell"}), lag: cell("Lag", "number"), beyond: cell("Beyond commit", "number"),
    running: cell("Running", "number"), queued: cell("Queued", "number queued"), waiting: cell("Waiting", "number"),
    oldest: cell("Oldest", "number"), committed: cell("Committed", "number committed"), rate: cell("Records/s", "number"),
    deadRate: cell("Dead letters/s", "number"), actions: element("td", {role: "cell", class: "actions"}),
    queueText: element("span"), bar: element("i"), suspend: element("button", {type: "button"}),
    skip: element("button", {type: "button"}, "Skip…"), detail: element("td", {role: "cell", colspan: "12"}),
    held: element("span"), error: element("span", {class: "error-text"}),
  };
  row.queued.append(row.queueText, element("span", {class: "bar", "aria-hidden": "true"}, row.bar));
  row.actions.append(row.skip, row.suspend);
  row.detail.append(row.held, row.error);
  row.detailRow = element("tr", {role: "row", class: "detail"}, row.detail);
  row.body = element("tbody", {role: "rowgroup"},
    element("tr", {role: "row", class: "entry lane"}, row.name, row.state, row.lag, row.beyond, row.running, row.queued, row.waiting,
            row.oldest, row.committed, row.rate, row.deadRate, row.actions),
    row.detailRow);
  row.suspend.addEventListener("click", () => openControl(row.lane.suspended ? "resume" : "suspend", row.lane));
  row.skip.addEventListener("click", () => openControl("skip", row.lane));
  return row;
}

/** The record that holds back the commits. */
function recordText(lane) {
  const {offset, attempts, place} = lane.oldest ?? {};
  if (offset === undefined) return "the oldest record";
  return `record ${nameOf(lane)}:${offset} (${place}${attempts > 0 ? `, attempt ${attempts}` : ""})`;
}

/** An error that the outage's banner shows is not repeated on each lane. */
const isOfOutage = (error, {breaker, pools = []}) =>
  [breaker, ...pools.map((pool) => pool.breaker)].some((one) => one?.since && error === one.reason);

/** Green only if no record of the lane waits for a pool, or a subscriber, that is out. */
function levelOf(lane, status) {
  if (isNamed(lane, status)) return "bad";
  const level = stateClass[stateOf(lane)] ?? "idle";
  return level === "good" && lane.pools_out?.length ? "warn" : level;
}

/**
 * Empty when the error of the oldest record is the same one. An error that is over stands beside dead letters only, whose reason it
 * may be: it is no trouble any more.
 */
function lastErrorText(lane, status, over) {
  const last = lane.last_error;
  if (!last || Boolean(last.over) !== over || isOfOutage(last.error, status)) return "";
  if (lane.oldest?.error && last.record === `${nameOf(lane)}:${lane.oldest.offset}`) return "";
  return `last error at ${clockText(Date.parse(last.time))}, record ${last.record} (attempt ${last.attempt}): ${last.error}`;
}

function detailParts(lane, status) {
  const parts = [];
  const held = lane.hold_reasons.filter(({code, cause}) =>
    cause !== "operator" && !(code === "breaker_open" && status.breaker?.since)).map(({text}) => text).join(", ");
  if (lane.suspended && lane.suspended_since) parts.push(`suspended by an operator since ${clockText(Date.parse(lane.suspended_since))}`);
  if (lane.suspended && lane.suspended_since === null) parts.push("suspended by an operator, in this process only");
  if (held) parts.push(`held: ${held}`);
  parts.push(...(lane.pools_out ?? []).map(({text}) => text));
  if (lane.silent_seconds > 0)
    parts.push(`silent for ${ageText(lane.silent_seconds)}: the log has new records, and the broker delivers none of them`);
  if (lane.dead_letters > 0) {
    parts.push(`${plural(lane.dead_letters, "dead letter")} since the assignment`);
    const past = lastErrorText(lane, status, true);
    if (past) parts.push(past);
  }
  const error = lane.oldest?.error && !isOfOutage(lane.oldest.error, status);
  if (lane.commits_blocked) parts.push(`${recordText(lane)} blocks the commits`);
  else if (error) parts.push(recordText(lane));
  return parts;
}

function fillDetail(row, lane, status) {
  const parts = detailParts(lane, status);
  const oldest = lane.oldest?.error;
  const error = [isOfOutage(oldest, status) ? "" : oldest,
                 lane.open_transaction !== undefined && `waits at offset ${lane.open_transaction} for an open transaction of another producer`,
                 lane.source_error && `the partition cannot be read: ${lane.source_error}`,
                 lastErrorText(lane, status, false)].filter(Boolean).join("; ");
  const separator = !error || parts.length === 0 ? "" : oldest && error.startsWith(oldest) ? ": " : " · ";
  setText(row.held, parts.join(" · ") + separator);
  setText(row.error, error);
  row.detailRow.hidden = parts.length === 0 && !error;
}

function fillRow(row, lane, status) {
  const name = safeText(nameOf(lane)), state = stateOf(lane);
  row.lane = lane;
  setText(row.name, name);
  setText(row.state, state);
  setClass(row.state, `state ${levelOf(lane, status)}`);
  setText(row.lag, count(lane.lag));
  setText(row.beyond, count(lane.finished_beyond_commit));
  setText(row.running, `${lane.in_flight}/${lane.workers}`);
  setText(row.queueText, `${count(lane.queued)}/${count(lane.queue_capacity)}`);
  const part = lane.queue_capacity ? lane.queued / lane.queue_capacity : 0;
  row.bar.style.width = `${Math.min(100, Math.round(100 * part))}%`;
  setClass(row.bar, part > 0.8 ? "full" : "");
  setText(row.waiting, count(lane.waiting_retries + (lane.waiting_for_pools ?? 0)));
  setText(row.oldest, lane.oldest ? ageText(lane.oldest.age_seconds) : "–");
  setText(row.committed, lane.committed === null ? "–" : whole.format(lane.committed));
  setText(row.rate, rateText(lane.rate));
  setText(row.deadRate, rateText(lane.dead_letter_rate ?? 0));
  setText(row.suspend, lane.suspended ? "Resume" : "Suspend");
  row.suspend.setAttribute("aria-label", `${row.suspend.textContent} ${name}`);
  row.skip.hidden = !lane.oldest?.error;
  row.skip.setAttribute("aria-label", `Skip the oldest record of ${name}`);
  fillDetail(row, lane, status);
}

/** A row does not move away under a hand that is about to press a button in it. */
function inUse(table) {
  return table.contains(document.activeElement) ||
    (matchMedia("(hover: hover)").matches && table.matches(":hover")) || byId("control").open;
}

function showLanes(status) {
  const table = byId("lane-table");
  const lanes = sortedLanes(status);
  const shown = lanes.slice(0, mostRows);
  const names = new Set(shown.map(nameOf));
  for (const [name, row] of rows) {
    if (names.has(name)) continue;
    row.body.remove();
    rows.delete(name);
  }
  const keepOrder = inUse(table);
  let after = table.tHead;
  for (const lane of shown) {
    let row = rows.get(nameOf(lane));
    const isNew = !row;
    if (isNew) rows.set(nameOf(lane), row = newRow());
    fillRow(row, lane, status);
    if (isNew || (!keepOrder && after.nextElementSibling !== row.body)) after.after(row.body);
    after = row.body;
  }
  showLaneNote(status, lanes.length, shown.length);
}

function showLaneNote(status, found, shown) {
  const all = status.lanes.length;
  setText(byId("lane-count"), found < all ? `${count(found)} of ${count(all)}` : count(all));
  const note = byId("lane-note");
  note.hidden = found > 0 && shown === found;
  if (found === 0) setText(note, all === 0 ? "This process has no lanes now." : "No lane matches the filter.");
  else if (shown < found) setText(note, `${count(found - shown)} more lanes with less trouble are not shown; the filter finds them.`);
}
