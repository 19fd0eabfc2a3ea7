// What the agent's interfaces do in the browser: callbacks, forms, and what an update must leave alone.
// Everything listens at the document, so that parts that are swapped in need no setup. Elements with a life of
// their own (tables, tabs, …) are in elements.js.

(() => {
  "use strict";

  // ---- What a morph leaves alone --------------------------------------------------------------------------------

  // An element of a shell: the server sends it without its children, those of the page stay.
  htmx.config.morphSkipChildren += ", [data-keep]";

  htmx.registerExtension("chat-ui", {
    htmx_before_morph_node: (element, { oldNode, newNode }) => {
      if (!(oldNode instanceof Element) || oldNode.id !== newNode.id) return;
      // Attributes that belong to the browser, such as the `open` of details that somebody unfolded.
      for (const name of newNode.dataset?.own?.split(" ") ?? []) {
        if (oldNode.hasAttribute(name)) newNode.setAttribute(name, oldNode.getAttribute(name));
        else newNode.removeAttribute(name);
      }
      if (oldNode.matches("input, textarea, select")) keepEntry(oldNode, newNode);
    },
  });

  const afterMorph = queueMicrotask; // a morph is synchronous
  const isTicked = (field) => field.type === "checkbox" || field.type === "radio";
  const isTyped = (field) => field.matches("textarea, input") && !isTicked(field) && field.type !== "range";
  const chosen = (select) => [...select.selectedOptions].map((option) => option.value);

  function preset(select) {
    const marked = [...select.options].filter((option) => option.defaultSelected);
    return (marked.length ? marked : [...select.options].slice(0, 1)).map((option) => option.value);
  }

  function isEntered(field) {
    if (field.matches("select")) return String(chosen(field)) !== String(preset(field));
    return isTicked(field) ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
  }

  const content = (field) => (field.matches("select") ? chosen(field) : isTicked(field) ? field.checked : field.value);

  function clear(field) {
    if (field.matches("select")) {
      const values = preset(field);
      for (const option of field.options) option.selected = values.includes(option.value);
    } else if (isTicked(field)) {
      field.checked = field.defaultChecked;
    } else {
      field.value = field.type === "file" ? "" : field.defaultValue;
    }
  }

  // What a person entered and the site does not know yet wins over what the site sends.
  function isKept(field) {
    if (!isEntered(field)) return false;
    const change = field.closest("[data-change]");
    return !change || changes.has(change) || (isTyped(field) && field === document.activeElement);
  }

  function keepEntry(old, fresh) {
    if (old.type === "hidden") {
      if (old.name === "token" && old.value !== fresh.value) afterMorph(() => renew(old.form));
      return;
    }
    if (old.type === "file" || old.closest("[hx-morph-skip]")) return;
    const kept = isKept(old);
    if (old.matches("select")) {
      const values = kept ? chosen(old) : preset(fresh);
      afterMorph(() => {
        if (![...old.options].some((option) => values.includes(option.value))) return;
        for (const option of old.options) option.selected = values.includes(option.value);
      });
    } else if (isTicked(old)) {
      if (!kept) old.checked = fresh.defaultChecked;
    } else if (old.matches("textarea")) {
      const value = kept ? old.value : fresh.defaultValue;
      old.defaultValue = fresh.defaultValue;
      if (old.value !== value) old.value = value;
    } else {
      const value = kept ? old.value : fresh.defaultValue;
      // With equal attributes the morph does not touch the value, nor the caret.
      if (fresh.hasAttribute("value")) old.setAttribute("value", fresh.getAttribute("value"));
      else old.removeAttribute("value");
      if (old.value !== value) old.value = value;
    }
  }

  // ---- Callbacks ------------------------------------------------------------------------------------------------

  const waiting = new WeakMap(); // the values of a request -> what to do when it is over

  // Calls a function of the agent's code. Calls of one mount arrive in the order in which they were made.
  function call(element, callback, value) {
    const body = element.closest(".ui-body");
    const source = body?.querySelector("chat-calls");
    if (!source || !body.dataset.url) return Promise.resolve();
    const values = { id: "", callback };
    if (value !== undefined) values.value = JSON.stringify(value);
    return new Promise((resolve) => {
      waiting.set(values, resolve);
      htmx.ajax("POST", `${body.dataset.url}callback/`, { source, swap: "none", values });
    });
  }

  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    if (ctx.values) waiting.get(ctx.values)?.();
  });

  document.addEventListener("click", async ({ target }) => {
    const button = target.closest?.("button[data-callback]");
    if (!button || button.matches(":disabled, [aria-disabled=true]")) return;
    flush(button.closest(".ui-body"));
    button.dataset.busy = "";
    await call(button, button.dataset.callback);
    delete button.dataset.busy;
  });

  // ---- Changes of fields: debounced, one request at a time, the latest value wins -----------------------------------

  const changes = new Map(); // field -> { timer, sending, again }
  const PAUSE = 300; // ms without a key; short enough to feel live, long enough not to send every letter
  const DRAG = 100; // ms between the values of a slider that moves

  function entry(field) {
    const controls = [...field.querySelectorAll("[name]")];
    const first = controls[0];
    if (field.matches(".ui-check")) return first.checked;
    if (first.type === "checkbox") return controls.filter((box) => box.checked).map((box) => box.value);
    if (first.type === "radio") return controls.find((radio) => radio.checked)?.value ?? null;
    return first.value === "" && !first.matches("[type=text], textarea, [type=email], [type=url]") ? null : first.value;
  }

  function changed(field, pause) {
    const state = changes.get(field) ?? {};
    changes.set(field, state);
    if (state.sending) {
      state.again = true;
      return;
    }
    if (pause === DRAG && state.timer) return;
    clearTimeout(state.timer);
    state.timer = setTimeout(() => send(field, state), pause);
  }

  async function send(field, state) {
    clearTimeout(state.timer);
    state.timer = undefined;
    // A half-typed number or date is nothing that code could use.
    const isBad = [...field.querySelectorAll("[name]")].some(({ validity }) => validity.badInput || validity.rangeOverflow
      || validity.rangeUnderflow || validity.stepMismatch);
    if (!isBad && field.isConnected) {
      state.sending = true;
      await call(field, field.dataset.change, entry(field));
      state.sending = false;
    }
    if (state.again) {
      state.again = false;
      send(field, state);
    } else {
      changes.delete(field);
    }
  }

  function flush(body) {
    for (const [field, state] of changes) {
      if (state.timer && body?.contains(field)) send(field, state);
    }
  }

  document.addEventListener("input", ({ target }) => {
    if (target.type === "range") showRange(target);
    const field = target.name && target.closest?.("[data-change]");
    if (!field) return;
    if (target.type === "range") changed(field, DRAG);
    else if (isTyped(target)) changed(field, PAUSE);
  });

  document.addEventListener("change", ({ target }) => {
    const field = target.name && target.closest?.("[data-change]");
    if (field && !isTyped(target)) changed(field, 0);
  });

  function showRange(range) {
    const output = range.closest(".ui-slider")?.querySelector("output");
    if (output && output.value !== range.value) output.value = range.value;
  }

  // ---- Forms ------------------------------------------------------------------------------------------------------

  const LATE = 15_000; // ms after which a form that was sent may be sent again, though nothing came back
  const sent = new Map(); // forms whose answer is on its way or taken -> { token, timer }
  const tokenOf = (form) => form.elements.namedItem("token")?.value;
  const isOurs = (form) => form?.matches?.("form.ui-form-core");

  function lock(form, on) {
    for (const element of form.elements) {
      if (element.type !== "submit") continue;
      if (on) element.setAttribute("aria-disabled", "true");
      else element.removeAttribute("aria-disabled");
      if (!on) delete element.dataset.busy;
    }
  }

  function release(form) {
    clearTimeout(sent.get(form)?.timer);
    sent.delete(form);
    lock(form, false);
  }

  // The site has taken the answer and asks anew: the fields go back to their values.
  // What was entered since then is for the next round, and stays.
  function renew(form) {
    const state = sent.get(form);
    if (!state) return;
    release(form);
    for (const [field, value] of state.entries) {
      if (field.isConnected && String(value) === String(content(field))) clear(field);
    }
    form.dispatchEvent(new CustomEvent("ui:renewed", { bubbles: true }));
    document.querySelectorAll(".ui-slider input").forEach(showRange);
  }

  const note = (form, text) => {
    const place = form.querySelector(".ui-form-note");
    if (place && place.textContent !== text) place.textContent = text;
  };

  document.addEventListener("submit", (event) => {
    if (!isOurs(event.target)) return;
    if (sent.has(event.target) || event.submitter?.matches("[aria-disabled=true]")) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else if (event.submitter) {
      flush(event.target.closest(".ui-body"));
      event.submitter.dataset.busy = "";
    }
  }, true);

  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    const form = ctx.sourceElement;
    if (!isOurs(form)) return;
    note(form, "");
    const fields = [...form.elements].filter((field) => field.name && field.matches("input:not([type=hidden]), select, textarea"));
    sent.set(form, { token: tokenOf(form), entries: fields.map((field) => [field, content(field)]) });
    lock(form, true);
  });

  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    const form = ctx.sourceElement;
    if (!isOurs(form)) return;
    const status = ctx.response?.status ?? 0;
    if (status >= 200 && status < 300) {
      // The socket may have been quicker and asked anew already.
      const state = sent.get(form);
      if (state && state.token === tokenOf(form)) state.timer = setTimeout(() => release(form), LATE);
      else if (state) release(form);
      return;
    }
    release(form);
    if (status === 422) firstError(form)?.focus();
    else note(form, "This was not sent. Please try again.");
  });

  const firstError = (form) => [...form.elements].find((field) => field.getAttribute("aria-invalid") === "true");

  document.addEventListener("htmx:after:swap", () => {
    for (const form of sent.keys()) {
      if (form.isConnected) lock(form, true);
      else release(form);
    }
    document.querySelectorAll(".ui-slider input").forEach(showRange);
  });

  // ---- Small things -------------------------------------------------------------------------------------------------

  async function copy(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const area = Object.assign(document.createElement("textarea"), { value: text }); // without https there is no clipboard
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }

  document.addEventListener("click", async ({ target }) => {
    const button = target.closest?.("[data-copy], [data-copy-from]");
    if (!button) return;
    const from = button.dataset.copyFrom;
    await copy(from ? document.getElementById(from).textContent : button.dataset.copy);
    window.chatUi.confirm(button, "Copied");
  });

  // Says on a button, for a moment, that it did its work.
  function confirm(button, text) {
    if (button.dataset.was) return;
    button.dataset.was = button.textContent;
    button.textContent = text;
    window.chatPage?.announce(text);
    setTimeout(() => {
      button.textContent = button.dataset.was;
      delete button.dataset.was;
    }, 1500);
  }

  document.addEventListener("click", ({ target }) => {
    const opener = target.closest?.("[aria-haspopup=dialog]");
    if (opener) opener.parentElement.querySelector("dialog").showModal();
    const closer = target.closest?.("[data-dialog=close]");
    if (closer) closer.closest("dialog").close();
    for (const menu of document.querySelectorAll("details.ui-menu[open]")) {
      if (!menu.contains(target) || target.closest("button, a")) menu.open = false;
    }
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details.ui-menu[open]")) {
      const hadFocus = menu.contains(document.activeElement);
      menu.open = false;
      if (hadFocus) menu.querySelector("summary").focus();
    }
    for (const hint of document.querySelectorAll("chat-tooltip:is(:hover, :focus-within)")) hint.dataset.off = "";
  });

  for (const type of ["mouseout", "focusout"]) {
    document.addEventListener(type, ({ target }) => delete target.closest?.("chat-tooltip")?.dataset.off);
  }

  window.chatUi = { call, confirm, copy };
})();
