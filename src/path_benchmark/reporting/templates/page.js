// Sorting, filtering and "only differs" for every table of the page; without this the page is only read.
(function () {
  "use strict";
  const make = (name, parent, text) => {
    const node = parent.appendChild(document.createElement(name));
    if (text) node.textContent = text;
    return node;
  };
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.raw !== undefined ? Number(cell.dataset.raw) : cell.textContent.trim();
  };
  // Numbers by size, before texts; what is not known comes last, whichever way.
  const compare = (a, b, sign) => {
    const empty = (v) => v === "" || v === "—";
    if (empty(a) || empty(b)) return Number(empty(a)) - Number(empty(b));
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return sign * a.localeCompare(b, "en", { numeric: true });
  };
  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending", sign = up ? 1 : -1;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...body.rows].map((row, k) => [value(row, column), k, row]);
        rows.sort((a, b) => compare(a[0], b[0], sign) || a[1] - b[1]);
        body.append(...rows.map((row) => row[2]));
      });
    });
  }
  function filterable(table, tools) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 4) return;
    const search = make("input", make("label", tools, "Filter "));
    search.type = "search";
    const bad = rows.filter((row) => /^(differs|not-supported)$/.test(row.dataset.kind || ""));
    let only = null;
    if (rows.some((row) => row.dataset.kind)) {
      const label = make("label", tools);
      only = make("input", label);
      only.type = "checkbox";
      label.append(" only differs (" + bad.length + ")");
    }
    const said = make("span", tools);
    said.setAttribute("role", "status");
    const show = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !(words.every((word) => text.includes(word)) && (!only || !only.checked || bad.includes(row)));
        shown += row.hidden ? 0 : 1;
      }
      said.textContent = shown === rows.length ? "" : shown + " of " + rows.length + " rows";
    };
    search.addEventListener("input", show);
    if (only) only.addEventListener("change", show);
    // A link to a row that is filtered away shows it.
    addEventListener("hashchange", () => {
      const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (row && row.hidden && rows.includes(row)) { row.hidden = false; row.scrollIntoView(); }
    });
  }
  // A table that its words make wider than the place it has becomes cards, one for each row.
  function fit(box) {
    const table = box.querySelector("table");
    let width = -1;
    new ResizeObserver(() => {
      if (box.clientWidth === width) return;
      width = box.clientWidth;
      box.classList.remove("cards");
      box.classList.toggle("cards", table.scrollWidth > width + 1);
    }).observe(box);
  }
  document.querySelectorAll(".fit").forEach(fit);
  for (const block of document.querySelectorAll(".block")) {
    const table = block.querySelector("table");
    sortable(table);
    filterable(table, block.querySelector(".tools"));
  }
  if (matchMedia("(max-width:60rem)").matches) {
    const toc = document.querySelector("nav.toc details");
    toc.open = false;
    toc.addEventListener("click", (event) => { if (event.target.closest("a")) toc.open = false; });
  }
})();
