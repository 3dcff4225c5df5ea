(function () {
  var root = document.documentElement, button = document.querySelector(".switch");
  function dark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }
  function name() { button.textContent = dark() ? "Light" : "Dark"; }
  try { var kept = localStorage.getItem("ggdp-theme"); if (kept) { root.dataset.theme = kept; } } catch (e) {}
  button.hidden = false; name();
  button.addEventListener("click", function () {
    root.dataset.theme = dark() ? "light" : "dark"; name();
    try { localStorage.setItem("ggdp-theme", root.dataset.theme); } catch (e) {}
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  function unfold() {
    var place = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!place) { return; }
    for (var one = place; one; one = one.parentElement) { if (one.tagName === "DETAILS") { one.open = true; } }
    place.scrollIntoView();
  }
  addEventListener("hashchange", unfold); unfold();
  addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (one) { one.open = true; });
  });
})();
