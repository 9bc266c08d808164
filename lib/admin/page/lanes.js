// The table of lanes: a tbody each, kept from one poll to the next, so that focus and selection stay.

const mostRows = 200;
const troubleOrder = ["running", "assigned", "draining", "by hand", "paused", "held", "silent", "stuck"];
const stateClass = {
  running: "good", assigned: "idle", draining: "idle", "by hand": "warn", paused: "warn", held: "bad", silent: "bad",
  stuck: "bad"};
const rows = new Map();  // by name

function stateOf(lane) {
  if (lane.stuck > 0) return "stuck";
  if (lane.silent_seconds > 0 && lane.state === "running") return "silent";
  return lane.paused_by_hand && lane.state !== "draining" ? "by hand" : lane.state;
}

/** The more, the further up. */
function troubleOf(lane, status) {
  const named = status.reasons.some((reason) => reason.topic === lane.topic && reason.partition === lane.partition);
  return (named ? 100 : 0) + troubleOrder.indexOf(stateOf(lane)) * 2 + (lane.oldest?.error ? 1 : 0);
}

function sortedLanes(status) {
  const wanted = byId("filter").value.trim().toLowerCase().split(/\s+/);
  const shown = status.lanes.filter((lane) => {
    const text = `${nameOf(lane)} ${stateOf(lane)}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const trouble = new Map(shown.map((lane) => [lane, troubleOf(lane, status)]));
  return shown.sort((a, b) => trouble.get(b) - trouble.get(a) || (b.lag ?? 0) - (a.lag ?? 0) ||
    a.topic.localeCompare(b.topic) || a.partition - b.partition);
}

function newRow() {
  const cell = (label, name) => element("td", {role: "cell", class: name, ...(label && {"data-label": label})});
  const row = {
    name: element("th", {role: "rowheader", scope: "row", class: "lane-name"}),
    state: element("td", {role: "cell"}), lag: cell("Lag", "number"), work: cell("At work", "number"),
    queue: cell("Queue", "number"), retries: cell("Retries", "number"), oldest: cell("Oldest", "number"),
    committed: cell("Committed", "number committed"), rate: cell("Records/s", "number"),
    deadRate: cell("Dead/s", "number"), actions: cell("", "actions"),
    queueText: element("span"), bar: element("i"), pause: element("button", {type: "button"}),
    skip: element("button", {type: "button"}, "Skip…"), detail: element("td", {role: "cell", colspan: "11"}),
    held: element("span"), error: element("span", {class: "error-text"}),
  };
  row.queue.append(row.queueText, element("span", {class: "bar", "aria-hidden": "true"}, row.bar));
  row.actions.append(row.pause, row.skip);
  row.detail.append(row.held, row.error);
  row.detailRow = element("tr", {role: "row", class: "detail"}, row.detail);
  row.body = element("tbody", {role: "rowgroup"},
    element("tr", {role: "row", class: "lane"}, row.name, row.state, row.lag, row.work, row.queue, row.retries, row.oldest,
            row.committed, row.rate, row.deadRate, row.actions),
    row.detailRow);
  row.pause.addEventListener("click", () => openControl(row.lane.paused_by_hand ? "resume" : "pause", row.lane));
  row.skip.addEventListener("click", () => openControl("skip", row.lane));
  return row;
}

function oldestText(lane) {
  return lane.oldest ? ageText(lane.oldest.age_seconds) : "–";
}

/** Which record holds back the commits, in words. */
function recordText(lane) {
  const {offset, attempts, place} = lane.oldest ?? {};
  if (offset === undefined) return "";
  return `oldest record ${offset} (${place}${attempts > 0 ? `, attempt ${attempts}` : ""})`;
}

/** Nothing when the oldest record says it. */
function lastErrorText(lane) {
  const last = lane.last_error;
  if (!last || (lane.oldest?.error && last.record === `${lane.topic}:${lane.partition}:${lane.oldest.offset}`)) return "";
  return `last error at ${clockText(Date.parse(last.time))}, ${last.record} (attempt ${last.attempt}): ${last.error}`;
}

function fillDetail(row, lane) {
  const parts = [];
  if (lane.held_by && lane.held_by !== "by hand") parts.push(`held: ${lane.held_by}`);
  if (lane.silent_seconds > 0) parts.push(`silent for ${ageText(lane.silent_seconds)}: its log goes on, and nothing comes`);
  if (lane.dead_letters > 0) parts.push(plural(lane.dead_letters, "dead letter"));
  const error = [lane.oldest?.error, lane.source_error && `cannot be read: ${lane.source_error}`, lastErrorText(lane)]
    .filter(Boolean).join("; ");
  if (lane.oldest?.error) parts.push(recordText(lane) + ": ");
  setText(row.held, parts.join(" · "));
  setText(row.error, error);
  row.detailRow.hidden = parts.length === 0 && !error;
}

function fillRow(row, lane) {
  const name = nameOf(lane), state = stateOf(lane);
  row.lane = lane;
  setText(row.name, name);
  setText(row.state, state);
  setClass(row.state, `state ${stateClass[state] ?? "idle"}`);
  setText(row.lag, count(lane.lag));
  setText(row.work, `${lane.in_flight}/${lane.workers}`);
  setText(row.queueText, `${count(lane.queued)}/${count(lane.queue_capacity)}`);
  const part = lane.queue_capacity ? lane.queued / lane.queue_capacity : 0;
  row.bar.style.width = `${Math.min(100, Math.round(100 * part))}%`;
  setClass(row.bar, part > 0.8 ? "full" : "");
  setText(row.retries, count(lane.waiting_retries));
  setText(row.oldest, oldestText(lane));
  setText(row.committed, lane.committed === null ? "–" : whole.format(lane.committed));
  setText(row.rate, rateText(lane.rate));
  setText(row.deadRate, rateText(lane.dead_letter_rate ?? 0));
  setText(row.pause, lane.paused_by_hand ? "Resume" : "Pause");
  row.pause.setAttribute("aria-label", `${row.pause.textContent} ${name}`);
  row.skip.hidden = !lane.oldest?.error;
  row.skip.setAttribute("aria-label", `Skip the oldest record of ${name}`);
  fillDetail(row, lane);
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
    fillRow(row, lane);
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
  if (found === 0) setText(note, all === 0 ? "This process has no lanes now." : "No lane is like that.");
  else if (shown < found) setText(note, `and ${count(found - shown)} more, with less trouble; the filter finds them`);
}
