"use strict";
// Charts as SVG, drawn from the page's own data. Nothing is fetched, and text only ever becomes text.

const SVG = "http://www.w3.org/2000/svg";
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "1 5"];

function element(name, attributes, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function drawn(name, attributes, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function short(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  if (Math.abs(value) < 0.001) return value.toExponential(1);
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}

function percent(share) {
  if (share > 0 && share < 0.001) return "below 0.1%";
  if (share > 0.999 && share < 1) return "above 99.9%";
  return `${Number((100 * share).toPrecision(3))}%`;
}

function cut(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

// From numbers to places on an axis, and the numbers that are written there.

function scaleOf(kind, low, high, from, to) {
  const f = kind === "log" ? Math.log10 : (v) => v;
  const a = f(low), b = f(high) === f(low) ? f(low) + 1 : f(high);
  return (value) => from + ((f(value) - a) / (b - a)) * (to - from);
}

function ticksOf(kind, low, high, most) {
  if (kind === "log") {
    const found = [];
    for (let d = Math.floor(Math.log10(low)); d <= Math.ceil(Math.log10(high)); d++) {
      for (const step of [1, 2, 5]) {
        const value = step * 10 ** d;
        if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
      }
    }
    const decades = found.filter((v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9);
    if (found.length <= most) return found;
    const every = Math.ceil(decades.length / most);
    return decades.filter((_, i) => i % every === 0);
  }
  const span = high - low || 1;
  const raw = span / most;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * size).find((k) => k >= raw);
  const found = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-6; v += step) found.push(Number(v.toPrecision(12)));
  return found;
}

function markerOf(style, x, y) {
  const r = 3.6, attributes = { class: `fill s${style}` };
  if (style === 1) return drawn("rect", { ...attributes, x: x - r, y: y - r, width: 2 * r, height: 2 * r });
  const corners = style === 2 ? [[0, -r - 1], [r + 1, r], [-r - 1, r]] : [[0, -r - 1.4], [r + 1.4, 0], [0, r + 1.4], [-r - 1.4, 0]];
  if (style === 2 || style === 3) {
    return drawn("polygon", { ...attributes, points: corners.map(([a, b]) => `${x + a},${y + b}`).join(" ") });
  }
  return drawn("circle", { ...attributes, cx: x, cy: y, r: style === 4 ? 2 : r });
}

function legendOf(series, sample) {
  return element("ul", { class: "legend" }, ...series.map((one) =>
    element("li", {}, drawn("svg", { width: 30, height: 14, viewBox: "0 0 30 14", "aria-hidden": "true" }, ...sample(one)), one.name)));
}

const lineSample = (one) => [
  drawn("line", { x1: 1, x2: 29, y1: 7, y2: 7, class: `curve stroke s${one.style}`, "stroke-dasharray": DASHES[one.style] }),
  markerOf(one.style, 15, 7),
];
const barSample = (one) => [drawn("rect", { x: 6, y: 1, width: 18, height: 12, class: `bar fill s${one.style}` })];

function canvas(width, height, title) {
  const id = `t${canvas.count++}`;
  return drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": id },
    drawn("title", { id }, title));
}
canvas.count = 0;

function framed(picture, area, spec, x, y, xticks, yticks) {
  for (const v of yticks) {
    picture.append(drawn("line", { class: "grid", x1: area.left, x2: area.right, y1: y(v), y2: y(v) }),
      drawn("text", { x: area.left - 6, y: y(v) + 4, "text-anchor": "end", "font-size": 12 }, short(v)));
  }
  for (const [v, label] of xticks) {
    picture.append(drawn("text", { x: x(v), y: area.bottom + 17, "text-anchor": "middle", "font-size": 12 }, label));
  }
  picture.append(
    drawn("line", { class: "axis", x1: area.left, x2: area.right, y1: area.bottom, y2: area.bottom }),
    drawn("text", { x: (area.left + area.right) / 2, y: area.bottom + 36, "text-anchor": "middle", "font-size": 13 }, spec.xlabel),
    drawn("text", { x: 2, y: 12, "font-size": 13 }, spec.ylabel));
}

const DRAW = {
  lines(box, spec, width) {
    const height = Math.min(380, Math.max(270, width * 0.52));
    const area = { left: 52, right: width - 14, top: 26, bottom: height - 44 };
    const usable = (v) => v !== null && (spec.yscale !== "log" || v > 0);
    const all = spec.series.flatMap((one) => one.values.filter(usable));
    const high = Math.max(...all), low = spec.yscale === "log" ? Math.max(Math.min(...all), high * 1e-6) : Math.min(0, ...all);
    const x = scaleOf(spec.xscale, spec.x[0], spec.x[spec.x.length - 1], area.left + 6, area.right - 6);
    const y = scaleOf(spec.yscale, low, high, area.bottom, area.top);
    const picture = canvas(width, height, spec.title);
    const xticks = ticksOf(spec.xscale, spec.x[0], spec.x[spec.x.length - 1], width < 500 ? 6 : 10).map((v) => [v, short(v)]);
    framed(picture, area, spec, x, y, xticks, ticksOf(spec.yscale, low, high, 7));
    if (spec.mark !== null && spec.mark !== undefined) {
      picture.append(drawn("line", { class: "mark", "data-mark": spec.mark, x1: x(spec.mark), x2: x(spec.mark), y1: area.top - 6, y2: area.bottom }));
    }
    for (const one of spec.series) {
      const points = one.values.map((v, i) => (usable(v) && v >= low ? [x(spec.x[i]), y(v)] : null)).filter((p) => p);
      picture.append(drawn("polyline", {
        class: `curve stroke s${one.style}`, "stroke-dasharray": DASHES[one.style], points: points.map((p) => p.join(",")).join(" "),
      }), ...(points.length <= 24 ? points.map((p) => markerOf(one.style, ...p)) : []));
    }
    box.append(picture, legendOf(spec.series, lineSample));
  },

  bars(box, spec, width) {
    (spec.flat ? drawFlatBars : drawBars)(box, spec, width);
    if (spec.series.length > 1) box.append(legendOf(spec.series, barSample));
  },

  heat(box, spec, width) {
    const n = spec.names.length, side = Math.min(width, 560), left = n > 45 ? 22 : 76;
    const cell = (side - left - 4) / n, picture = canvas(side, side - left + 24 + left * 0.9, spec.title);
    const top = 20;
    picture.append(drawn("text", { x: 2, y: 13, "font-size": 12, class: "quiet" }, `${spec.ylabel} (rows), ${spec.xlabel} (columns)`));
    const most = Math.max(1e-9, ...spec.values.flat());
    spec.values.forEach((row, i) => row.forEach((v, j) => {
      if (v <= 0) return;
      picture.append(drawn("rect", {
        class: "cell", x: left + j * cell, y: top + i * cell, width: cell, height: cell, "fill-opacity": 0.06 + 0.94 * (v / most),
      }, drawn("title", {}, `${spec.names[i]} → ${spec.names[j]}: ${short(v)}`)));
    }));
    picture.append(drawn("rect", { x: left, y: top, width: cell * n, height: cell * n, fill: "none", class: "axis" }));
    if (n <= 45) {
      const size = Math.min(12, cell * 0.95);
      spec.names.forEach((name, i) => picture.append(
        drawn("text", { x: left - 4, y: top + (i + 0.5) * cell + size * 0.35, "text-anchor": "end", "font-size": size }, cut(name, 10)),
        drawn("text", {
          "font-size": size, "text-anchor": "end",
          transform: `translate(${left + (i + 0.5) * cell + size * 0.35} ${top + n * cell + 4}) rotate(-90)`,
        }, cut(name, 10))));
    }
    const holder = element("div", {}, picture);
    holder.style.maxWidth = `${side}px`;
    box.append(holder);
  },

  network(box, spec, width) {
    const xs = spec.x, ys = spec.y, pad = 26;
    const spanX = Math.max(...xs) - Math.min(...xs) || 1, spanY = Math.max(...ys) - Math.min(...ys) || 1;
    const zoom = Math.min((width - 2 * pad) / spanX, Math.max(320, Math.min(620, width)) / spanY);
    const height = spanY * zoom + 2 * pad, shift = (width - spanX * zoom) / 2;
    const at = (i) => [shift + (xs[i] - Math.min(...xs)) * zoom, height - pad - (ys[i] - Math.min(...ys)) * zoom];
    const n = spec.names.length, radius = n <= 60 ? 6 : n <= 150 ? 4 : 2.5;
    const picture = canvas(width, height, spec.title);
    const both = new Set(spec.edges.map(([a, b]) => `${a} ${b}`));
    for (const [a, b] of spec.edges) {
      if (a === b || (a > b && both.has(`${b} ${a}`))) continue;
      const [p, q] = [at(a), at(b)];
      picture.append(drawn("line", { class: "edge", x1: p[0], y1: p[1], x2: q[0], y2: q[1] }));
      if (!both.has(`${b} ${a}`) && n <= 150) picture.append(arrowAt(p, q, 0.55, 4.5, "arrow"));
    }
    for (let i = 0; i < n; i++) {
      const [x, y] = at(i);
      picture.append(drawn("circle", { class: "node", cx: x, cy: y, r: radius }, drawn("title", {}, spec.names[i])));
    }
    spec.paths.forEach((path, k) => picture.append(pathOn(path, at, radius, spec.paths.length > 1 ? (k % 2 ? 3 : -3) : 0)));
    if (n <= 60 && width >= 480) {
      spec.names.forEach((name, i) => {
        const [x, y] = at(i);
        picture.append(drawn("text", { class: "halo", x: x + 7, y: y - 6, "font-size": 11 }, cut(name, 12)));
      });
    }
    box.append(picture, legendOf(spec.paths, (one) => [
      drawn("line", { x1: 2, x2: 28, y1: 7, y2: 7, class: `path stroke s${one.style}`, "stroke-dasharray": one.style ? "1 7" : "" }),
    ]));
  },
};

function arrowAt(p, q, share, size, style) {
  const d = Math.hypot(q[0] - p[0], q[1] - p[1]) || 1, u = [(q[0] - p[0]) / d, (q[1] - p[1]) / d];
  const c = [p[0] + (q[0] - p[0]) * share, p[1] + (q[1] - p[1]) * share];
  const corner = (along, aside) => `${c[0] + u[0] * along - u[1] * aside},${c[1] + u[1] * along + u[0] * aside}`;
  return drawn("polygon", { class: style, points: `${corner(size, 0)} ${corner(-size, size * 0.75)} ${corner(-size, -size * 0.75)}` });
}

// A word: a line from node to node, a little aside so that two words on one street are both seen; a disc where it begins.
function pathOn(path, at, radius, aside) {
  const group = drawn("g", { "data-nodes": path.nodes.join(" "), class: "word" }, drawn("title", {}, path.name));
  const moved = path.nodes.map((node) => at(node));
  for (let i = 0; i + 1 < moved.length; i++) {
    const [p, q] = [moved[i], moved[i + 1]];
    if (p[0] === q[0] && p[1] === q[1]) {
      group.append(drawn("circle", { class: `path stroke s${path.style}`, cx: p[0], cy: p[1], r: radius + 3 }));
      continue;
    }
    const d = Math.hypot(q[0] - p[0], q[1] - p[1]);
    const off = [(-(q[1] - p[1]) / d) * aside, ((q[0] - p[0]) / d) * aside];
    const a = [p[0] + off[0], p[1] + off[1]], b = [q[0] + off[0], q[1] + off[1]];
    group.append(drawn("line", {
      class: `path stroke s${path.style}`, x1: a[0], y1: a[1], x2: b[0], y2: b[1], "stroke-dasharray": path.style ? "1 7" : "",
    }), arrowAt(a, b, 0.7, 6, `fill s${path.style}`));
  }
  if (moved.length) group.append(drawn("circle", { class: `fill s${path.style}`, cx: moved[0][0], cy: moved[0][1], r: radius + 1 }));
  return group;
}

function drawBars(box, spec, width) {
  const height = Math.min(320, Math.max(240, width * 0.45));
  const area = { left: 52, right: width - 8, top: 26, bottom: height - 44 };
  const high = Math.max(1e-12, ...spec.series.flatMap((one) => one.values.map((v) => v || 0)));
  const y = scaleOf("linear", 0, high, area.bottom, area.top), n = spec.labels.length;
  const slot = (area.right - area.left) / n, x = (i) => area.left + (i + 0.5) * slot;
  const picture = canvas(width, height, spec.title);
  const every = Math.ceil((n * 26) / (area.right - area.left));
  const xticks = spec.labels.map((label, i) => [i, label]).filter(([i]) => i % every === 0);
  framed(picture, area, spec, x, y, xticks, ticksOf("linear", 0, high, 5));
  const wide = Math.min(40, (slot * 0.82) / spec.series.length);
  spec.series.forEach((one, k) => one.values.forEach((v, i) => picture.append(drawn("rect", {
    class: `bar fill s${one.style}`, "data-value": v, x: x(i) + (k - spec.series.length / 2) * wide, y: y(v || 0),
    width: wide * 0.94, height: Math.max(0, area.bottom - y(v || 0)),
  }, drawn("title", {}, `${one.name}, ${spec.labels[i]}: ${short(v)}`)))));
  box.append(picture);
}

function drawFlatBars(box, spec, width) {
  const left = Math.min(150, width * 0.32), right = width - 46, each = 8 + 11 * spec.series.length;
  const height = 22 + each * spec.labels.length;
  const high = Math.max(1e-12, ...spec.series.flatMap((one) => one.values.map((v) => v || 0)));
  const x = scaleOf("linear", 0, high, left, right), picture = canvas(width, height, spec.title);
  picture.append(drawn("text", { x: left, y: 13, "font-size": 12, class: "quiet" }, spec.xlabel));
  spec.labels.forEach((label, i) => {
    const top = 22 + i * each;
    picture.append(drawn("text", { x: left - 6, y: top + each / 2 + 1, "text-anchor": "end", "font-size": 12 }, cut(label, Math.floor(left / 7.2))));
    spec.series.forEach((one, k) => {
      const v = one.values[i] || 0;
      picture.append(drawn("rect", {
        class: `bar fill s${one.style}`, "data-value": v, x: left, y: top + k * 11, width: Math.max(0.5, x(v) - left), height: 9.5,
      }, drawn("title", {}, `${label}, ${one.name}: ${short(v)}`)),
      drawn("text", { x: x(v) + 4, y: top + k * 11 + 9, "font-size": 10.5, class: "quiet" }, short(v)));
    });
  });
  box.append(picture);
}

const SHOWN = new Map(); // what is drawn where, to draw it again when the page gets another width

function show(id, spec) {
  const box = document.querySelector(`[data-chart="${id}"] .canvas`);
  if (!box) return;
  SHOWN.set(id, spec);
  box.replaceChildren();
  DRAW[spec.kind](box, spec, Math.max(280, Math.min(box.clientWidth || 640, 900)));
}

// Tables as text with tabs, which is what spreadsheets take.
function tableText(table) {
  return [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()).join("\t")).join("\n");
}

function copyTable(button) {
  const table = document.getElementById(button.dataset.copy), text = tableText(table);
  const done = () => { button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy table"; }, 2000); };
  const byHand = () => {
    // Pages from the file system may not be trusted with the clipboard: a marked text is.
    const field = element("textarea", { class: "visually-hidden" });
    field.value = text;
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    button.focus();
    if (copied) done();
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, byHand);
  else byHand();
}

const DATA = JSON.parse(document.getElementById("data").textContent);
for (const [id, spec] of Object.entries(DATA.charts)) show(id, spec);
for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copyTable(button));
let lastWidth = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === lastWidth) return;
  lastWidth = window.innerWidth;
  for (const [id, spec] of SHOWN) show(id, spec);
});
