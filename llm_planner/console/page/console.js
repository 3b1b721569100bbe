"use strict";
// What the server sends is an object with the values that changed, by name; `state` has the newest of each.
const state = {};
const byId = (id) => document.getElementById(id);
const STALE = 2000; // ms without a message of the server, after which the page says that it is old

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}
function chip(id, text, kind) {
  const shown = byId(id);
  shown.textContent = text;
  shown.className = "chip " + (kind || "");
  shown.hidden = !text;
}
const address = (path) => location.origin.replace(/^http/, "ws") + path;

// Connections: one for all else, one for the stop alone

let events = null, stopping = null, heard = 0, link = "Connecting to the robot …";
function connect() {
  events = new WebSocket(address("/events"));
  events.binaryType = "arraybuffer";
  events.onmessage = (message) => {
    heard = Date.now();
    link = "";
    const news = JSON.parse(message.data);
    Object.assign(state, news);
    for (const name of Object.keys(news)) (show[name] || (() => {}))();
    showLife();
  };
  events.onclose = () => {
    link = "The connection to the robot is lost. What you see is old. Trying again …";
    for (const name of Object.keys(state)) delete state[name];
    unheard.length = 0;
    showLife();
    setTimeout(connect, 700);
  };
}
function connectStop() {
  stopping = new WebSocket(address("/stop"));
  stopping.onmessage = (message) => notice(message.data);
  stopping.onclose = () => setTimeout(connectStop, 700);
}
let noticed = 0;
function notice(text) {
  noticed = Date.now();
  byId("alarm").dataset.notice = text;
  showLife();
}
function stop() {
  if (voice) voice.cancel();
  if (stopping.readyState === WebSocket.OPEN) {
    stopping.send("stop");
    notice("Stopping …");
  } else if (events && events.readyState === WebSocket.OPEN) {
    send({ do: "correct", words: "stop" });
    notice("Stopping …");
  } else notice("NOT stopped: there is no connection to the robot. Use its emergency stop.");
}
function send(request) {
  if (!events || events.readyState !== WebSocket.OPEN) return false;
  events.send(JSON.stringify(request));
  return true;
}

function showLife() {
  const alarm = byId("alarm"), live = state.live || {};
  const silent = heard && Date.now() - heard > STALE;
  let text = link || (silent ? "The console does not answer. What you see is old." : "");
  if (!text && state.live && !live.scene) text = "Nothing shows the scene: the simulator or the perception is silent. The 3D view is old.";
  if (!text && state.live && !live.executor) text = "The plan executor is silent. The plan that you see is old.";
  document.body.classList.toggle("stale", Boolean(text));
  document.body.classList.toggle("waiting", !heard);
  const recent = Date.now() - noticed < 4000 ? alarm.dataset.notice : "";
  const told = recent || text || state.diagnosis || (state.trouble || [])[0] || "";
  alarm.hidden = !told;
  alarm.textContent = told;
  alarm.classList.toggle("soft", !heard || (!text && (!recent || recent.startsWith("Stopp"))));
  if (text) chip("state", heard ? "old" : "connecting", heard ? "bad" : ""); else showState();
}
setInterval(showLife, 500);

// What is shown

