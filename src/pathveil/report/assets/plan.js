// The planning report: two sliders and a choice of mechanism move every figure. All numbers come from the library.

const PLAN = DATA.plan;
const setting = {
  get b() { return Number(document.getElementById("adjacency").value); },
  get e() { return Number(document.getElementById("epsilon").value); },
  get mechanism() { return Number(document.querySelector("[name=mechanism]:checked").value); },
  get draw() { return Number(document.querySelector("[name=draw]:checked").value); },
};

function put(id, text, value) {
  const node = document.getElementById(id);
  node.textContent = text;
  if (value !== undefined) node.dataset.value = value;
}

function update() {
  const { b, e, mechanism: k } = setting;
  const epsilon = PLAN.epsilons[e], adjacency = PLAN.adjacencies[b], cells = PLAN.cells[b][e], cell = cells[k];
  for (const [id, text] of [["epsilon", `ε = ${epsilon}`], ["adjacency", `b = ${adjacency}`]]) {
    put(`${id}-value`, text);
    document.getElementById(id).setAttribute("aria-valuetext", text);
  }
  put("figure-errors", cell ? short(cell.mean) : "–", cell ? cell.mean : "");
  put("figure-share", cell ? percent(cell.mean / PLAN.length) : "–", cell ? cell.mean / PLAN.length : "");
  put("figure-unchanged", cell ? percent(cell.pmf[0]) : "–", cell ? cell.pmf[0] : "");
  put("figure-most", cell ? String(cell.q90) : "–", cell ? cell.q90 : "");
  if (PLAN.bound) put("figure-bound", short(PLAN.bound[b][e]), PLAN.bound[b][e]);
  else put("figure-changes", cell ? percent(cell.changes) : "–", cell ? cell.changes : "");
  put("figure-factor", short(Math.exp(epsilon)), Math.exp(epsilon));
  put("figure-sure", percent(1 / (1 + Math.exp(-epsilon))), 1 / (1 + Math.exp(-epsilon)));
  put("status", cell
    ? `${PLAN.mechanisms[k].name}, ε ${epsilon}, b ${adjacency}: ${short(cell.mean)} expected ${PLAN.what}`
    : `${PLAN.mechanisms[k].name} cannot be used here`);
  show("errors", { ...PLAN.errors[b], mark: epsilon });
  show("distribution", {
    ...PLAN.distribution, title: `${PLAN.mechanisms[k].name}, ε = ${epsilon}, b = ${adjacency}`,
    series: [{ name: PLAN.mechanisms[k].name, values: cell ? cell.pmf : [], style: k }],
  });
  fillComparison(cells, PLAN.bound && PLAN.bound[b][e], k);
  fillTable(b, e);
  put("best", PLAN.best[b][e]);
  put("unit", PLAN.mechanisms[k].units[b] || PLAN.mechanisms[k].why_not || "");
  document.getElementById("certificate").replaceChildren(...PLAN.certificates[b][e].map((text) => element("p", {}, text)));
  showWords(cell);
}

function fillComparison(cells, bound, chosen) {
  const rows = PLAN.mechanisms.map((mechanism, i) => {
    const cell = cells[i];
    const row = cell ? [short(cell.mean), percent(cell.mean / PLAN.length), percent(cell.pmf[0]), short(cell.theta)] : ["–", "–", "–", "–"];
    return [mechanism.name, ...row, ...(cell && "changes" in cell ? [percent(cell.changes)] : [])];
  });
  if (PLAN.bound) rows.push(["any mechanism: at least", short(bound), percent(bound / PLAN.length), "", ""]);
  refill("comparison", rows, (i) => i === chosen);
}

function fillTable(b, e) {
  refill("all-errors", PLAN.epsilons.map((epsilon, i) => [
    String(epsilon), ...PLAN.cells[b][i].map((cell) => short(cell ? cell.mean : null)),
    ...(PLAN.bound ? [short(PLAN.bound[b][i])] : []),
  ]), (i) => i === e);
  document.querySelector("#all-errors caption").textContent = PLAN.errors[b].title;
}

function refill(id, rows, chosen) {
  document.querySelector(`#${id} tbody`).replaceChildren(...rows.map((row, i) => element(
    "tr", chosen(i) ? { class: "chosen" } : {},
    element("th", { scope: "row" }, row[0]), ...row.slice(1).map((text) => element("td", { class: "number" }, text)))));
}

function showWords(cell) {
  const rows = [[PLAN.sample.title, PLAN.sample.codes, null]];
  (cell ? cell.draws : []).forEach((draw, i) => rows.push([`private ${i + 1}`, draw.codes, draw.wrong]));
  document.querySelector("#words tbody").replaceChildren(...rows.map(([name, codes, wrong]) => element(
    "tr", {}, element("th", { scope: "row" }, name),
    element("td", { class: "number" }, wrong ? String(wrong.length) : ""),
    ...codes.map((code, i) => element(
      "td", wrong && wrong.includes(i) ? { class: "wrong" } : {}, code < 0 ? PLAN.missing : PLAN.symbols[code])))));
  put("sample-mean", cell ? short(cell.sample_mean) : "–", cell ? cell.sample_mean : "");
  put("sample-unchanged", cell ? percent(cell.sample_unchanged) : "–");
  if (!PLAN.network) return;
  const paths = [{ name: PLAN.sample.title, nodes: PLAN.sample.nodes, style: 0 }];
  if (cell) paths.push({ name: `private ${setting.draw + 1}`, nodes: cell.draws[setting.draw].nodes, style: 1 });
  show("system", { ...PLAN.network, paths });
}

for (const input of document.querySelectorAll(".controls input, [name=draw]")) {
  input.addEventListener("input", update);
  if (input.form) input.form.addEventListener("submit", (event) => event.preventDefault());
}
update();
