// Charts of the samples, drawn anew with each. The newest is at the right edge, and below are the times of the service's clock.

const chartWidth = 600, chartHeight = 100;
const tickSteps = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200].map((step) => step * 1000);
const view = {from: 0, to: 1, shown: []};  // the times of the charts' edges, and the samples between them
let pointedAt = null;                      // the time of the sample that is read

/** At least two minutes, so that the first samples are not stretched over everything. */
function lookAgain() {
  const most = Number(byId("range").elements.range.value) * 60 * 1000, now = serviceNow();
  const oldest = samples.length ? now - samples[0].at : 0;
  view.to = now;
  view.from = now - Math.min(most, Math.max(2 * 60 * 1000, oldest));
  view.shown = samples.filter((sample) => sample.at >= view.from);
  const live = liveSample();
  if (live) view.shown.push(live);
}

const positionOf = (at) => chartWidth * (at - view.from) / (view.to - view.from);
const percentOf = (at) => `${(positionOf(at) / chartWidth * 100).toFixed(2)}%`;

/** The next of 1, 1.5, 2, … 8, 10, 15, … */
function roundedUp(value) {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= value);
}

/** Stretches without a gap, each a list of [x, y]. */
function stretches(key, most) {
  const found = [];
  for (const sample of view.shown) {
    if (sample.gap || found.length === 0) found.push([]);
    found[found.length - 1].push([positionOf(sample.at), chartHeight * (1 - sample[key] / most)]);
  }
  return found;
}

/** Round times of the day, so few that their labels have room. */
function ticks() {
  const most = matchMedia("(max-width: 760px)").matches ? 4 : 8;
  const step = tickSteps.find((one) => (view.to - view.from) / one <= most) ?? tickSteps[tickSteps.length - 1];
  const zone = new Date(view.to).getTimezoneOffset() * 60 * 1000;
  const times = [];
  for (let at = Math.ceil((view.from - zone) / step) * step + zone; at <= view.to; at += step) times.push({at, step});
  return times;
}

function drawTimes(id) {
  const labels = ticks().filter(({at}) => positionOf(at) > chartWidth * 0.04 && positionOf(at) < chartWidth * 0.94);
  byId(id).replaceChildren(...labels.map(({at, step}) => {
    const label = element("span", {}, step < 60000 ? clockText(at) : clockText(at).slice(0, 5));
    label.style.left = percentOf(at);
    return label;
  }));
}

function grid() {
  const across = [0.5].map((part) => shape("line", {
    class: "grid", x1: 0, x2: chartWidth, y1: chartHeight * part, y2: chartHeight * part}));
  return across.concat(ticks().map(({at}) => shape("line", {
    class: "grid", x1: positionOf(at).toFixed(1), x2: positionOf(at).toFixed(1), y1: 0, y2: chartHeight})));
}

function drawChart(id, key, text) {
  const values = view.shown.map((sample) => sample[key]);
  const most = roundedUp(Math.max(...values, 0));
  const shapes = grid();
  for (const points of stretches(key, most)) {
    const line = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" L");
    const first = points[0][0].toFixed(1), last = points[points.length - 1][0].toFixed(1);
    shapes.push(shape("path", {class: "area", d: `M${first},${chartHeight} L${line} L${last},${chartHeight} Z`}),
                shape("path", {class: "line", d: `M${line}`}));
  }
  byId(`${id}-chart`).querySelector("svg").replaceChildren(...shapes);
  const [top, half] = byId(`${id}-axis`).children;
  setText(top, text(most));
  setText(half, Number.isInteger(most / 2) || key === "rate" ? text(most / 2) : "");
  drawTimes(`${id}-times`);
  setText(byId(`${id}-now`), values.length ? text(values[values.length - 1]) : "not known");
}

/** Bars over the time in which `level` of the samples is something. */
function drawStretches(id, level) {
  const bars = [];
  let bar = null;
  view.shown.forEach((sample, index) => {
    const name = level(sample), next = view.shown[index + 1];
    if (bar?.name !== name || sample.gap) bars.push(bar = {name, from: positionOf(sample.at)});
    bar.to = positionOf(next && !next.gap ? next.at : next ? sample.at : view.to);
  });
  byId(id).replaceChildren(...bars.filter(({name}) => name).map(({name, from, to}) => shape("rect", {
    class: name, x: from.toFixed(1), y: 2, width: Math.max(2, to - from).toFixed(1), height: 8})));
}

function drawMarks(id, key, level) {
  byId(id).replaceChildren(...view.shown.filter((sample) => sample[key] > 0).map((sample) => shape("rect", {
    class: level, "data-count": sample[key], x: (positionOf(sample.at) - 1.5).toFixed(1), y: 1, width: 3, height: 10})));
}

function drawCharts() {
  lookAgain();
  for (const {id, key, value} of readers) if (key) drawChart(id, key, value);
  drawStretches("ready-strip", (sample) => (sample.ready ? "" : "bad"));
  drawStretches("breaker-strip", (sample) => breakerState(sample.breaker).strip);
  drawMarks("dead-letter-strip", "letters", "warn");
  drawMarks("rebalance-strip", "rebalances", "plain");
  drawTimes("strip-times");
  drawPointers();
}