const unheard = []; // words that this page has sent and the robot has not repeated yet
const isOver = () => (state.plan || {}).state === "done" && !state.replay;  // then its last errand can still be corrected
const underWay = () => ["running", "held"].includes((state.plan || {}).state);
function showState() {
  const plan = state.plan || {}, motion = state.motion || {};
  const planning = (state.rehearsal || {}).verdict === "wait" && !underWay();
  const kinds = { running: "accent", held: "close", done: "good", failed: "bad", stopped: "bad" };
  chip("state", planning ? "planning" : plan.state || "idle", planning ? "accent" : kinds[plan.state]);
  const said = (state.talk || []).findLast((line) => line.who === "person");
  byId("command").textContent = (planning ? said && said.text : plan.command) || "Say what the robot should do";
  byId("command").title = motion.reason || plan.message || "";
}
const show = {
  plan() {
    showState();
    const plan = state.plan, steps = byId("steps"), before = show.steps || [];
    show.steps = plan.steps;
    const now = plan.steps.find((step) => step.status === "running");
    steps.replaceChildren(...plan.steps.map((step) => {
      const line = element("li", step.status), old = before.find((one) => one.id === step.id);
      const text = element("span", "", step.text);
      if (step.message && step.status !== "done") text.append(element("small", "", step.message));
      if (show.planId === plan.id && before.length && (!old || old.text !== step.text)) line.classList.add("changed");
      line.append(text);
      return line;
    }));
    if (!plan.steps.length) steps.append(element("li", "empty", "no plan yet"));
    else if (!plan.complete) steps.append(element("li", "empty", "… the rest depends on what the scene shows then"));
    show.planId = plan.id;
    byId("now").textContent = now ? `${plan.steps.indexOf(now) + 1}/${plan.steps.length} ${now.text}` : "";
    byId("program").replaceChildren(...(plan.program || "# the program of the plan").split("\n").map((text, number) =>
      element("span", now && now.line === number + 1 ? "now" : "", text || " ")));
    if (now) (steps.querySelector(".running") || steps).scrollIntoView({ block: "nearest" });
    byId("undo").hidden = !(isOver() || (underWay() && plan.edits.length));
    byId("undo").textContent = isOver() ? "Put back" : "Undo edit";
    byId("undo").title = isOver() ? "lay back what was moved last (Ctrl+Z)"
      : plan.edits.length ? `undo “${plan.edits[plan.edits.length - 1]}” (Ctrl+Z)` : "";
    byId("hold").hidden = !underWay();
    byId("preview").hidden = !underWay() && !isOver();
    byId("preview").textContent = isOver() ? "Correct" : "Preview";
    byId("preview").title = isOver() ? "change what was done last: “no, the blue one”, “not there, on the plate” (Alt+Enter)"
      : "show what would change, without changing it (Alt+Enter)";
    byId("hold").textContent = plan.state === "held" ? "Go on" : "Hold";
    byId("words").placeholder = underWay() ? "“slower”, “no, the blue one”, …" : "Tell the robot what to do";
    byId("mode").textContent = underWay() ? "your words correct the plan"
      : isOver() ? "your words are a command, or correct what was done last" : "your words are a command";
    showRules();
  },
  rehearsal() {
    const told = state.rehearsal, kinds = { allow: "good", ask: "close", block: "bad", wait: "accent" };
    const words = { allow: "rehearsed", ask: "asks", block: "refused", wait: "planning", none: "not rehearsed" };
    chip("verdict", words[told.verdict], kinds[told.verdict]);
    byId("verdict").title = told.text;
    showState();
  },
  rules: showRules,
  margins: showRules,
  motion() {
    const motion = state.motion, limit = motion.limit;
    const full = Math.max(limit === null ? 0 : 1.25 * limit, motion.speed, 0.4);
    byId("speed-bar").style.width = `${Math.min(100, 100 * motion.speed / full)}%`;
    byId("speed-limit").style.left = limit === null ? "100%" : `${100 * limit / full}%`;
    byId("speed-limit").hidden = limit === null;
    byId("speed").textContent = `${motion.speed.toFixed(2)} m/s` + (limit === null ? "" : ` of ${limit.toFixed(2)}`);
    byId("held").hidden = !motion.held;
    byId("held").textContent = `holds: ${motion.held}`;
  },
  model() {
    const { commands, corrections, doing } = state.model;
    const names = [...new Set([commands, corrections].filter(Boolean))].join(" + ") || "–";
    byId("model").textContent = `${names} · ${doing}`;
  },
  camera() {
    const picture = document.querySelector("#camera img");
    picture.hidden = !(state.camera && looking);
    if (state.camera) picture.src = state.camera;
  },
  replay: showReplay,
  talk() {
    const said = byId("said"), lines = state.talk, last = lines[lines.length - 1];
    const isHeard = (one) => lines.some((line) => line.id > one.after && (line.who === "robot" || line.text === one.words));
    unheard.splice(0, unheard.length, ...unheard.filter((one) => !isHeard(one)));
    const asking = last && last.options && last.options.length && !unheard.length;
    const wasAnswering = document.activeElement.closest(".options");
    const atEnd = said.scrollHeight - said.scrollTop - said.clientHeight < 60;
    said.replaceChildren(...lines.map((line) => {
      const kinds = { applied: "good", succeeded: "good", question: "question", refused: "bad", nothing: "", stopped: "bad" };
      const kind = line.outcome === undefined || line.outcome === "" ? "" : kinds[line.outcome] === undefined ? "bad" : kinds[line.outcome];
      const shown = element("div", `line ${line.who} ${kind}`, line.text);
      if (line.difference && line.difference.length) {
        const list = element("ul", "diff");
        list.append(...line.difference.map((text) => element("li", { "+": "new", "-": "gone" }[text[0]] || "", text)));
        shown.append(list);
      }
      if (line === last && asking) {
        const options = element("div", "options");
        options.append(...line.options.map((option, number) => {
          const button = element("button", "", option);
          button.title = `Alt+${number + 1}`;
          button.onclick = () => speak("say", option);
          return button;
        }));
        shown.append(options);
      }
      return shown;
    }));
    said.append(...unheard.map((one) => element("div", "line person unheard", one.words)));
    if (wasAnswering) byId("words").focus();
    if (!said.children.length) said.append(element("div", "empty", "Try “put the red block in the green bowl”, and while the robot moves “slower” or “no, the blue one”."));
    if (atEnd) said.scrollTop = said.scrollHeight;
    readAloud();
  },
};

