// Surfaces over two parameters, turned by hand: dragged, or by two sliders. All numbers stand beside them.
(function () {
  "use strict";
  const NS = "http://www.w3.org/2000/svg", SIZE = 460, HALF = SIZE / 2, UNIT = 150;
  const svg = (name, attributes, parent, text) => {
    const node = document.createElementNS(NS, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    return parent.appendChild(node);
  };
  const slider = (parent, text, low, high, value) => {
    const label = parent.appendChild(document.createElement("label"));
    label.append(text + " ");
    const input = label.appendChild(document.createElement("input"));
    Object.assign(input, { type: "range", min: low, max: high, step: 1, value: value });
    return input;
  };
  // A text that has no room is cut; its whole is told when pointed at.
  const fit = (node, room) => {
    const whole = node.textContent;
    for (let k = whole.length - 1; k > 0 && node.getComputedTextLength() > room; k--) node.textContent = whole.slice(0, k) + "…";
    if (node.textContent !== whole) svg("title", {}, node, whole);
  };
  const number = (v) => String(Number(v.toPrecision(3)));
  function turn(box) {
    const content = JSON.parse(box.querySelector("script").textContent), place = box.querySelector(".scripted");
    const ranges = [0, 1, 2].map((k) => {
      const all = content.traces.flatMap((t) => t.parts.flatMap((p) => p[k]));
      return [Math.min(...all), Math.max(...all)];
    });
    // Every axis from -1 to 1.
    const unit = (k, v) => (ranges[k][1] > ranges[k][0] ? (2 * (v - ranges[k][0])) / (ranges[k][1] - ranges[k][0]) - 1 : 0);
    const tools = place.appendChild(document.createElement("p"));
    tools.className = "tools";
    const azimuth = slider(tools, "turn", -180, 180, content.view[1]), height = slider(tools, "tilt", -10, 90, content.view[0]);
    const figure = svg("svg", { viewBox: "0 0 " + SIZE + " " + SIZE, role: "img", "aria-label": box.dataset.label, class: "turned" }, place);
    const project = (u) => {
      const a = (azimuth.value * Math.PI) / 180, h = (height.value * Math.PI) / 180;
      const across = -u[0] * Math.sin(a) + u[1] * Math.cos(a), deep = u[0] * Math.cos(a) + u[1] * Math.sin(a);
      const up = u[2] * Math.cos(h) - deep * Math.sin(h);
      return [HALF + UNIT * across * 0.82, HALF - UNIT * up * 0.82];
    };
    const at = (points) => points.map((u) => project(u).map((v) => v.toFixed(1)).join(",")).join(" ");
    const draw = () => {
      figure.replaceChildren();
      const box3 = (axis, s, t) => [-1, 1].map((v) => { const u = [s, t]; u.splice(axis, 0, v); return u; });
      for (let axis = 0; axis < 3; axis++) for (const s of [-1, 1]) for (const t of [-1, 1])
        svg("polyline", { points: at(box3(axis, s, t)), class: "edge" }, figure);
      content.labels.forEach((label, axis) => {
        const ends = axis === 2 ? box3(2, -1, 1) : axis === 0 ? box3(0, -1, -1) : box3(1, 1, -1);
        const shown = ends.map(project), out = (p) => [HALF + (p[0] - HALF) * 1.13, HALF + (p[1] - HALF) * 1.13];
        shown.forEach((p, k) => { const q = out(p); svg("text", { x: q[0], y: q[1] }, figure, number(ranges[axis][k])); });
        const q = out([(shown[0][0] + shown[1][0]) / 2, (shown[0][1] + shown[1][1]) / 2]);
        fit(svg("text", { x: q[0], y: q[1] + 12, class: "axis" }, figure, label), 2 * Math.min(q[0], SIZE - q[0]));
      });
      content.traces.forEach((trace, k) => {
        for (const part of trace.parts) {
          const points = part[0].map((x, j) => [unit(0, x), unit(1, part[1][j]), unit(2, part[2][j])]);
          if (!trace.points) svg("polyline", { points: at(points), class: "line", style: "stroke:var(--c" + k + ")" }, figure);
          else for (const u of points) {
            const p = project(u);
            svg("circle", { cx: p[0].toFixed(1), cy: p[1].toFixed(1), r: 3, style: "fill:var(--c" + k + ")" }, figure);
          }
        }
      });
      let row = 0;
      content.traces.forEach((trace, k) => {
        if (trace.name) fit(svg("text", { x: 8, y: 16 + 17 * row++, style: "fill:var(--c" + k + ")", class: "name" }, figure, trace.name), SIZE - 16);
      });
    };
    for (const input of [azimuth, height]) input.addEventListener("input", draw);
    let from = null;
    figure.addEventListener("pointerdown", (event) => {
      from = [event.clientX, event.clientY, Number(azimuth.value), Number(height.value)];
      figure.setPointerCapture(event.pointerId);
    });
    figure.addEventListener("pointermove", (event) => {
      if (!from) return;
      const wrapped = from[2] - (event.clientX - from[0]) / 2;
      azimuth.value = ((wrapped + 540) % 360) - 180;
      height.value = from[3] + (event.clientY - from[1]) / 2;
      draw();
    });
    for (const end of ["pointerup", "pointercancel"]) figure.addEventListener(end, () => { from = null; });
    draw();
  }
  document.querySelectorAll(".surface").forEach(turn);
})();
