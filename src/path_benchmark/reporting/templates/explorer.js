// The explorer: turns a path by hand. Curves are exact: lines join their points and may jump, steps hold from one
// place to the next. Everything is drawn from the lists beside it; nothing is computed elsewhere or fetched.
(function () {
  "use strict";
  const NS = "http://www.w3.org/2000/svg", LEFT = 46, RIGHT = 10, STEPS = 4000;
  const DASHES = ["", "7 4", "8 3 2 3", "2 3"];
  const svg = (name, attributes, parent, text) => {
    const node = document.createElementNS(NS, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    return parent ? parent.appendChild(node) : node;
  };
  const html = (name, parent, text, className) => {
    const node = parent.appendChild(document.createElement(name));
    if (text !== undefined) node.textContent = text;
    if (className) node.className = className;
    return node;
  };
  // How many numbers of an ascending list are below t (or, if `equal`, at most t).
  const below = (list, t, equal) => {
    let low = 0, high = list.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (list[mid] < t || (equal && list[mid] === t)) low = mid + 1; else high = mid;
    }
    return low;
  };
  // Values on the left and on the right of t.
  const at = (curve, t) => {
    const { x, y } = curve, left = below(x, t, false), right = below(x, t, true);
    if (curve.step) return [y[Math.max(left - 1, 0)], y[Math.max(right - 1, 0)]];
    if (left < right) return [y[left], y[right - 1]];
    if (left === 0 || left === x.length) { const end = y[left ? left - 1 : 0]; return [end, end]; }
    const value = y[left - 1] + (y[left] - y[left - 1]) * (t - x[left - 1]) / (x[left] - x[left - 1]);
    return [value, value];
  };
  const number = (v) => (v === 0 ? "0" : Math.abs(v) >= 1e-3 && Math.abs(v) < 1e5 ? v.toPrecision(4) : v.toExponential(2));
  const both = (pair) => (pair[0] === pair[1] ? number(pair[0]) : number(pair[0]) + " | " + number(pair[1]));
  const place = (t) => String(Number(t.toPrecision(8)));

  // Maps the parameter onto [0, 1], spreading both ends where asked to.
  function scaleOf(slices, logit) {
    const span = slices[0].span;
    if (!logit) return { to: (t) => (t - span[0]) / (span[1] - span[0]), from: (p) => span[0] + p * (span[1] - span[0]), ticks: linear(span) };
    let end = 1e-2;
    for (const s of slices) for (const p of s.panels) for (const c of p.curves) if (c.step)
      for (const t of c.x) if (t > 0 && t < 1) end = Math.min(end, t / 2, (1 - t) / 2);
    end = Math.max(end, 1e-6);
    const f = (t) => Math.log(t / (1 - t)), low = f(end);
    return {
      to: (t) => (f(Math.min(Math.max(t, end), 1 - end)) - low) / (-2 * low),
      from: (p) => (p <= 0 ? 0 : p >= 1 ? 1 : 1 / (1 + Math.exp(-(low - 2 * low * p)))),
      ticks: spread(end),
    };
  }
  const linear = (span) => [0, 0.25, 0.5, 0.75, 1].map((p) => [span[0] + p * (span[1] - span[0]), place(span[0] + p * (span[1] - span[0]))]);
  const spread = (end) => {
    const found = [[0.5, "0.5"]];
    for (let k = 1; Math.pow(10, -k) > end; k++) {
      const t = Math.pow(10, -k);
      found.push([t, place(t)], [1 - t, place(1 - t)]);
    }
    return found.sort((a, b) => a[0] - b[0]);
  };

  const ERROR = "validation error";
  const errorOf = (s) => (s.panels.find((p) => p.name === ERROR) || { curves: [] }).curves[0];

  function explore(box) {
    const data = JSON.parse(box.querySelector("script").textContent), root = box.querySelector(".scripted");
    const state = { choice: 0, slice: 0, t: 0 };
    const controls = html("div", root, undefined, "controls"), pictures = html("div", root);
    const choice = () => data.choices[state.choice], slice = () => choice().slices[state.slice];
    const labelled = (text, name) => { const label = html("label", controls, text + " "); return html(name, label); };
    const chosen = labelled("data set", "select");
    data.choices.forEach((c, k) => { html("option", chosen, c.name).value = k; });
    const second = data.second ? labelled(data.second, "input") : null;
    const secondSaid = second ? html("output", second.parentNode) : null;
    if (second) second.type = "range";
    const turn = html("div", root, undefined, "turn");
    const label = html("label", turn, data.parameter + " = "), said = html("output", label);
    const slider = html("input", turn);
    Object.assign(slider, { type: "range", min: 0, max: STEPS, step: 1 });
    slider.setAttribute("aria-label", "path parameter " + data.parameter);
    const holds = html("p", root);
    holds.setAttribute("role", "status");
    const button = (text, act) => { const b = html("button", controls, text); b.type = "button"; b.addEventListener("click", act); };
    button("◂ change", () => step(-1));
    button("change ▸", () => step(1));
    if (choice().slices[0].least) button("least error", () => go(middle(slice().least[1])));
    root.insertBefore(turn, pictures);
    root.insertBefore(holds, pictures);

    let scale, changes, redraw = [];
    const middle = (intervals) => { let best = intervals[0]; for (const i of intervals) if (i[1] - i[0] > best[1] - best[0]) best = i; return (best[0] + best[1]) / 2; };
    const step = (way) => {
      const k = way > 0 ? below(changes, state.t, true) : below(changes, state.t, false) - 1;
      if (k >= 0 && k < changes.length) go(changes[k]);
    };
    function go(t) {
      state.t = t;
      slider.value = Math.round(scale.to(t) * STEPS);
      update();
    }
    function update() {
      const s = slice(), k = below(changes, state.t, true);
      said.textContent = place(state.t);
      slider.setAttribute("aria-valuetext", data.parameter + " = " + place(state.t));
      const low = k ? changes[k - 1] : s.span[0], high = k < changes.length ? changes[k] : s.span[1];
      holds.textContent = "Every decision shown stays as it is for " + data.parameter + " from " + place(low) + " to " + place(high);
      for (const draw of redraw) draw(state.t);
    }
    // A picture with both axes; returns what its curves need.
    function frame(parent, height, low, high, title, last) {
      const width = Math.max(260, root.clientWidth), bottom = last ? 22 : 6;
      const picture = svg("svg", { width, height: height + bottom, viewBox: "0 0 " + width + " " + (height + bottom), role: "img", "aria-label": title }, parent);
      const x = (t) => LEFT + scale.to(t) * (width - LEFT - RIGHT), y = (v) => 8 + (high - v) / (high - low) * (height - 14);
      for (const v of [low, (low + high) / 2, high]) {
        svg("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: y(v), y2: y(v) }, picture);
        svg("text", { x: LEFT - 5, y: y(v) + 4, "text-anchor": "end" }, picture, String(Number(v.toPrecision(2))));
      }
      let end = -99;
      for (const [t, name] of scale.ticks) {
        svg("line", { class: "axis", x1: x(t), x2: x(t), y1: 8, y2: height - 6 }, picture);
        const half = 3.6 * name.length;
        if (last && x(t) - half > end + 4 && x(t) - half > 0 && x(t) + half < width) {
          svg("text", { x: x(t), y: height + 14, "text-anchor": "middle" }, picture, name);
          end = x(t) + half;
        }
      }
      picture.addEventListener("pointerdown", (event) => pointed(event));
      picture.addEventListener("pointermove", (event) => { if (event.buttons) pointed(event); });
      const pointed = (event) => {
        const p = (event.clientX - picture.getBoundingClientRect().left - LEFT) / (width - LEFT - RIGHT);
        go(scale.from(Math.min(Math.max(p, 0), 1)));
      };
      return { picture, x, y, width, height, bottom };
    }
    function cursor(f) {
      const line = svg("line", { class: "cursor", y1: 4, y2: f.height - 4 }, f.picture);
      redraw.push((t) => { line.setAttribute("x1", f.x(t)); line.setAttribute("x2", f.x(t)); });
    }
    // Steps go across and down; lines are evaluated at every pixel, so that a bent axis bends them rightly.
    function outline(f, curve, span) {
      const { x, y } = curve;
      let d = "";
      if (curve.step) {
        x.forEach((t, k) => { d += (k ? "H" + f.x(t).toFixed(1) + "V" : "M" + f.x(Math.max(t, span[0])).toFixed(1) + " ") + f.y(y[k]).toFixed(1); });
        return d + "H" + f.x(span[1]).toFixed(1);
      }
      const own = x.map(f.x), places = own.slice();
      for (let p = LEFT; p <= f.width - RIGHT; p++) places.push(p);
      const inverse = (p) => scale.from((p - LEFT) / (f.width - LEFT - RIGHT));
      const marks = [...new Set(places)].sort((a, b) => a - b);
      marks.forEach((p, k) => {
        const vertex = below(own, p, false), [a, b] = at(curve, own[vertex] === p ? x[vertex] : inverse(p));
        d += (k ? "L" : "M") + p.toFixed(1) + " " + f.y(a).toFixed(1);
        if (a !== b) d += "M" + p.toFixed(1) + " " + f.y(b).toFixed(1);
      });
      return d;
    }
    function panel(title, curves, last) {
      const s = slice();
      html("h4", pictures, title[0].toUpperCase() + title.slice(1));
      let low = Math.min(...curves.map((c) => Math.min(...c.y))), high = Math.max(...curves.map((c) => Math.max(...c.y)));
      if (low >= 0 && high <= 1) { low = 0; high = high > 0.85 ? 1 : Math.ceil(high * 20) / 20 || 0.05; }
      if (high === low) high = low + 1;
      const f = frame(pictures, title === ERROR ? 220 : 150, low, high, title + " against " + data.parameter, last);
      const legend = html("ul", pictures, undefined, "legend");
      if (s.least && title === ERROR) choice_of(f, s, legend);
      curves.forEach((curve, k) => {
        const look = { class: "curve", stroke: "var(--c" + (k % 7) + ")", "stroke-dasharray": DASHES[curves.length > 4 ? Math.floor(k / 7) : k % 4] };
        svg("path", { ...look, d: outline(f, curve, s.span) }, f.picture);
        const item = html("li", legend), key = svg("svg", { viewBox: "0 0 28 10", "aria-hidden": "true" }, item);
        svg("path", { ...look, d: "M0 5H28" }, key);
        item.append(curve.name + " ");
        const value = html("output", item);
        redraw.push((t) => { value.textContent = both(at(curve, t)); });
      });
      cursor(f);
    }
    function choice_of(f, s, legend) {
      for (const [a, b] of s.least[1])
        svg("rect", { class: "least", x: f.x(a), y: 4, width: Math.max(2, f.x(b) - f.x(a)), height: f.height - 8 }, f.picture);
      for (const [t, v] of s.grid) svg("circle", { class: "gridpoint", cx: f.x(t), cy: f.y(v), r: 4.5 }, f.picture);
      const best = Math.min(...s.grid.map((g) => g[1]));
      const least = html("li", legend), key = svg("svg", { viewBox: "0 0 28 10", "aria-hidden": "true" }, least);
      svg("rect", { class: "least", x: 6, y: 0, width: 16, height: 10 }, key);
      least.append("least: " + number(s.least[0]));
      if (!s.grid.length) return;
      const dots = html("li", legend), dot = svg("svg", { viewBox: "0 0 28 10", "aria-hidden": "true" }, dots);
      svg("circle", { class: "gridpoint", cx: 14, cy: 5, r: 4.5 }, dot);
      dots.append("grid of " + s.grid.length + ": best " + number(best) + (best > s.least[0] + 1e-12 ? ", misses the least" : ""));
    }
    // Every sample as a small square: which side it is on, and whether that is right.
    function decisions(s) {
      const { labels, first, changes: turns } = s.samples;
      html("h4", pictures, "Decision of each sample");
      const width = Math.max(260, root.clientWidth), size = 13, columns = Math.floor((width - LEFT) / size);
      const order = labels.map((_, k) => k).sort((a, b) => labels[b] - labels[a] || (turns[b][0] || 0) - (turns[a][0] || 0));
      const rows = [1, -1].map((sign) => Math.ceil(order.filter((k) => labels[k] === sign).length / columns));
      const height = (rows[0] + rows[1]) * size + 10;
      const picture = svg("svg", { width, height, viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": "decision of each sample" }, pictures);
      [["y = +1", 0], ["y = −1", rows[0] * size + 8]].forEach(([text, y]) => svg("text", { x: 0, y: y + 10 }, picture, text));
      const count = { 1: 0, "-1": 0 }, marks = order.map((k) => {
        const n = count[labels[k]]++, top = (labels[k] > 0 ? 0 : rows[0] * size + 8) + Math.floor(n / columns) * size, left = LEFT + (n % columns) * size;
        const rect = svg("rect", { x: left, y: top, width: size - 2, height: size - 2 }, picture);
        const cross = svg("path", { class: "wrong", d: "M" + (left + 2) + " " + (top + 2) + "l7 7m0 -7l-7 7" }, picture);
        return [k, rect, cross];
      });
      const legend = html("ul", pictures, undefined, "legend");
      for (const [name, text] of [["plus", "decided +1"], ["minus", "decided −1"]]) {
        const item = html("li", legend);
        svg("rect", { class: name, x: 8, y: 0, width: 11, height: 10 }, svg("svg", { viewBox: "0 0 28 10", "aria-hidden": "true" }, item));
        item.append(text);
      }
      const wrongs = html("output", html("li", legend, "× wrong: "));
      redraw.push((t) => {
        let wrong = 0;
        for (const [k, rect, cross] of marks) {
          const decided = first[k] * (below(turns[k], t, true) % 2 ? -1 : 1), bad = decided !== labels[k];
          rect.setAttribute("class", decided > 0 ? "plus" : "minus");
          cross.style.display = bad ? "" : "none";
          wrong += bad;
        }
        wrongs.textContent = wrong + " of " + labels.length;
      });
    }
    // Both parameters at once: a band for each slice, the darker the larger the error.
    function surface(slices) {
      const errors = slices.map(errorOf), band = 20;
      const least = Math.min(...errors.map((e) => Math.min(...e.y))), most = Math.max(...errors.map((e) => Math.max(...e.y)));
      html("h4", pictures, "Validation error over " + data.parameter + " and " + data.second);
      const width = Math.max(260, root.clientWidth), height = band * slices.length + 4;
      const picture = svg("svg", { width, height, viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": "validation error over both parameters" }, pictures);
      const left = LEFT + 46, x = (t) => left + scale.to(t) * (width - left - RIGHT);
      slices.forEach((s, k) => {
        const top = 2 + k * band, e = errors[k];
        svg("text", { x: 0, y: top + 14 }, picture, s.label);
        e.x.forEach((t, j) => {
          const end = j + 1 < e.x.length ? e.x[j + 1] : s.span[1], wide = x(end) - x(t);
          if (wide < 0.05) return;
          const best = e.y[j] <= least + 1e-12;
          const share = most > least ? (e.y[j] - least) / (most - least) : 0;
          svg("rect", { x: x(t), y: top, width: wide + 0.3, height: band - 3, fill: best ? "var(--c3)" : "var(--c0)", "fill-opacity": best ? 1 : 0.12 + 0.85 * share }, picture);
        });
        const mark = svg("rect", { x: left - 2, y: top - 1, width: width - left - RIGHT + 4, height: band - 1, fill: "none", stroke: "var(--ink)" }, picture);
        redraw.push(() => { mark.style.display = k === state.slice ? "" : "none"; });
        picture.addEventListener("pointerdown", (event) => {
          const r = picture.getBoundingClientRect();
          if (Math.floor((event.clientY - r.top - 2) / band) !== k) return;
          const p = (event.clientX - r.left - left) / (width - left - RIGHT);
          if (state.slice !== k) { state.slice = k; draw(); }
          go(scale.from(Math.min(Math.max(p, 0), 1)));
        });
      });
      const line = svg("line", { class: "cursor", y1: 0, y2: height }, picture);
      redraw.push((t) => { line.setAttribute("x1", x(t)); line.setAttribute("x2", x(t)); });
      const legend = html("ul", pictures, undefined, "legend"), item = html("li", legend);
      svg("rect", { fill: "var(--c3)", x: 8, y: 0, width: 11, height: 10 }, svg("svg", { viewBox: "0 0 28 10", "aria-hidden": "true" }, item));
      item.append("least of all: " + number(least));
      html("li", legend, "darker: larger, up to " + number(most));
    }
    function draw() {
      const s = slice(), slices = choice().slices;
      scale = scaleOf(slices, data.logit);
      const steps = s.panels.flatMap((p) => p.curves).filter((c) => c.step);
      const lists = s.samples ? s.samples.changes.flat() : [];
      const jumps = s.panels.flatMap((p) => p.curves).flatMap((c) => c.x.filter((t, k) => k && t === c.x[k - 1]));
      changes = [...new Set([...lists, ...jumps, ...steps.flatMap((c) => c.x)])].filter((t) => t > s.span[0] && t < s.span[1]).sort((a, b) => a - b);
      redraw = [];
      pictures.textContent = "";
      s.panels.forEach((p, k) => panel(p.name, p.curves, k === s.panels.length - 1));
      if (s.samples) decisions(s);
      if (slices.length > 1 && errorOf(s)) surface(slices);
      if (second) { second.max = slices.length - 1; second.value = state.slice; secondSaid.textContent = s.label; }
      state.t = Math.min(Math.max(state.t, s.span[0]), s.span[1]);
      go(state.t);
    }
    chosen.addEventListener("change", () => { state.choice = Number(chosen.value); state.slice = Math.min(state.slice, choice().slices.length - 1); draw(); });
    if (second) second.addEventListener("input", () => { state.slice = Number(second.value); draw(); });
    slider.addEventListener("input", () => { state.t = scale.from(slider.value / STEPS); update(); });
    // Begin where the grid misses most; the error is least there, if several miss as much.
    const missed = (s) => (s.least && s.grid.length ? Math.min(...s.grid.map((g) => g[1])) - s.least[0] : 0);
    let most = [-1, 0];
    data.choices.forEach((c, i) => c.slices.forEach((one, k) => {
      const rank = [missed(one), one.least ? -one.least[0] : 0];
      if (rank[0] > most[0] + 1e-9 || (Math.abs(rank[0] - most[0]) <= 1e-9 && rank[1] > most[1])) {
        most = rank;
        Object.assign(state, { choice: i, slice: k });
      }
    }));
    chosen.value = state.choice;
    const s = slice();
    state.t = s.least ? middle(s.least[1]) : (s.span[0] + s.span[1]) / 2;
    draw();
    let width = root.clientWidth;
    new ResizeObserver(() => { if (root.clientWidth !== width) { width = root.clientWidth; draw(); } }).observe(root);
  }
  for (const box of document.querySelectorAll(".explorer")) explore(box);
})();