// A recording instead of a robot: where it is, and what the person wants to see

function showReplay() {
  const { at, length, paused, rate, name, marks, seeks } = state.replay, time = byId("time"), track = byId("marks");
  document.body.classList.add("replay");
  byId("replay").hidden = false;
  byId("replayed").replaceChildren(element("span", "", "Recording "), name);
  byId("replayed").title = name;
  byId("pause").textContent = paused ? "▶" : "❚❚";
  byId("rate").value = rate;
  time.max = length;
  if (!time.matches(":active")) time.value = at;
  byId("clock").textContent = seeks ? `reading up to ${at.toFixed(1)} s …` : `${at.toFixed(1)} of ${length.toFixed(1)} s`;
  if (track.childElementCount === marks.length) return;
  track.replaceChildren(...marks.map(([when, text]) => {
    const kind = /^(command|correction)/.test(text) ? "said" : /failed|not done|broken|cannot/.test(text) ? "bad" : "";
    const mark = element("i", kind);
    mark.title = `${when.toFixed(1)} s  ${text}`;
    mark.style.left = `calc(8px + (100% - 16px) * ${when / length})`;
    mark.onclick = () => send({ do: "replay", to: when });
    return mark;
  }));
}
function skip(forward) {
  const { at, marks, length } = state.replay, times = marks.map(([when]) => when);
  const to = forward ? times.find((when) => when > at + 0.1) : times.findLast((when) => when < at - 0.6);
  send({ do: "replay", to: to === undefined ? (forward ? length : 0) : to });
}
const pause = () => send({ do: "replay", paused: !state.replay.paused });
byId("time").oninput = () => { byId("clock").textContent = `${Number(byId("time").value).toFixed(1)} s`; };
byId("time").onchange = () => send({ do: "replay", to: Number(byId("time").value) });
byId("rate").onchange = () => send({ do: "replay", rate: Number(byId("rate").value) });
byId("pause").onclick = pause;
byId("back").onclick = () => skip(false);
byId("next").onclick = () => skip(true);

