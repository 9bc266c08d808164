// Suspend, resume and skip: each is asked for in a dialog that says what will happen. The token stays in its input and nowhere else.

const meanings = {
  suspend: "The lane takes no more records; the records that it has taken are finished. The lane stays suspended until an operator resumes the lane, also after a restart and in the instance that gets the partition next.",
  resume: "The lane takes records again.",
  skip: "The record goes to the dead-letter topic with your reason, and the commits of its partition go on.",
};
const verbs = {suspend: "Suspend", resume: "Resume", skip: "Skip"};
let asked = null;  // {action, lane}

function openControl(action, lane) {
  asked = {action, lane};
  const name = nameOf(lane), skip = action === "skip";
  setText(byId("control-title"), skip ? `Skip record ${name}:${lane.oldest.offset}?` : `${verbs[action]} ${name}?`);
  setText(byId("control-means"), meanings[action]);
  setText(byId("control-record"), skip ? `${recordText(lane)}: ${lane.oldest.error}` : "");
  setText(byId("scope-lane"), `this lane, ${name}`);
  setText(byId("scope-topic"), `all lanes of ${lane.topic} in this process`);
  setText(byId("control-do"), verbs[action]);
  setText(byId("control-refused"), "");
  byId("control-scope").hidden = skip;
  byId("control-reason").hidden = !skip;
  byId("reason").required = skip;
  byId("reason").value = "";
  byId("control-form").elements.scope.value = "lane";
  byId("control").showModal();
}

function controlRequest({action, lane}) {
  const whole = action !== "skip" && byId("control-form").elements.scope.value === "topic";
  const token = byId("token").value;
  const body = action === "skip" ? JSON.stringify({offset: lane.oldest.offset, reason: byId("reason").value}) : "";
  return {
    // Relative, so that a proxy may serve this page below a path of its own.
    path: `lanes/${encodeURIComponent(lane.topic)}/${whole ? "" : `${lane.partition}/`}${action}`,
    options: {
      method: "POST", body, cache: "no-store", redirect: "error", signal: AbortSignal.timeout(15000),
      headers: {"Content-Type": "application/json", "X-Laneway": "1", ...(token && {Authorization: `Bearer ${token}`})},
    },
  };
}

function refuse(text) {
  setText(byId("control-refused"), text);
}

async function doControl() {
  const request = asked;
  byId("control-do").disabled = true;
  refuse("");
  try {
    const {path, options} = controlRequest(request);
    const answer = await fetch(path, options);
    const text = (await answer.text()).trim();
    if (answer.ok) {
      byId("control").close();
      say(text);
      addEvent("warn", `From this page: ${text}`);
      askNow();
    } else {
      refuse(`Refused: ${text || `status ${answer.status}`}`);
      if (answer.status === 401) byId("token").focus();
    }
  } catch (error) {
    refuse(`The result is unknown: ${wordsOf(error)}.`);
  } finally {
    byId("control-do").disabled = false;
  }
}

let sayingEnds = 0;

function say(text) {
  setText(byId("said"), text);
  clearTimeout(sayingEnds);
  sayingEnds = setTimeout(() => setText(byId("said"), ""), 8000);
}

byId("control-form").addEventListener("submit", (event) => {
  event.preventDefault();
  doControl();
});
byId("control-cancel").addEventListener("click", () => byId("control").close());
