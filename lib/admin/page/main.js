// Asks for the status every two seconds and shows it; says so when there is no answer.

const interval = 2000, patience = 10000;
let last = null;      // the last status
let answered = 0;     // when it came
let silent = null;    // {since, why} while there is no answer
let next = 0;         // the timer of the next question
let asking = false;

function wordsOf(error) {
  if (error.name === "TimeoutError") return "no answer in time";
  return error instanceof TypeError && error.message.includes("fetch") ? "nothing answers there" : error.message;
}

function showFigures(status) {
  const lanes = status.lanes;
  const oldest = Math.max(0, ...lanes.map((lane) => lane.oldest?.age_seconds ?? 0));
  const unknown = lanes.filter((lane) => lane.lag === null).length;
  const queue = sum(lanes, "queue_capacity"), breaker = status.breaker?.state;
  const figures = [
    ["Records/s", rateText(sum(lanes, "rate"))],
    ["Dead letters/s", rateText(sum(lanes, "dead_letter_rate")), sum(lanes, "dead_letter_rate") ? "warn" : ""],
    [unknown ? `Lag (${unknown} not known)` : "Lag", count(sum(lanes, "lag"))],
    ["At work", `${count(sum(lanes, "in_flight"))}/${count(sum(lanes, "workers"))}`],
    ["Queued", count(sum(lanes, "queued")), queue && sum(lanes, "queued") > 0.8 * queue ? "bad" : ""],
    ["Retries waiting", count(sum(lanes, "waiting_retries")), sum(lanes, "waiting_retries") ? "warn" : ""],
    ["Dead letters", count(sum(lanes, "dead_letters")), sum(lanes, "dead_letters") ? "warn" : ""],
    ["Oldest record", oldest ? ageText(oldest) : "–"],
    ["Breaker", breaker ?? "none", ["open", "half_open"].includes(breaker) ? "bad" : ""],
  ];
  const list = byId("figures");
  if (list.childElementCount !== figures.length)
    list.replaceChildren(...figures.map(() => element("div", {}, element("dt"), element("dd"))));
  figures.forEach(([name, value, level], index) => {
    const [term, figure] = list.children[index].children;
    setText(term, name);
    setText(figure, value);
    setClass(figure, level || "plain");
  });
}

/** How its calls fail while most of them work; of an outage a reason says it. */
function showDownstream(status) {
  const failures = status.breaker?.since ? "" : status.breaker?.failures;
  setText(byId("downstream"), failures ? `The downstream ${status.breaker.downstream} ${failures}.` : "");
  byId("downstream").hidden = !failures;
}

function showHeader(status) {
  setText(byId("group"), status.group);
  setText(byId("about"), `version ${status.version}, up ${ageText(status.uptime_seconds)}, ${plural(status.members, "member")}`);
  const pill = byId("ready");
  setText(pill, status.ready ? "ready" : "not ready");
  setClass(pill, status.ready ? "pill good" : "pill bad");
  showList("reasons", "reason-list", status.reasons.map((reason) => reason.text));
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

let drawnEvents = null;  // the newest event that is in the list

function showEvents() {
  if (drawnEvents === (events[0] ?? null)) return;
  drawnEvents = events[0];
  byId("no-events").hidden = true;
  byId("events").replaceChildren(...events.map((event) => element("li", {},
    element("time", {datetime: new Date(event.at).toISOString()}, clockText(event.at)),
    element("span", {class: event.level}, event.text))));
}

function showTime() {
  document.title = `${silent ? "no answer" : last?.ready === false ? "not ready" : "ready"} · ${last?.group ?? ""} · laneway`;
  const age = (Date.now() - answered) / 1000;
  if (answered) setText(byId("updated"), age < 5 ? "live" : `as of ${clockText(answered)}`);
  document.body.classList.toggle("stale", silent !== null);
  const banner = byId("no-answer");
  banner.hidden = silent === null;
  if (silent)
    setText(banner, `The service does not answer since ${clockText(silent.since)}: ${silent.why}. ` +
      (answered ? "What is below is how it was then." : ""));
}

function showAll() {
  showHeader(last);
  showFigures(last);
  showDownstream(last);
  showLanes(last);
}

function failed(error) {
  const why = wordsOf(error);
  if (!silent) addEvent("bad", `No answer: ${why}`);
  silent = {since: silent?.since ?? Date.now(), why};
  addSample({at: Date.now(), gap: true});
}

async function ask() {
  const answer = await fetch("status", {cache: "no-store", redirect: "error", signal: AbortSignal.timeout(patience)});
  if (!answer.ok) throw new Error(`it answers ${answer.status}, ${(await answer.text()).slice(0, 200).trim()}`);
  const status = await answer.json();
  remember(last, status);
  if (silent) addEvent("good", "It answers again.");
  last = status;
  answered = Date.now();
  silent = null;
  showAll();
}

async function poll() {
  asking = true;
  try {
    await ask();
  } catch (error) {
    failed(error);
  }
  asking = false;
  showTime();
  showEvents();
  drawCharts();
  next = setTimeout(poll, interval);
}

/** Without waiting for the next time. */
function askNow() {
  if (asking) return;
  clearTimeout(next);
  poll();
}

byId("filter").addEventListener("input", () => last && showLanes(last));
setInterval(showTime, 1000);
poll();
