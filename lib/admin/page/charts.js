// Charts of the samples, drawn anew with each. The newest is at the right edge.

const chartWidth = 600, chartHeight = 100;
let pointedAt = null;  // the time under the pointer

/** At least two minutes, so that the first samples are not stretched over everything. */
function shownTime(now) {
  return Math.max(2 * 60 * 1000, samples.length ? now - samples[0].at : 0);
}

const positionOf = (at, now) => chartWidth * (1 - (now - at) / shownTime(now));

/** The next of 1, 1.5, 2, … 8, 10, 15, … */
function roundedUp(value) {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= value);
}

/** Stretches without a gap, each a list of [x, y]. */
function stretches(key, most, now) {
  const found = [[]];
  for (const sample of samples) {
    if (sample.gap) found.push([]);
    else found[found.length - 1].push([positionOf(sample.at, now), chartHeight * (1 - sample[key] / most)]);
  }
  return found.filter((points) => points.length > 0);
}

function nearest(known, at) {
  const nearer = (a, b) => (Math.abs(b.at - at) < Math.abs(a.at - at) ? b : a);
  return known.length ? known.reduce(nearer) : null;
}

function drawChart(id, key, text, noun) {
  const now = Date.now();
  const known = samples.filter((sample) => !sample.gap);
  const values = known.map((sample) => sample[key]);
  const most = roundedUp(Math.max(...values, 0));
  const shapes = [0.25, 0.5, 0.75].map((part) => shape("line", {
    class: "grid", x1: 0, x2: chartWidth, y1: chartHeight * part, y2: chartHeight * part}));
  for (const points of stretches(key, most, now)) {
    const line = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" L");
    const first = points[0][0].toFixed(1), last = points[points.length - 1][0].toFixed(1);
    shapes.push(shape("path", {class: "area", d: `M${first},${chartHeight} L${line} L${last},${chartHeight} Z`}),
                shape("path", {class: "line", d: `M${line}`}));
  }
  const pointed = pointedAt === null ? null : nearest(known, pointedAt);
  if (pointed) {
    const x = positionOf(pointed.at, now).toFixed(1);
    shapes.push(shape("line", {class: "pointer", x1: x, x2: x, y1: 0, y2: chartHeight}));
  }
  const chart = byId(`${id}-chart`);
  chart.replaceChildren(...shapes);
  const time = ageText(shownTime(now) / 1000);
  const latest = values.length ? text(values[values.length - 1]) : "not known";
  chart.setAttribute("aria-label", `${noun}: now ${latest}, at most ${text(Math.max(...values, 0))} in the last ${time}`);
  setText(byId(`${id}-now`), pointed ? `${clockText(pointed.at)}: ${text(pointed[key])}` : latest);
  setText(byId(`${id}-from`), `${time} ago`);
  setText(byId(`${id}-most`), `top ${text(most)}`);
}

/** Bars over the time in which `level` of the samples is something. */
function drawStretches(id, level) {
  const now = Date.now();
  const bars = [];
  let bar = null;
  samples.forEach((sample, index) => {
    const name = sample.gap ? "" : level(sample);
    if (bar?.name !== name) bars.push(bar = {name, from: positionOf(sample.at, now)});
    bar.to = index + 1 < samples.length ? positionOf(samples[index + 1].at, now) : chartWidth;
  });
  byId(id).replaceChildren(...bars.filter(({name}) => name).map(({name, from, to}) => shape("rect", {
    class: name, x: from.toFixed(1), y: 2, width: Math.max(2, to - from).toFixed(1), height: 8})));
}

function drawMarks(id, key, level) {
  const now = Date.now();
  byId(id).replaceChildren(...samples.filter((sample) => sample[key] > 0).map((sample) => shape("rect", {
    class: level, x: (positionOf(sample.at, now) - 1.5).toFixed(1), y: 1, width: 3, height: 10})));
}

function drawCharts() {
  drawChart("rate", "rate", (value) => `${rateText(value)}/s`, "Throughput");
  drawChart("lag", "lag", count, "Lag");
  drawStretches("ready-strip", (sample) => (sample.ready ? "" : "bad"));
  drawStretches("breaker-strip", (sample) => ({closed: "", off: "", open: "bad"})[sample.breaker] ?? "warn");
  drawMarks("dead-letter-strip", "letters", "warn");
  drawMarks("rebalance-strip", "rebalances", "plain");
}

for (const id of ["rate-chart", "lag-chart"]) {
  byId(id).addEventListener("pointermove", (event) => {
    const box = event.currentTarget.getBoundingClientRect(), now = Date.now();
    pointedAt = now - shownTime(now) * (1 - (event.clientX - box.left) / box.width);
    drawCharts();
  });
  byId(id).addEventListener("pointerleave", () => {
    pointedAt = null;
    drawCharts();
  });
}