// What the robot answers, aloud in this page: the newest answer cuts older ones off

const voice = window.speechSynthesis;
let aloud = false, read = 0;
function readAloud() {
  const last = (state.talk || []).findLast((line) => line.who === "robot");
  if (!last || last.id === read) return;
  read = last.id;
  if (!aloud) return;
  voice.cancel();
  if (last.spoken) voice.speak(new SpeechSynthesisUtterance(last.spoken));
}
byId("aloud").hidden = !voice;
byId("aloud").onclick = () => {
  aloud = !aloud;
  byId("aloud").setAttribute("aria-pressed", aloud);
  if (!aloud) voice.cancel();
};

function showRules() {
  const rules = state.rules || [], series = state.margins || { rules: [], times: [], values: [] };
  byId("rules").hidden = !rules.length;
  byId("rule-list").replaceChildren(...rules.map((rule) => {
    const row = element("div", "rule"), name = element("div");
    name.append(element("b", "", rule.plain || rule.words), element("code", "", rule.formula));
    name.title = `you said: ${rule.words}`;
    const at = rule.goal ? -1 : series.rules.indexOf(rule.formula);
    const values = at < 0 ? [] : series.values.map((sample) => sample[at]);
    const numbers = values.filter((value) => value !== null);
    const margin = numbers.length ? numbers[numbers.length - 1] : rule.margin;
    const least = numbers.length ? Math.min(...numbers) : null;
    const open = underWay();
    const words = rule.goal ? { satisfied: ["reached", "good"], pending: rule.holds ? ["reached", "good"] : [open ? "to do" : "not reached", ""] }
      : { satisfied: ["kept", "good"], pending: rule.holds === false ? [open ? "not yet" : "not kept", "close"] : [open ? "kept so far" : "kept", "good"] };
    const [text, kind] = words[rule.verdict] || (rule.verdict === "violated" ? ["broken", "bad"] : ["cannot be kept", "bad"]);
    const plot = element("div", "plot");
    if (numbers.length > 1) plot.append(spark(values, least), element("span", "", margin.toFixed(2)));
    plot.title = least === null ? "" : `margin now ${margin.toFixed(3)}, least of the run ${least.toFixed(3)} (dashed: where the rule breaks)`;
    row.append(name, element("span", `chip ${kind}`, text), plot);
    return row;
  }));
}
function spark(values, least) {
  const drawn = byId("spark").content.cloneNode(true).firstChild;
  const known = values.filter((value) => value !== null), top = Math.max(...known, 0.05), bottom = Math.min(least, 0) - 0.1 * top;
  const y = (value) => 29 - 28 * (value - bottom) / (top - bottom);
  const points = values.map((value, k) => value === null ? "" : `${(120 * k / Math.max(1, values.length - 1)).toFixed(1)} ${y(value).toFixed(1)}`);
  drawn.querySelector(".line").setAttribute("d", "M" + points.filter(Boolean).join("L"));
  drawn.querySelector(".zero").setAttribute("d", `M0 ${y(0)}L120 ${y(0)}`);
  drawn.classList.toggle("close", least < 0.05);
  drawn.classList.toggle("bad", least < 0);
  return drawn;
}

// What the person does

