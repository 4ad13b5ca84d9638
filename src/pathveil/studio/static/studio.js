// Everything works on the server; this makes it pleasant: fields that belong to a choice, uploads, sliders, progress.
"use strict";

const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const one = (id) => document.getElementById(id);

// Parts that belong to a choice: data-shown="kind=long kind=points".
function valueOf(name) {
  const fields = all(`[name="${name}"]`);
  const radio = fields.find((field) => field.type === "radio" && field.checked);
  if (radio) return radio.value;
  const plain = fields.find((field) => field.type !== "radio");
  return plain ? plain.value : "";
}
function showChosen() {
  for (const part of all("[data-shown]")) {
    const wanted = part.dataset.shown.split(" ").map((choice) => choice.split("="));
    part.hidden = !wanted.some(([name, value]) => valueOf(name) === value);
  }
  // A field that is not shown is not sent: two parts may have a field of the same name.
  for (const field of all("[data-shown] input, [data-shown] select, [data-shown] textarea")) {
    field.disabled = Boolean(field.closest("[data-shown][hidden]"));
  }
}
document.addEventListener("change", showChosen);
showChosen();

// Uploads: the file goes straight into the folder of the project.
function send(drop, file) {
  const progress = drop.querySelector("progress");
  const refusal = drop.querySelector(".refusal");
  const request = new XMLHttpRequest();
  const refuse = (sentence) => {
    progress.hidden = true;
    refusal.hidden = false;
    refusal.textContent = sentence;
  };
  progress.hidden = false;
  progress.value = 0;
  refusal.hidden = true;
  request.open("PUT", `${drop.dataset.upload}?name=${encodeURIComponent(file.name)}`);
  request.upload.onprogress = (event) => { if (event.total) progress.value = event.loaded / event.total; };
  request.onerror = () => refuse("The file was not taken: the studio refused it or has ended.");
  request.onload = () => {
    let answer = {};
    try { answer = JSON.parse(request.responseText); } catch { /* said below */ }
    if (request.status !== 200) { refuse(answer.refusal || "The file was not taken."); return; }
    const target = drop.closest("[data-file]");
    if (!target) { location.reload(); return; }
    const field = one(target.dataset.file);
    field.value = answer.path;
    field.focus();
    progress.hidden = true;
  };
  request.send(file);
}
for (const drop of all("[data-upload]")) {
  const input = drop.querySelector("input[type=file]");
  input.addEventListener("change", () => { if (input.files.length) send(drop, input.files[0]); });
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length) send(drop, event.dataTransfer.files[0]);
  });
}

// A button that takes a while says so, and is not pressed twice.
for (const form of all("form")) {
  form.addEventListener("submit", () => {
    const button = form.querySelector("button[type=submit]");
    if (!button) return;
    if (button.dataset.busy) button.textContent = button.dataset.busy;
    setTimeout(() => { button.disabled = true; });
  });
}
window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

for (const button of all("[data-copy]")) {
  button.addEventListener("click", async () => {
    const text = one(button.dataset.copy).textContent;
    try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { getSelection().selectAllChildren(one(button.dataset.copy)); }
  });
}

