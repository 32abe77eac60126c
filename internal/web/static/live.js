"use strict";
// Reads the part of the page with the id "live" again when a repository of it was reconciled.
(() => {
  const every = 1000; // milliseconds; several changes in that time are one
  const live = () => document.getElementById("live");
  let timer = 0;
  let missed = false; // a change while nobody sees the page
  const read = () => {
    timer = 0;
    missed = document.hidden;
    if (!missed) htmx.trigger(live(), "reconciled");
  };
  const later = () => { timer ||= setTimeout(read, every); };
  document.addEventListener("visibilitychange", () => { if (missed && !document.hidden) later(); });

  const changes = new EventSource("/changes");
  let opened = false;
  changes.addEventListener("open", () => {
    // What happened since the connection was lost is unknown, and a decision has an effect before there is one.
    if (opened || document.querySelector(".outcome")) later();
    opened = true;
    document.body.dataset.live = "on";
  });
  changes.addEventListener("error", () => { document.body.dataset.live = "off"; });
  changes.addEventListener("reconciled", (event) => {
    const only = live().dataset.repository;
    if (!only || only === event.data) later();
  });

  // Filters that are empty are no part of the URL.
  document.addEventListener("htmx:configRequest", (event) => {
    for (const [name, value] of [...event.detail.formData]) if (value === "") event.detail.formData.delete(name);
  });
  // The focus stays on the link that it was on.
  let focused = null;
  document.addEventListener("htmx:beforeSwap", () => {
    const link = document.activeElement;
    focused = link && link.href && live().contains(link) ? link.getAttribute("href") : null;
  });
  document.addEventListener("htmx:afterSwap", () => {
    if (!focused) return;
    for (const link of live().querySelectorAll("a")) if (link.getAttribute("href") === focused) { link.focus({ preventScroll: true }); return; }
  });
})();
