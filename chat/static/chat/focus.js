// Where the focus is when the page changes by itself: it goes to a new form when nobody is busy elsewhere, and stays
// nearby when what had it is gone.

(() => {
  "use strict";

  const timeline = document.getElementById("timeline");
  if (!timeline) return;

  // ---- A new form ---------------------------------------------------------------------------------------------------

  const FIELDS = ".ui-field :is(input, select, textarea):not(:disabled)";
  const coarse = matchMedia("(pointer: coarse)"); // there the focus would open a keyboard over the form

  function isIdle() {
    const active = document.activeElement;
    if (!getSelection().isCollapsed) return false; // somebody is about to copy something
    return !active || active.matches("body, .mount") || (active.matches("#composer textarea") && !active.value);
  }

  new MutationObserver((records) => {
    for (const { addedNodes } of records) {
      for (const node of addedNodes) {
        if (!(node instanceof Element)) continue;
        const mount = node.matches(".mount") ? node : node.querySelector(".mount");
        const field = mount?.querySelector(FIELDS);
        if (field) welcome(mount, field);
      }
    }
  }).observe(timeline, { childList: true, subtree: true });

  function welcome(mount, field) {
    const title = mount.querySelector(".ui-card > header, h2, h3, legend, label")?.textContent.trim();
    window.chatPage.announce(title ? `New form: ${title}` : "New form");
    if (!coarse.matches && isIdle()) field.focus({ preventScroll: true });
  }

  // ---- What had the focus is gone -------------------------------------------------------------------------------------

  const PLACES = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']";
  const usable = (element) => element.isConnected && !element.matches(":disabled") && element.checkVisibility();
  let last = null; // the element that has the focus, and what stands around it

  document.addEventListener("htmx:before:swap", () => {
    const element = document.activeElement;
    const mount = element?.closest(".mount");
    if (!mount) {
      last = null;
      return;
    }
    const all = [...mount.querySelectorAll(PLACES)];
    const place = all.indexOf(element);
    // Near ones first, those that follow before those that precede.
    last = { element, mount: mount.id, near: place < 0 ? [] : [...all.slice(place + 1), ...all.slice(0, place).reverse()] };
  });

  document.addEventListener("htmx:after:swap", () => {
    if (!last || usable(last.element)) return;
    const active = document.activeElement;
    if (active && active !== document.body && active !== last.element) return; // somebody went on meanwhile
    const again = last.element.id && document.getElementById(last.element.id);
    const mount = document.getElementById(last.mount);
    // A mount without anything to press has the focus itself, so that Tab goes on from there.
    const next = again && usable(again) ? again : last.near.find(usable) ?? mount?.querySelector(FIELDS) ?? mount;
    next?.focus({ preventScroll: true });
    last = null;
  });
})();
