"use strict";
// Filters, sorting and hovering. Without it the page shows everything, unsorted.
(() => {
  const all = (what, inside = document) => [...inside.querySelectorAll(what)];
  const form = document.getElementById("filters");
  const rows = all("tr[data-verdict], li[data-verdict]");
  const points = all(".points circle");

  function describe(row) { // what the filters ask of a row
    const table = row.closest("details.numbers");
    return {
      paper: row.closest("section").dataset.paper, verdict: row.dataset.verdict, cause: row.dataset.cause,
      table: table ? table.dataset.table : "", text: (row.textContent + " " +
        (table ? table.querySelector("summary").textContent : "")).toLowerCase(),
    };
  }

  function filter() {
    const wanted = {};
    for (const name of ["paper", "verdict", "cause", "table"]) wanted[name] = document.getElementById("by-" + name).value;
    const words = document.getElementById("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const active = words.length > 0 || Object.values(wanted).some(Boolean);
    const shown = new Set();
    for (const row of rows) {
      const is = describe(row);
      const fits = Object.entries(wanted).every(([k, v]) => !v || is[k] === v) && words.every(w => is.text.includes(w));
      row.hidden = !fits;
      if (fits) shown.add(row.id);
    }
    for (const table of all("details.numbers")) {
      const some = all("tbody tr", table).some(r => !r.hidden);
      table.hidden = !some;
      if (active && some && !table.open) { table.open = true; table.dataset.opened = "filter"; }
      if (!active && table.dataset.opened === "filter") { table.open = false; delete table.dataset.opened; }
    }
    for (const paper of all("section.paper")) paper.hidden = active && !all("[data-verdict]", paper).some(r => !r.hidden);
    for (const part of all(".pictures")) part.hidden = active;
    for (const point of points) point.classList.toggle("off", !shown.has(point.dataset.row));
    document.getElementById("shown").textContent = `${shown.size} of ${rows.length} shown`;
  }

  function worth(cell) { // a number where there is one, else its words
    const text = cell ? cell.textContent.trim().replace("∞", "Infinity") : "";
    const number = text === "" || text === "–" ? NaN : Number(text.replace(/[\u2007\u2008]/g, ""));
    return Number.isNaN(number) ? text : number;
  }

  function sort(head) {
    const table = head.closest("table"), body = table.tBodies[0], column = head.cellIndex;
    const way = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
    const keyed = [...body.rows].map(row => [worth(row.cells[column]), row]);
    keyed.sort(([a], [b]) => {
      if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1; // numbers first, whichever way
      return way * (typeof a === "number" ? a - b : a.localeCompare(b));
    });
    body.append(...keyed.map(([, row]) => row));
  }

  function goTo(id) {
    const row = document.getElementById(id), table = row.closest("details");
    if (table) table.open = true;
    row.scrollIntoView({ block: "center" });
    row.classList.add("found");
    setTimeout(() => row.classList.remove("found"), 2500);
  }

  const hover = document.getElementById("hover");
  for (const point of points) {
    const title = point.querySelector("title"), text = title.textContent;
    title.remove(); // ours instead of the browser's, which comes late
    point.setAttribute("aria-label", text);
    point.addEventListener("mousemove", event => {
      hover.textContent = text;
      hover.hidden = false;
      hover.style.left = Math.min(event.clientX + 14, innerWidth - hover.offsetWidth - 8) + "px";
      hover.style.top = Math.min(event.clientY + 14, innerHeight - hover.offsetHeight - 8) + "px";
    });
    point.addEventListener("mouseleave", () => { hover.hidden = true; });
    point.addEventListener("click", () => goTo(point.dataset.row));
  }

  for (const head of all("table.sortable th")) {
    head.tabIndex = 0;
    head.addEventListener("click", () => sort(head));
    head.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(head); } });
  }
  if (form) {
    form.hidden = false;
    for (const kind of ["input", "change"]) form.addEventListener(kind, filter);
    form.addEventListener("submit", event => event.preventDefault());
    document.getElementById("clear").addEventListener("click", () => { form.reset(); filter(); });
    document.getElementById("unfold").addEventListener("click", event => {
      const open = event.target.textContent.startsWith("open");
      for (const table of all("details.numbers")) table.open = open;
      event.target.textContent = open ? "close all tables" : "open all tables";
    });
    filter();
  }
  addEventListener("beforeprint", () => { for (const part of all("details")) part.open = true; });
})();
