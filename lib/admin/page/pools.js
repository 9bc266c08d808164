// The tables of a service with named pools: the pools, and their subscribers in trouble. Without named pools there are none.

/**
 * Shows rows without buttons in the table `id`, whose head is made of the columns: {label, text, and optionally kind, level}. `kind`
 * is the class of a cell: row-name and state stand in the first line on a phone, wide takes a whole line. A further column is a
 * further element of the list. `detail` gives the text below a row and its class; a row without such a text has none.
 */
function columnTable(id, columns, {key, detail}) {
  const shown = new Map();  // rows by key
  byId(id).append(element("thead", {role: "rowgroup"}, element("tr", {role: "row"}, ...columns.map(({label, kind}) =>
    element("th", {role: "columnheader", scope: "col", ...(!kind && {class: "number"})}, label)))));

  function newEntry() {
    const cells = columns.map(({label, kind}) => (kind === "row-name"
      ? element("th", {role: "rowheader", scope: "row", class: kind})
      : element("td", {role: "cell", class: kind ?? "number", ...(kind !== "state" && {"data-label": label})})));
    const text = element("span");
    const detailRow = element("tr", {role: "row", class: "detail"}, element("td", {role: "cell", colspan: columns.length}, text));
    return {cells, text, detailRow, body: element("tbody", {role: "rowgroup"}, element("tr", {role: "row", class: "entry"}, ...cells), detailRow)};
  }

  function fill(entry, item) {
    columns.forEach(({text, kind, level}, index) => {
      setText(entry.cells[index], text(item));
      if (level) setClass(entry.cells[index], `${kind ?? "number"} ${level(item)}`);
    });
    const {words, level} = detail(item);
    setText(entry.text, words);
    setClass(entry.text, level);
    entry.detailRow.hidden = !words;
  }

  return (items) => {
    const table = byId(id), keys = new Set(items.map(key));
    for (const [name, entry] of shown) {
      if (keys.has(name)) continue;
      entry.body.remove();
      shown.delete(name);
    }
    let after = table.tHead;
    for (const item of items) {
      const entry = shown.get(key(item)) ?? newEntry();
      shown.set(key(item), entry);
      fill(entry, item);
      if (after.nextElementSibling !== entry.body) after.after(entry.body);
      after = entry.body;
    }
  };
}

const breakerLevel = (code) => breakerState(code).figure || (code === "closed" ? "good" : "idle");

/** Green only without any trouble, also of the pool's subscribers. */
function poolLevel({breaker, trouble}) {
  const level = breakerLevel(breaker?.state);
  return level === "good" && trouble ? "warn" : level;
}

/** Of the workers of all lanes, or of those that the process may run at once. */
const slotsOf = ({workers, total}) => (total > 0 ? Math.min(workers, total) : workers);

/** Of a pool or subscriber: how many records are parked, and how long the oldest has waited. */
const parkedText = ({parked, parked_oldest_seconds: age}) => (parked ? `${count(parked)}, ${ageText(age)}` : "0");

const poolColumns = [
  {label: "Pool", kind: "row-name", text: ({name}) => name},
  {label: "Breaker", kind: "state", text: ({breaker}) => breakerState(breaker?.state).words, level: poolLevel},
  {label: "Downstream", kind: "wide", text: ({breaker}) => breaker?.downstream ?? "–"},
  {label: "Running", text: (pool) => `${count(pool.running)}/${count(slotsOf(pool))}`},
  {label: "Queued", text: (pool) => `${count(pool.queued)}/${count(pool.queue_capacity)}`},
  {label: "Waiting", text: (pool) => count(pool.waiting + pool.waiting_retries)},
  {label: "Parked", text: parkedText},
  {label: "Retries", text: ({retries}) => count(retries)},
  {label: "Oldest", text: (pool) => (pool.oldest_seconds ? ageText(pool.oldest_seconds) : "–")},
  {label: "Attempts/s", text: ({rate}) => rateText(rate ?? 0)},
  {label: "Subscribers out", text: ({subscribers}) => (subscribers ? `${count(subscribers.out)}/${count(subscribers.known)}` : "–")},
];

/** What is wrong with the pool; else where its records go on, and who helps. */
function poolDetail(pool) {
  if (pool.trouble) return {words: pool.trouble, level: pool.breaker?.since ? "bad" : "warn"};
  const parts = [pool.then && `then ${pool.then}`, pool.helped_by?.length && `helped by ${listed(pool.helped_by)}`];
  return {words: parts.filter(Boolean).join(" · "), level: "muted"};
}

const subscriberColumns = [
  {label: "Subscriber", kind: "row-name", text: ({name}) => name},
  {label: "Breaker", kind: "state", text: ({state}) => breakerState(state).words, level: ({state}) => breakerLevel(state)},
  {label: "Pool", kind: "wide", text: ({pool}) => pool},
  {label: "Running", text: ({running, most}) => (most ? `${count(running)}/${count(most)}` : count(running))},
  {label: "Waiting", text: ({waiting}) => count(waiting)},
  {label: "Parked", text: parkedText},
];

const showPoolRows = columnTable("pool-table", poolColumns, {key: ({name}) => name, detail: poolDetail});
const showSubscriberRows = columnTable("subscriber-table", subscriberColumns, {
  key: ({pool, name}) => JSON.stringify([pool, name]),
  detail: ({state, text}) => ({words: text, level: breakerState(state).figure ? "bad" : "warn"}),
});

/** Those that are out first, of all pools; the status has some of each pool, the worst first. */
function showSubscribers(pools) {
  const all = pools.filter(({subscribers}) => subscribers);
  const worst = all.flatMap(({name, subscribers}) => subscribers.worst.map((one) => ({pool: name, ...one})));
  worst.sort((a, b) => Boolean(breakerState(b.state).figure) - Boolean(breakerState(a.state).figure));
  const troubled = all.reduce((total, {subscribers: {out, at_limit: atLimit, with_parked: withParked}}) =>
    total + out + atLimit + (withParked ?? 0), 0);
  const known = all.reduce((total, {subscribers}) => total + subscribers.known, 0);
  byId("subscribers").hidden = worst.length === 0;
  setText(byId("subscriber-count"), `${count(troubled)} of ${count(known)}`);
  const note = byId("subscriber-note");
  note.hidden = troubled <= worst.length;
  setText(note, note.hidden ? "" : `${count(troubled - worst.length)} more subscribers with less trouble are not shown.`);
  showSubscriberRows(worst);
}

/** The place of the pool's kind of trouble in the table: 2 for a pool that is out, 0 for none. */
const poolTrouble = ({breaker, trouble}) => (breakerState(breaker?.state).figure ? 2 : trouble ? 1 : 0);

/** Those that are out first, then those in other trouble; else in the order of the configuration. */
function showPools({pools = [], parked_orders: orders = []}) {
  byId("pools").hidden = pools.length === 0;
  setText(byId("pool-count"), count(pools.length));
  showPoolRows([...pools].sort((a, b) => poolTrouble(b) - poolTrouble(a)));
  byId("parked-orders").hidden = orders.length === 0;
  setText(byId("parked-orders"), orders.map((order) => `Order of an operator: ${order}.`).join(" "));
  showSubscribers(pools);
}
