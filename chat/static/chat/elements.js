// Elements of the agent's interfaces that keep a state in the browser. An update may morph them at any moment: each
// watches itself and brings what the server sent in line with what the person chose.

(() => {
  "use strict";

  const { call, confirm, copy } = window.chatUi;

  // Calls `changed(records)` when somebody else changed the element; changes made inside do not count.
  function watch(element, options, changed) {
    const observer = new MutationObserver((records) => {
      changed(records);
      observer.takeRecords();
    });
    observer.observe(element, { childList: true, subtree: true, ...options });
    return {
      quietly(change) {
        change();
        observer.takeRecords();
      },
      end: () => observer.disconnect(),
    };
  }

  // ---- Tables: pages, filter, sorting, copies ------------------------------------------------------------------------

  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const count = new Intl.NumberFormat("en");

  class Table extends HTMLElement {
    page = 0;
    filter = "";
    column = -1;
    descending = false;
    order = null; // the server's order of rows while ours differs

    connectedCallback() {
      this.watch = watch(this, { attributes: true, attributeFilter: ["hidden", "data-page-size"] }, (records) => this.changed(records));
      this.addEventListener("click", this);
      this.addEventListener("input", this);
      this.watch.quietly(() => this.show());
    }

    disconnectedCallback() {
      this.watch.end();
      this.removeEventListener("click", this);
      this.removeEventListener("input", this);
    }

    get body() { return this.querySelector("tbody"); }
    get rows() { return [...this.body.rows]; }
    get matching() {
      const words = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
      if (!words.length) return this.rows;
      return this.rows.filter((row) => {
        const text = [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase();
        return words.every((word) => text.includes(word));
      });
    }

    handleEvent({ type, target }) {
      if (type === "input") {
        if (!target.matches(`#${CSS.escape(this.id)}_q`)) return;
        this.filter = target.value;
        this.page = 0;
        this.watch.quietly(() => this.show());
        return;
      }
      const action = target.closest("[data-table]")?.dataset.table;
      if (action) this.watch.quietly(() => this[action](target.closest("[data-table]")));
      else this.choose(target);
    }

    choose(target) {
      const row = target.closest("tbody tr");
      const button = row?.querySelector("[data-row]");
      if (!button || !this.dataset.callback || (target !== button && target.closest("a, button, input, select, summary"))) return;
      call(this, this.dataset.callback, button.dataset.row);
    }

    changed(records) {
      if (this.order) this.follow(records.filter(({ target, type }) => target === this.body && type === "childList"));
      this.show();
    }

    // Brings the remembered order up to date after the server added, removed or moved rows.
    follow(records) {
      if (!records.length) return;
      const added = new Set(records.flatMap((record) => [...record.addedNodes]));
      const moved = records.some((record) => [...record.removedNodes].some((node) => added.has(node)));
      if (moved) {
        this.order = this.rows; // a morph: what stands there is the server's order
      } else {
        const gone = new Set(records.flatMap((record) => [...record.removedNodes]));
        for (const { addedNodes, previousSibling, nextSibling } of records) {
          // What replaces a row takes its place, what is new follows the row before it.
          const after = gone.has(nextSibling) ? -1 : this.order.indexOf(previousSibling);
          const before = this.order.indexOf(nextSibling);
          this.order.splice(after >= 0 ? after + 1 : before >= 0 ? before : this.order.length, 0, ...addedNodes);
        }
        this.order = this.order.filter((row) => row.isConnected && row.parentElement === this.body);
      }
      this.arrange();
    }

    arrange() {
      const value = (row) => row.cells[this.column]?.textContent.trim() ?? "";
      const sign = this.descending ? -1 : 1;
      const sorted = [...this.order].map((row) => [value(row), row]);
      // Empty cells come last either way.
      sorted.sort(([one], [other]) => (!one - !other) || sign * compare(one, other));
      this.body.append(...sorted.map(([, row]) => row));
    }

    sort(button) {
      const header = button.closest("th");
      const again = this.column === header.cellIndex;
      if (again && this.descending) {
        this.body.append(...(this.order ?? []));
        this.order = null;
        this.column = -1;
        this.descending = false;
      } else {
        this.descending = again;
        this.column = header.cellIndex;
        this.order ??= this.rows;
        this.arrange();
      }
      this.page = 0;
      this.show();
    }

    previous() { this.turn(-1); }
    next() { this.turn(1); }

    turn(by) {
      this.page += by;
      this.show();
      this.querySelector(".ui-table-scroll").scrollTop = 0;
    }

    show() {
      const size = Number(this.dataset.pageSize) || 25;
      const rows = this.rows;
      const matching = this.matching;
      const pages = Math.max(Math.ceil(matching.length / size), 1);
      this.page = Math.min(Math.max(this.page, 0), pages - 1);
      const first = this.page * size;
      const visible = new Set(matching.slice(first, first + size));
      for (const row of rows) {
        if (row.hidden === visible.has(row)) row.hidden = !visible.has(row);
      }
      for (const header of this.querySelectorAll("thead th")) {
        if (header.cellIndex === this.column) header.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
        else header.removeAttribute("aria-sort");
      }
      const pager = this.querySelector(".ui-pager");
      const [previous, next] = pager.querySelectorAll("button");
      pager.hidden = pages === 1 && matching.length === rows.length;
      previous.disabled = this.page === 0;
      next.disabled = this.page === pages - 1;
      const range = matching.length ? `${count.format(first + 1)}–${count.format(Math.min(first + size, matching.length))}` : "0";
      const text = `${range} of ${count.format(matching.length)}${matching.length < rows.length ? " found" : ""}`;
      const status = pager.querySelector("[role=status]");
      if (status.textContent !== text) status.textContent = text;
    }

    // Header and rows as text, without the column of buttons, as they are filtered and sorted.
    get cells() {
      const texts = (row) => [...row.cells].filter((cell) => !cell.matches(".ui-choose")).map((cell) => cell.textContent.trim());
      return [texts(this.querySelector("thead tr")), ...this.matching.map(texts)];
    }

    async copy(button) {
      await copy(this.cells.map((row) => row.map((text) => text.replace(/[\t\r\n]+/g, " ")).join("\t")).join("\n"));
      confirm(button, "Copied");
    }

    csv() {
      // A spreadsheet would run a cell that starts like a formula.
      const cell = (text) => {
        const safe = /^[=+\-@\t\r]/.test(text) && !isNumber(text) ? `'${text}` : text;
        return /[",\n\r;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
      };
      const lines = this.cells.map((row) => row.map(cell).join(",")).join("\r\n");
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob(["\ufeff", lines, "\r\n"], { type: "text/csv" }));
      link.download = `${(this.querySelector("caption")?.textContent ?? "table").replace(/[^\p{L}\p{N}]+/gu, "-")}.csv`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }
  }

  const isNumber = (text) => text !== "" && Number.isFinite(Number(text));
  const compare = (one, other) => (isNumber(one) && isNumber(other) ? one - other : collator.compare(one, other));

  // ---- Tabs ------------------------------------------------------------------------------------------------------------

  class Tabs extends HTMLElement {
    connectedCallback() {
      this.addEventListener("click", this);
      this.addEventListener("keydown", this);
      this.watch = watch(this, {}, () => this.settle());
      this.settle();
    }

    disconnectedCallback() {
      this.watch.end();
      this.removeEventListener("click", this);
      this.removeEventListener("keydown", this);
    }

    get tabs() { return [...this.querySelectorAll(':scope > [role="tablist"] > [role="tab"]')]; }

    handleEvent(event) {
      const tab = event.target.closest('[role="tab"]');
      const tabs = this.tabs;
      const index = tabs.indexOf(tab);
      if (index < 0) return;
      if (event.type === "click") {
        this.select(tab);
        return;
      }
      const step = { ArrowRight: 1, ArrowLeft: -1, Home: -index, End: tabs.length - 1 - index }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const next = tabs[(index + step + tabs.length) % tabs.length];
      this.select(next);
      next.focus();
    }

    select(chosen) {
      for (const tab of this.tabs) {
        tab.setAttribute("aria-selected", String(tab === chosen));
        tab.tabIndex = tab === chosen ? 0 : -1;
        const panel = document.getElementById(tab.getAttribute("aria-controls"));
        if (panel) panel.hidden = tab !== chosen;
      }
    }

    // After an update: exactly one tab is selected, the first when the selected one is gone.
    settle() {
      const tabs = this.tabs;
      const selected = tabs.filter((tab) => tab.getAttribute("aria-selected") === "true");
      if (tabs.length) this.select(selected[0] ?? tabs[0]);
    }
  }

  // ---- A choice of many with a search ------------------------------------------------------------------------------------

  class MultiSelect extends HTMLElement {
    connectedCallback() {
      this.addEventListener("input", this);
      this.addEventListener("keydown", this);
      this.watch = watch(this, {}, () => this.show());
      this.watch.quietly(() => this.show());
    }

    disconnectedCallback() {
      this.watch.end();
      this.removeEventListener("input", this);
      this.removeEventListener("keydown", this);
    }

    handleEvent(event) {
      // Enter in the search must not submit the form around it.
      if (event.type === "keydown") {
        if (event.key === "Enter" && event.target.type === "search") event.preventDefault();
      } else {
        this.watch.quietly(() => this.show());
      }
    }

    show() {
      const wanted = this.querySelector("input[type=search]").value.trim().toLowerCase();
      let chosen = 0;
      let found = 0;
      for (const label of this.querySelectorAll("label")) {
        const box = label.querySelector("input");
        const fits = label.textContent.toLowerCase().includes(wanted);
        chosen += box.checked;
        found += fits;
        if (label.hidden === fits) label.hidden = !fits;
      }
      const parts = [chosen ? `${chosen} chosen` : "", wanted ? `${found} found` : ""];
      const status = this.querySelector(".ui-multi-count");
      const text = parts.filter(Boolean).join(" · ");
      if (status.textContent !== text) status.textContent = text;
    }
  }

  // ---- The time that is left ------------------------------------------------------------------------------------------------

  class Countdown extends HTMLElement {
    connectedCallback() {
      this.timer = setInterval(() => this.show(), 1000);
      this.show();
    }

    disconnectedCallback() { clearInterval(this.timer); }

    show() {
      const left = Math.ceil((new Date(this.dataset.until) - Date.now()) / 1000);
      const place = this.querySelector("time");
      const text = left > 0 ? this.words(left) : this.dataset.done;
      if (place && place.textContent !== text) place.textContent = text;
      this.toggleAttribute("data-over", left <= 0);
    }

    words(left) {
      const two = (number) => String(number).padStart(2, "0");
      const days = Math.floor(left / 86400);
      const clock = `${two(Math.floor(left / 3600) % 24)}:${two(Math.floor(left / 60) % 60)}:${two(left % 60)}`;
      return days ? `${days} d ${clock}` : clock;
    }
  }

  // ---- Code with a button that copies it ---------------------------------------------------------------------------------

  // The button stands in a shadow tree: no morph takes it away, growing text does not meet it, and it is no part of
  // what the message says.
  class Code extends HTMLElement {
    connectedCallback() {
      if (this.shadowRoot) return;
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Copy" });
      button.part = "copy";
      button.setAttribute("aria-label", "Copy code");
      button.addEventListener("click", async () => {
        await copy(this.querySelector("pre").textContent);
        confirm(button, "Copied");
      });
      this.attachShadow({ mode: "open" }).append(document.createElement("slot"), button);
    }
  }

  // Fields that are cleared for the next round tell nobody.
  document.addEventListener("ui:renewed", () => {
    for (const element of document.querySelectorAll("chat-multiselect")) element.show();
  });

  customElements.define("chat-code", Code);
  customElements.define("chat-table", Table);
  customElements.define("chat-tabs", Tabs);
  customElements.define("chat-multiselect", MultiSelect);
  customElements.define("chat-countdown", Countdown);
})();
