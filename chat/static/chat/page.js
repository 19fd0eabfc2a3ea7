// What the pages do in the browser beyond htmx: the message box, following the newest message, the state of the
// connection, announcements, relative times, colours. Everything listens at the document, so that swapped-in parts
// need no setup.

(() => {
  "use strict";

  const find = (selector, within = document) => within.querySelector(selector);
  const timeline = find("#timeline");

  // Client-made ids. `crypto.randomUUID` exists only on https and localhost.
  function uuid() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  }

  // A form keeps its id until the site has answered: sent again after a lost answer, it has no second effect.
  document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
    const body = ctx.request.body;
    // htmx gives up after a minute; a file over a slow line takes what it takes.
    if (body instanceof FormData && [...body.values()].some((value) => value instanceof File)) ctx.request.timeout = 0;
    if (ctx.sourceElement.id === "attach") ctx.sourceElement.reset(); // the same file may be chosen again
    if (ctx.request.method === "GET" || !body?.has?.("key")) return;
    const field = idField(ctx);
    const id = field?.value || uuid();
    if (field) field.value = id;
    body.set("key", id);
  });

  const idField = (ctx) => ctx.request.form && find('input[type="hidden"][name="key"]', ctx.request.form);

  document.addEventListener("htmx:after:request", ({ detail: { ctx } }) => {
    const field = idField(ctx);
    if (field && ctx.response.status < 500) field.value = "";
  });

  // The message box

  const draftKey = (field) => `draft ${location.pathname} ${field.closest(".mount")?.id ?? ""} ${field.name}`;
  const isKept = (field) => field.matches("textarea[data-draft], .mount :is(textarea, select, input)") &&
    !field.matches('[type="password"], [type="file"], [type="hidden"], [type="checkbox"], [type="radio"]');

  document.addEventListener("input", ({ target }) => {
    if (isKept(target)) sessionStorage.setItem(draftKey(target), target.value);
  });

  function restoreDrafts() {
    for (const field of document.querySelectorAll("textarea[data-draft], .mount :is(textarea, select, input)")) {
      const draft = isKept(field) ? sessionStorage.getItem(draftKey(field)) : null;
      if (draft !== null && field.name && !field.disabled) field.value = draft;
    }
  }

  function forgetDrafts(form) {
    for (const field of form.elements) {
      if (field.name && isKept(field)) sessionStorage.removeItem(draftKey(field));
    }
  }

  document.addEventListener("keydown", (event) => {
    const { target } = event;
    if (event.key === "Escape") {
      find("[data-escape]", target.closest("form") ?? document.createElement("i"))?.click();
      closeMenus(null);
    }
    const sends = target.matches?.("#composer textarea, #start textarea");
    // On a phone's keyboard Enter is the only way to a new line, and a composed word ends with Enter too.
    if (!sends || event.key !== "Enter" || event.shiftKey || event.isComposing || coarse.matches) return;
    event.preventDefault();
    if (target.value.trim()) target.form.requestSubmit(find(".send, .primary", target.form));
  });

  const coarse = matchMedia("(pointer: coarse) and (hover: none)");

  document.addEventListener("htmx:after:request", ({ detail: { ctx } }) => {
    const { form } = ctx.request;
    if (!form || ctx.response.status >= 300) return;
    forgetDrafts(form);
    if (form.id !== "composer") return;
    const field = form.elements.text;
    const sent = ctx.request.body.get("text").replaceAll("\r\n", "\n");
    if (field.value === sent) field.value = "";
    else sessionStorage.setItem(draftKey(field), field.value); // typed while the message was on its way
    find("#composer-error").textContent = "";
    field.focus();
    follow(true);
  });

  // The start form loads a page; a second click meanwhile would start a second conversation.
  document.addEventListener("submit", (event) => {
    if (event.target.id !== "start") return;
    if (event.target.dataset.sent) event.preventDefault();
    event.target.dataset.sent = "1";
  });

  // What the person did not get through

  const reasons = {
    403: "That is not allowed.",
    404: "It is no longer there.",
    413: "That is too large.",
    429: "There is too much of it already. Wait until some is done, or press Stop.",
  };

  function toast(text) {
    const box = find("#toast");
    box.textContent = text;
    clearTimeout(toast.timer);
    toast.timer = setTimeout(() => (box.textContent = ""), 8000);
  }

  document.addEventListener("htmx:response:error", ({ detail: { ctx } }) => {
    const { status } = ctx.response;
    if (status !== 422) toast(reasons[status] ?? "Something went wrong on the site. Please try again.");
  });
  document.addEventListener("htmx:error", ({ detail: { ctx } }) => {
    if (ctx && !ctx.response) toast("The site could not be reached. What you wrote is still here; please try again.");
  });

  // Following the newest message, as long as the reader is at the end

  let following = true;
  const toEnd = find("#to-end");
  const nearEnd = () => innerHeight + scrollY > document.documentElement.scrollHeight - 80;

  function follow(on) {
    following = on;
    if (toEnd) toEnd.hidden = on;
    if (on) scrollTo(0, document.documentElement.scrollHeight);
  }

  if (timeline) {
    let height = 0;
    new ResizeObserver(() => {
      const grown = document.documentElement.scrollHeight;
      if (following) follow(true);
      else if (grown > height) toEnd.hidden = false;
      height = grown;
    }).observe(timeline);
    addEventListener("scroll", () => {
      following = nearEnd();
      if (following) toEnd.hidden = true;
    }, { passive: true });
    toEnd.addEventListener("click", () => follow(true));
    // What the reader unfolds must stay where it is.
    timeline.addEventListener("click", ({ target }) => {
      if (target.closest("summary")) following = false;
    });
  }

  // The connection

  const connection = find("#connection");
  const GONE = { 4401: "log in", 4404: "gone" }; // the site's close codes that a reconnect can't mend
  let gone = false;

  function connected(state) {
    if (connection && connection.dataset.state !== state) connection.dataset.state = state;
  }

  document.addEventListener("htmx:after:ws:connection", () => connected("online"));
  document.addEventListener("htmx:ws:close", ({ detail }) => {
    if (detail.code in GONE) {
      gone = true;
      connected("offline");
      location.reload(); // the page's own address says why: the login page, or that there is nothing
    } else if (!gone) {
      connected(navigator.onLine ? "reconnecting" : "offline");
    }
  });
  document.addEventListener("htmx:before:ws:connection", (event) => {
    if (gone) event.preventDefault();
  });
  addEventListener("offline", () => connected("offline"));

  // A page from the back/forward cache has a dead socket and old content.
  addEventListener("pageshow", (event) => event.persisted && location.reload());

  // Announcements: a finished reply once, not each piece of it

  const announcer = find("#announcer");
  const SAID = 3; // lines that stay: what comes at once must not take the place of what is still being read

  function announce(text) {
    announcer.append(Object.assign(document.createElement("p"), { textContent: text }));
    while (announcer.childElementCount > SAID) announcer.firstElementChild.remove();
  }

  window.chatPage = { announce };
  const streaming = new Set();
  let agent = find("#conversation")?.dataset.state;
  let stopHadFocus = false;

  document.addEventListener("focusin", ({ target }) => (stopHadFocus = target.matches(".stop")));

  function notice() {
    for (const id of streaming) {
      const message = document.getElementById(id);
      if (message?.dataset.state === "streaming") continue;
      streaming.delete(id);
      const said = [...(message?.querySelectorAll(".text:not([hidden])") ?? [])].map((text) => text.textContent);
      announce(`Agent: ${said.join(" ").replace(/\s+/g, " ").trim().slice(0, 600)}`);
    }
    for (const message of document.querySelectorAll('.message[data-state="streaming"]')) streaming.add(message.id);
    const state = find("#conversation")?.dataset.state;
    if (state !== agent) {
      agent = state;
      if (state === "waiting") announce("The agent waits for you.");
      // Stop vanishes when there is nothing to stop; who pressed it by keyboard goes on in the message box.
      if (stopHadFocus && document.activeElement === document.body) find("#composer textarea")?.focus();
    }
  }

  if (timeline) {
    const watch = { subtree: true, childList: true, attributes: true, attributeFilter: ["data-state"] };
    const observer = new MutationObserver(notice);
    observer.observe(timeline, watch);
    observer.observe(find(".composer-dock"), watch);
    notice();
  }

  // Times

  const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const absolute = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
  const units = [["day", 86400], ["hour", 3600], ["minute", 60]];

  function showTimes() {
    for (const time of document.querySelectorAll("time[data-relative]")) {
      const then = new Date(time.dateTime);
      const seconds = (then - Date.now()) / 1000;
      const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 0];
      const recent = Math.abs(seconds) < 7 * 86400;
      const words = !size ? "just now" : recent ? relative.format(Math.round(seconds / size), unit) : absolute.format(then);
      if (time.textContent !== words) time.textContent = words;
      time.title = absolute.format(then);
    }
  }

  setInterval(showTimes, 30_000);
  document.addEventListener("htmx:after:swap", () => {
    showTimes();
    const field = document.activeElement;
    if (field?.matches("input[data-select]")) field.select();
  });

  // A deleted entry leaves the focus to its neighbour.
  document.addEventListener("htmx:before:swap", ({ detail: { ctx } }) => {
    const form = ctx.sourceElement;
    if (!form.matches?.("[data-deletes]") || ctx.response?.status !== 200) return;
    const entry = form.closest("li");
    const next = entry?.nextElementSibling ?? entry?.previousElementSibling;
    (next && find("a", next) ? find("a", next) : find("#history-title"))?.focus();
    announce("Deleted.");
  });

  // Menus and colours

  function closeMenus(target) {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(target)) menu.open = false;
    }
  }

  document.addEventListener("click", ({ target }) => closeMenus(target));

  const theme = find("#theme");
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);

  if (theme) {
    const show = () => theme.setAttribute("aria-pressed", String(isDark()));
    theme.hidden = false;
    theme.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      document.cookie = `theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax`;
      show();
    });
    dark.addEventListener("change", show);
    show();
  }

  restoreDrafts();
  showTimes();
  const arrival = performance.getEntriesByType("navigation")[0]?.type;
  if (timeline && arrival === "navigate") follow(true);
})();