// Sliders: every value is known to the page once it is computed, so that they answer at once.
const form = one("amount");
if (form) sliders(form);
function sliders(form) {
  const words = form.dataset.purpose === "words";
  const odds = JSON.parse(form.dataset.odds);
  const stops = JSON.parse(form.dataset.epsilons);
  const slider = one("epsilon-slider");
  const exact = one("epsilon");
  const adjacency = one("adjacency");
  let known = {};
  const kept = {};
  let asked = 0;

  const chosen = () => stops[slider.value];
  const cell = (epsilon) => (known.cells || known.models || {})[epsilon];
  const share = (errors) => percent(errors / Number(one("length").value));
  const percent = (value) => {
    if (value > 0 && value < 1e-6) return "less than 0.0001%";
    return value < 0.01 ? `${Number((100 * value).toPrecision(2))}%` : `${Math.round(value * 1000) / 10}%`;
  };

  const wrong = (found) => words ? found.errors / Number(one("length").value) : found.pairs;
  function describe(found) {
    if (found.problem) return [found.problem, []];
    const helps = `Too much to be of use. What helps: a larger ε, or on the page “What is public” ${form.dataset.helps}.`;
    const advice = wrong(found) > 0.5 ? [helps] : [];
    if (words) {
      const errors = found.errors.toPrecision(2);
      const far = found.metres === null ? advice : [`${share(found.errors)} of the places will be wrong.`];
      const main = found.metres === null ? `About ${share(found.errors)} of the symbols will be wrong` : `A place will be about ${Math.round(found.metres).toLocaleString("en")} metres from the true one`;
      return [main, [...far,
        `${Number(errors)} of ${one("length").value} symbols of a word, on average; at most ${found.likely} in nine words of ten.`,
        ...(found.bound ? [`No method can promise this and have fewer than ${Number(found.bound.toPrecision(2))}.`] : []),
        `Drawn by the mechanism “${found.mechanism}”.`]];
    }
    const kept = found.threshold ? [`Whole words that about ${found.threshold.toLocaleString("en")} have, or more, are found as they are.`] : [];
    return [`Noise will change the shares of steps (what follows what) by about ${percent(found.pairs)}`, [...advice,
      `Shares of first symbols by about ${percent(found.starts)}, of last ones by ${percent(found.ends)}, of lengths by ${percent(found.lengths)}.`,
      `The model looks back ${found.order} symbol${found.order > 1 ? "s" : ""} to say what follows; what depends on more is lost.`, ...kept, ...found.remarks]];
  }
  function show() {
    const epsilon = chosen();
    const typed = Number(exact.value) > 0 && Number(exact.value) !== Number(epsilon);
    one("epsilon-shown").textContent = typed ? `${exact.value} (forecast for ${epsilon})` : epsilon;
    slider.setAttribute("aria-valuetext", epsilon);
    if (adjacency) one("adjacency-shown").textContent = adjacency.value;
    one("odds").textContent = `Somebody who has to tell two such inputs apart is right at most ${odds[epsilon]} of the time; a coin toss, 50%.`;
    const found = cell(epsilon);
    const [main, more] = found ? describe(found) : ["…", []];
    one("forecast-main").textContent = main;
    one("forecast-more").replaceChildren(...more.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
    const agree = one("agree");
    if (agree && found && !found.problem) {
      one("yes").required = wrong(found) > 0.5;
      agree.hidden = !one("yes").required && !one("yes").checked;
    }
    const left = one("left-after");
    if (left && form.dataset.left) {
      const rest = Number(form.dataset.left) - Number(exact.value);
      left.className = rest < -1e-12 ? "refusal" : "";
      left.textContent = rest < -1e-12 ? "This release takes more than is left. Choose a smaller ε." : `After this release about ε = ${Number(rest.toPrecision(4))} will be left.`;
    }
    draw();
  }
  function draw() {
    const points = stops.map((epsilon) => [Number(epsilon), cell(epsilon)]).filter(([, found]) => found && !found.problem);
    one("curve-figure").hidden = points.length < 3;
    if (points.length < 3) return;
    const top = Math.max(...points.map(([, found]) => wrong(found)), 1e-9);
    const place = (epsilon, value) => [50 + 330 * stops.indexOf(String(epsilon)) / (stops.length - 1), 150 - 130 * value / top];
    const line = (kind, value) => {
      const path = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
      path.setAttribute("class", kind);
      path.setAttribute("points", points.map(([epsilon, found]) => place(epsilon, value(found)).join(",")).join(" "));
      return path;
    };
    const mark = (x, y, content, anchor = "middle") => {
      const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
      text.setAttribute("x", x); text.setAttribute("y", y); text.setAttribute("text-anchor", anchor);
      text.textContent = content;
      return text;
    };
    const axis = document.createElementNS("http://www.w3.org/2000/svg", "path");
    axis.setAttribute("class", "axis"); axis.setAttribute("d", "M50 15V150H385"); axis.setAttribute("fill", "none");
    const parts = [axis, ...stops.map((epsilon) => mark(place(epsilon, 0)[0], 166, epsilon)), mark(215, 179, "ε"), mark(46, 24, percent(top), "end"), mark(46, 152, "0", "end"), line("curve", wrong)];
    if (words) parts.push(line("bound", (found) => found.bound / Number(one("length").value)));
    const now = cell(chosen());
    if (now && !now.problem) {
      const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      const [x, y] = place(chosen(), wrong(now));
      dot.setAttribute("class", "now"); dot.setAttribute("cx", x); dot.setAttribute("cy", y); dot.setAttribute("r", 6);
      parts.push(dot);
    }
    one("curve").replaceChildren(...parts);
    const heads = words ? ["ε", "wrong symbols", "no method below"] : ["ε", "pairs", "lengths"];
    const rows = points.map(([epsilon, found]) => words ? [epsilon, share(found.errors), share(found.bound)] : [epsilon, percent(found.pairs), percent(found.lengths)]);
    const row = (cells, kind) => { const made = document.createElement("tr"); made.append(...cells.map((text) => Object.assign(document.createElement(kind), { textContent: text }))); return made; };
    one("curve-table").tHead.replaceChildren(row(heads, "th"));
    one("curve-table").tBodies[0].replaceChildren(...rows.map((cells) => row(cells, "td")));
  }
  async function ask() {
    const mine = ++asked;
    const key = words ? `${one("length").value} ${adjacency.value}` : "";
    delete form.dataset.ready;
    known = kept[key] || {};
    show();
    const fields = words ? ["length", "adjacency"] : ["words", "delta"];
    const query = new URLSearchParams(fields.map((name) => [name, one(name).value]));
    const wait = one("forecast-wait");
    const progress = one("forecast-progress");
    for (;;) {
      let answer;
      try { answer = await (await fetch(`${form.dataset.forecast}?${query}`)).json(); } catch { wait.textContent = "The studio has ended."; return; }
      if (mine !== asked) return;
      wait.textContent = answer.refusal || "";
      known = answer;
      if (adjacency && !answer.refusal) kept[key] = answer;
      show();
      const open = answer.total && answer.done < answer.total;
      progress.hidden = !open;
      if (!open) { form.dataset.ready = "yes"; return; }
      progress.value = answer.done / answer.total;
      wait.textContent = `Computing forecasts from what is public: ${answer.done} of ${answer.total}.`;
      await new Promise((done) => setTimeout(done, 400));
    }
  }
  slider.addEventListener("input", () => { exact.value = chosen(); show(); });
  exact.addEventListener("input", () => {
    const value = Number(exact.value);
    if (value > 0) slider.value = stops.reduce((best, stop, i) => Math.abs(stop - value) < Math.abs(stops[best] - value) ? i : best, 0);
    show();
  });
  if (adjacency) adjacency.addEventListener("input", ask);
  for (const name of ["length", "words", "delta"]) if (one(name)) one(name).addEventListener("change", ask);
  ask();
}

// A release on its way.
const release = one("release");
if (release) follow(release);
async function follow(part) {
  for (;;) {
    await new Promise((done) => setTimeout(done, 500));
    let now;
    try { now = await (await fetch(part.dataset.state)).json(); } catch { one("stage").textContent = "The studio has ended; start it again to go on."; return; }
    if (now.status !== "running") { location.reload(); return; }
    one("does").textContent = now.does;
    one("stage").textContent = now.counted ? `${now.stage}: ${now.counted.toLocaleString("en")}${now.total ? ` of ${now.total.toLocaleString("en")}` : ""}` : "";
    one("release-progress").value = now.done;
    if (now.charged) one("charge").textContent = `Charged: ${now.charged}.`;
    for (const item of all("[data-number]", part)) {
      item.className = Number(item.dataset.number) < now.done ? "done" : Number(item.dataset.number) === now.done ? "here" : "";
    }
  }
}
