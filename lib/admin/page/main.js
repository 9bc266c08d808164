// Asks for the status and the history every two seconds and shows them; says so when there is no answer.

const interval = 2000, patience = 10000;
let last = null;      // the last status
let answered = 0;     // when it came
let silent = null;    // {since, why} while there is no answer
let next = 0;         // the timer of the next question
let asking = false;

function wordsOf(error) {
  if (error.name === "TimeoutError") return "no answer in time";
  return error instanceof TypeError && error.message.includes("fetch") ? "the service cannot be reached" : error.message;
}

/** What the charts show at their right edge before the next sample; null without a fresh status. */
function liveSample() {
  const before = samples[samples.length - 1];
  if (!last || silent || !before || before.at >= serviceNow()) return null;
  return {
    at: serviceNow(), rate: sum(last.lanes, "rate"), lag: sum(last.lanes, "lag"), ready: last.ready,
    breaker: last.breaker?.state ?? "closed", letters: Math.max(0, last.dead_letters - before.total), rebalances: 0,
    gap: serviceNow() - before.at > gapAfter,
  };
}

function showTime() {
  document.title = safeText(`${silent ? "no answer" : last?.ready === false ? "not ready" : "ready"} · ${last?.group ?? ""} · laneway`);
  const age = (Date.now() - answered) / 1000;
  if (answered) setText(byId("updated"), age < 5 ? "live" : `as of ${clockText(answered)}`);
  document.body.classList.toggle("stale", silent !== null);
  const banner = byId("no-answer");
  banner.hidden = silent === null;
  if (silent)
    setText(banner, `The service has not answered since ${clockText(silent.since)}: ${silent.why}. ` +
      (answered ? "This page shows the last answer." : ""));
}

function showAll() {
  showHeader(last);
  showFigures(last);
  showDownstream(last);
  showList("limits", "limits", limitTexts(last));
  showPools(last);
  showLanes(last);
}

function failed(error) {
  const why = wordsOf(error);
  if (!silent) addEvent("bad", `The service does not answer: ${why}.`);
  silent = {since: silent?.since ?? Date.now(), why};
}

async function get(path) {
  const answer = await fetch(path, {cache: "no-store", redirect: "error", signal: AbortSignal.timeout(patience)});
  if (!answer.ok) throw new Error(`the service returned ${answer.status}: ${(await answer.text()).slice(0, 200).trim()}`);
  return answer.json();
}

async function ask() {
  const status = await get("status");
  if (!learn(await get(`history?after=${known.last}`))) learn(await get("history"));
  if (silent) addEvent("good", "The service answers again.");
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
