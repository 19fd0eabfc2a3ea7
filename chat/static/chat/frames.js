// Tells the site which frame the page has: at each connection, so that it gets what it lacks, and now and then
// afterwards, so that the site knows how far it is. Loaded before htmx, which connects as soon as it runs.

(() => {
  "use strict";

  const CONFIRM_AFTER = 1000; // milliseconds; often enough that the site hardly ever waits for it
  let have = null;
  let socket = null;
  let timer = 0;

  function confirm() {
    timer = 0;
    have ??= Number(document.getElementById("socket").dataset.seq);
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ have }));
  }

  document.addEventListener("htmx:after:ws:connection", ({ detail }) => {
    socket = detail.connection.socket;
    confirm();
  });

  document.addEventListener("htmx:after:ws:message", ({ detail }) => {
    const number = detail.message.json?.n;
    if (number === undefined) return;
    have = number;
    timer ||= setTimeout(confirm, CONFIRM_AFTER);
  });
})();