const history = [];
let recalled = 0;
function speak(kind, words) {
  if (!send({ do: kind, words })) return notice("Not sent: there is no connection to the robot.");
  const last = (state.talk || []).at(-1);
  unheard.push({ words: words.replace(/\s+/g, " "), after: last ? last.id : 0 });
  if (state.talk) show.talk();
  byId("said").scrollTop = byId("said").scrollHeight;
  return true;
}
function say(kind) {
  const words = byId("words").value.trim();
  if (!words || !speak(kind, words)) return;
  history.push(words);
  recalled = history.length;
  byId("words").value = "";
}
byId("form").onsubmit = (event) => { event.preventDefault(); say("say"); };
const correct = () => say(isOver() ? "correct" : underWay() ? "preview" : "say");
byId("preview").onclick = correct;
byId("words").onkeydown = (event) => {
  if (event.key === "Enter" && event.altKey) { event.preventDefault(); correct(); }
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!step || !history.length) return;
  event.preventDefault();
  recalled = Math.min(Math.max(recalled + step, 0), history.length);
  byId("words").value = history[recalled] || "";
};
byId("stop").onclick = stop;
byId("undo").onclick = () => send({ do: "correct", words: "undo" });
byId("hold").onclick = () => send({ do: "correct", words: state.plan.state === "held" ? "go on" : "hold" });
document.onkeydown = (event) => {
  if (state.replay) {
    const keys = { " ": pause, ArrowLeft: () => skip(false), ArrowRight: () => skip(true) };
    if (keys[event.key] && !/^(BUTTON|INPUT|SELECT)$/.test(document.activeElement.tagName)) { event.preventDefault(); keys[event.key](); }
  } else if (event.key === "Escape") stop();
  else if (event.ctrlKey && event.key === "z" && !byId("undo").hidden && !byId("words").value) byId("undo").click();
  else if (event.altKey && /^[1-9]$/.test(event.key)) {
    const options = document.querySelectorAll(".options button");
    if (options[event.key - 1]) options[event.key - 1].click();
  } else if (event.key === "/" && document.activeElement !== byId("words")) { event.preventDefault(); byId("words").focus(); }
};
let looking = false;
byId("look").onclick = () => {
  looking = !looking;
  byId("look").textContent = looking ? "close" : "camera";
  if (looking) send({ do: "camera" });
  show.camera();
};
setInterval(() => looking && send({ do: "camera" }), 4000);

// Sound of the microphone while the button is held: 16 kHz, 16 bits

const mic = byId("mic");
let sound = null;
async function listen() {
  if (sound) return;
  if (voice) voice.cancel();
  sound = {};
  try {
    const own = sound;
    own.stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, echoCancellation: true } });
    own.context = new AudioContext({ sampleRate: 16000 });
    const code = "registerProcessor('piece',class extends AudioWorkletProcessor{constructor(){super();this.kept=[]}process(i){const c=i[0][0];if(c){this.kept.push(...c);if(this.kept.length>=1600){this.port.postMessage(Float32Array.from(this.kept));this.kept=[]}}return true}})";
    await own.context.audioWorklet.addModule(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    const piece = new AudioWorkletNode(own.context, "piece");
    piece.port.onmessage = (message) => {
      if (events.readyState === WebSocket.OPEN) events.send(Int16Array.from(message.data, (x) => 32767 * Math.max(-1, Math.min(1, x))).buffer);
    };
    own.context.createMediaStreamSource(own.stream).connect(piece);
    if (sound !== own) close(own); else mic.classList.add("on");
  } catch (error) { sound = null; notice(`No sound: ${error.message}`); }
}
function close(own) {
  if (own.stream) own.stream.getTracks().forEach((track) => track.stop());
  if (own.context) own.context.close();
}
function silence() {
  if (!sound) return;
  const own = sound;
  sound = null;
  mic.classList.remove("on");
  events.send(new Int16Array(8000).buffer.slice(0, 16000)); // half a second of silence ends the utterance
  setTimeout(() => close(own), 100);
}
mic.onpointerdown = listen;
mic.onpointerup = mic.onpointerleave = silence;
mic.onkeydown = (event) => event.key === " " && !event.repeat && listen();
mic.onkeyup = (event) => event.key === " " && silence();

const dark = matchMedia("(prefers-color-scheme: dark)");
function openView() {
  byId("three").src = "/view/" + (dark.matches ? "?darkMode" : "");
}
dark.onchange = openView;
openView();
connect();
connectStop();
