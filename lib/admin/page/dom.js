// Elements are made of text and attributes alone: nothing in a record or an error is read as markup.

const byId = (id) => document.getElementById(id);

// Characters that control how text is shown, as utf8_control() of base/utf8.h has them: an error of a web service must not read as
// another text.
const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function safeText(text) {
  return String(text).replace(controls, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, safeText(value));
  made.append(...children.map((child) => (typeof child === "string" ? safeText(child) : child)));
  return made;
}

function shape(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** By the code of a breaker's state: its words for people, and how bad it is as a figure and in the chart. */
const breakerStates = {
  closed: {words: "closed", figure: "", strip: ""},
  half_open: {words: "half open", figure: "bad", strip: "warn"},
  open: {words: "open", figure: "bad", strip: "bad"},
  off: {words: "off", figure: "", strip: ""},
};
const breakerState = (code) => breakerStates[code] ?? {words: code ?? "none", figure: "", strip: "warn"};

/** Leaves a text that is right as it is, so that a selection and a screen reader's place survive. */
function setText(node, text) {
  const safe = safeText(text);
  if (node.textContent !== safe) node.textContent = safe;
}

function setClass(node, name) {
  if (node.getAttribute("class") !== name) node.setAttribute("class", name);
}

// Words for numbers and times.

const whole = new Intl.NumberFormat("en", {maximumFractionDigits: 0});
const short = new Intl.NumberFormat("en", {notation: "compact", maximumFractionDigits: 1});

/** A dash for a number that is not known. */
function count(value) {
  if (value === null || value === undefined) return "–";
  return value < 100000 ? whole.format(value) : short.format(value);
}

function rateText(value) {
  return value < 10 ? value.toFixed(1) : count(value);
}

function ageText(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

function clockText(time) {
  return new Date(time).toLocaleTimeString([], {hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false});
}

function plural(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** At most `most` names, then how many more there are. */
function listed(names, most = 6) {
  const rest = names.length - most;
  return names.slice(0, most).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
