"use strict";
// Sorts and filters tables, and makes the marks of a figure one stop of the Tab key. The page is complete without it.
(() => {
  const number = text => {
    const found = text.replace(/−/g, "-").replace(/(\d),(?=\d{3})/g, "$1").match(/^[<≈]?\s*([+-]?\d+(\.\d+)?(e[+-]?\d+)?)/);
    return found ? Number(found[1]) : NaN;
  };
  const compare = (one, other) => {
    const [a, b] = [number(one), number(other)];
    if (Number.isNaN(a) || Number.isNaN(b)) {
      return Number.isNaN(a) === Number.isNaN(b) ? one.localeCompare(other, "en", {numeric: true}) : Number.isNaN(a) - Number.isNaN(b);
    }
    return a - b || one.localeCompare(other, "en", {numeric: true});
  };
  const isData = row => row.querySelector("[scope=rowgroup]") === null;

  const sort = (table, heading, column) => {
    const descending = heading.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("thead th").forEach(other => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const text = row => row.cells[column].textContent.trim();
    const isEmpty = row => text(row) === "–" || text(row) === "";
    for (const body of table.tBodies) {
      const rows = Array.from(body.rows).filter(isData);
      rows.sort((a, b) => isEmpty(a) - isEmpty(b) || (descending ? -1 : 1) * compare(text(a), text(b)));
      body.append(...rows);
    }
  };

  const makeSortable = table => {
    if (!table.tHead || !Array.from(table.tBodies).some(body => Array.from(body.rows).filter(isData).length > 2)) return;
    Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
      if (heading.tagName !== "TH") return;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = heading.textContent;
      heading.replaceChildren(button);
      button.addEventListener("click", () => sort(table, heading, column));
    });
  };

  const makeFilterable = table => {
    const rows = Array.from(table.tBodies).flatMap(body => Array.from(body.rows)).filter(isData);
    const box = document.createElement("div"), count = document.createElement("output"), chosen = new Map();
    box.className = "filter";
    const show = () => {
      const kept = rows.filter(row => {
        row.hidden = Array.from(chosen).some(([column, value]) => value && row.cells[column].textContent !== value);
        return !row.hidden;
      });
      count.textContent = `${kept.length} of ${rows.length} rows`;
    };
    for (let column = 0; column < Number(table.dataset.factors); column++) {
      const values = Array.from(new Set(rows.map(row => row.cells[column].textContent)));
      if (values.length < 2 || values.length > 60) continue;
      const label = document.createElement("label"), select = document.createElement("select");
      label.append(table.tHead.rows[0].cells[column].textContent, select);
      select.append(new Option("all", ""), ...values.sort(compare).map(value => new Option(value, value)));
      select.addEventListener("change", () => { chosen.set(column, select.value); show(); });
      box.append(label);
    }
    if (!box.childElementCount) return;
    show();
    box.append(count);
    table.parentElement.before(box);
  };

  // The first mark is a stop of the Tab key; the arrow keys, Home and End go to the others.
  const makeOneStop = figure => {
    const marks = Array.from(figure.querySelectorAll(".mark"));
    marks.slice(1).forEach(mark => mark.setAttribute("tabindex", "-1"));
    figure.addEventListener("keydown", event => {
      const at = marks.indexOf(document.activeElement);
      const to = {ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: marks.length - 1}[event.key];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      const next = marks[Math.min(Math.max(to, 0), marks.length - 1)];
      marks[at].setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    });
  };

  // An anchor inside something folded opens it.
  const openTarget = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  };

  document.querySelectorAll("table[data-factors]").forEach(makeFilterable);
  document.querySelectorAll("table").forEach(makeSortable);
  document.querySelectorAll("svg.figure").forEach(makeOneStop);
  addEventListener("hashchange", openTarget);
  openTarget();
})();
