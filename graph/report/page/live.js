(function () {
  "use strict";
  function opened() {
    var all = document.querySelectorAll("main details");
    return Array.prototype.map.call(all, function (d) { return d.open; });
  }
  function update(text) {
    var next = new DOMParser().parseFromString(text, "text/html");
    var open = opened(), left = {};
    document.querySelectorAll("main .scroll").forEach(function (s, i) { left[i] = s.scrollLeft; });
    ["header", "main", "#report"].forEach(function (q) {
      var from = next.querySelector(q), to = document.querySelector(q);
      if (from && to) { to.innerHTML = from.innerHTML; }
    });
    document.querySelectorAll("main details").forEach(function (d, i) { if (i in open) { d.open = open[i]; } });
    document.querySelectorAll("main .scroll").forEach(function (s, i) { if (left[i]) { s.scrollLeft = left[i]; } });
    return document.querySelector(".state.running") !== null;
  }
  function again() {
    var at = document.activeElement;
    if (at && at !== document.body && document.querySelector("main").contains(at) || String(window.getSelection())) {
      setTimeout(again, 2000); // someone reads with the keyboard, or copies: nothing moves under them
      return;
    }
    fetch(location.pathname).then(function (r) { return r.text(); }).then(function (text) {
      if (update(text)) { setTimeout(again, 2000); }
    }, function () {
      var k = document.querySelector(".kicker");
      if (k && !k.querySelector(".gone")) {
        k.insertAdjacentHTML("beforeend", ' · <b class="gone">the run has ended; this is its last state</b>');
      }
    });
  }
  if (document.querySelector(".state.running")) { setTimeout(again, 2000); }
})();
