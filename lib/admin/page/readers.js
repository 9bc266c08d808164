// Reads the charts: the values of the sample under the mouse or the finger, or of the one that the arrow keys lead to. All charts
// show the same moment.

function stripText(sample) {
  const parts = [sample.ready ? "ready" : "not ready", `breaker ${breakerState(sample.breaker).words}`];
  if (sample.letters) parts.push(plural(sample.letters, "dead letter"));
  if (sample.rebalances) parts.push(plural(sample.rebalances, "rebalance"));
  return parts.join(", ");
}

const perSecond = (value) => `${rateText(value)}/s`;
const readers = [
  {id: "rate", key: "rate", value: perSecond, text: (sample) => perSecond(sample.rate)},
  {id: "lag", key: "lag", value: count, text: (sample) => count(sample.lag)},
  {id: "strip", key: "", text: stripText},
];

function nearestTo(at) {
  const nearer = (a, b) => (Math.abs(b.at - at) < Math.abs(a.at - at) ? b : a);
  return view.shown.length ? view.shown.reduce(nearer) : null;
}

function drawPointers() {
  const {shown} = view;
  const read = pointedAt === null ? null : nearestTo(pointedAt);
  for (const {id, text} of readers) {
    const chart = byId(`${id}-chart`), pointer = chart.querySelector(".pointer"), tip = chart.querySelector(".tip");
    const sample = read ?? shown[shown.length - 1];
    const words = sample ? `${clockText(sample.at)}: ${text(sample)}` : "no sample yet";
    chart.setAttribute("aria-valuemax", Math.max(0, shown.length - 1));
    chart.setAttribute("aria-valuenow", sample ? shown.indexOf(sample) : 0);
    chart.setAttribute("aria-valuetext", safeText(words));
    pointer.hidden = tip.hidden = read === null;
    if (read === null) continue;
    pointer.style.left = percentOf(read.at);
    const atRight = positionOf(read.at) > chartWidth / 2;
    tip.style.left = atRight ? "" : percentOf(read.at);
    tip.style.right = atRight ? `calc(100% - ${percentOf(read.at)})` : "";
    setText(tip, words);
  }
}

function readNone() {
  pointedAt = null;
  drawPointers();
}

function readUnder(event) {
  const box = event.currentTarget.getBoundingClientRect();
  pointedAt = nearestTo(view.from + (view.to - view.from) * (event.clientX - box.left) / box.width)?.at ?? null;
  drawPointers();
}

/** Where a key leads to among `count` samples; nothing for other keys. */
function steppedTo(key, index, last) {
  const steps = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -12, PageUp: 12, Home: -last, End: last};
  return key in steps ? Math.min(last, Math.max(0, index + steps[key])) : null;
}

function readByKey(event) {
  if (event.key === "Escape") return readNone();
  const {shown} = view;
  const index = pointedAt === null ? shown.length - 1 : shown.indexOf(nearestTo(pointedAt));
  const next = steppedTo(event.key, index, shown.length - 1);
  if (next === null || shown.length === 0) return;
  event.preventDefault();
  pointedAt = shown[next].at;
  drawPointers();
}

for (const {id} of readers) {
  const chart = byId(`${id}-chart`);
  chart.addEventListener("pointerdown", readUnder);
  chart.addEventListener("pointermove", readUnder);
  // A finger leaves when it is lifted: what it touched is read on.
  chart.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && readNone());
  chart.addEventListener("keydown", readByKey);
  chart.addEventListener("blur", ({relatedTarget}) => relatedTarget?.closest("[role=slider]") || readNone());
}
document.addEventListener("pointerdown", ({target}) => target.closest("[role=slider]") || readNone());
addEventListener("resize", drawCharts);
byId("range").addEventListener("change", () => {
  pointedAt = null;
  drawCharts();
});
