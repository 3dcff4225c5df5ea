// The few things that Shiny does not do: numbers with sliders, the address, copying, uploads, light and dark.
(function () {
  "use strict";

  // Light or dark: the system's, unless somebody has chosen.
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  function chosen() { try { return localStorage.getItem("ggdp-theme"); } catch (_) { return null; } }
  function paint() { root.dataset.bsTheme = chosen() || (system.matches ? "dark" : "light"); }
  paint();
  system.addEventListener("change", paint);
  document.addEventListener("click", (event) => {
    if (!event.target.closest("#theme")) return;
    const chosen = root.dataset.bsTheme === "dark" ? "light" : "dark";
    try { localStorage.setItem("ggdp-theme", chosen); } catch (_) { /* none */ }
    paint();
  });

  // Copy buttons.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    await navigator.clipboard.writeText(button.closest(".code").querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });

  // Enter in a field of settings must not leave the page.
  document.addEventListener("submit", (event) => event.preventDefault());

  // A number of few digits at a share of the way from the low to the high end of a slider.
  function valueAt(box, share) {
    const low = Number(box.dataset.low), high = Number(box.dataset.high);
    if (share <= 0) return low;
    if (share >= 1) return high;
    const exact = box.dataset.scale === "log" ? low * Math.pow(high / low, share) : low + share * (high - low);
    if (box.dataset.whole === "yes") return Math.round(exact);
    return Number(exact.toPrecision(box.dataset.scale === "log" ? 2 : 3));
  }
  function shareOf(box, value) {
    const low = Number(box.dataset.low), high = Number(box.dataset.high);
    const share = box.dataset.scale === "log"
      ? Math.log(value / low) / Math.log(high / low)
      : (value - low) / (high - low);
    return Math.min(Math.max(share, 0), 1);
  }
  function written(value) {
    return Math.abs(value) >= 1e-4 || value === 0 ? String(value) : value.toExponential().replace(/e-(\d)$/, "e-0$1");
  }

  // Inputs that are shown only while another input has one of some values.
  function showWhen() {
    for (const box of document.querySelectorAll("[data-when]")) {
      const chosen = document.querySelector('input[name="' + box.dataset.when + '"]:checked');
      box.hidden = !!chosen && !box.dataset.values.split(" ").includes(chosen.value);
    }
  }
  document.addEventListener("change", showWhen);

  // Declarations follow the columns that are typed: the lines of a column that is counted by no longer are put aside,
  // and come back with it. What names a column that was never counted by stays, and is said to be wrong.
  const DECLARED = ["levels", "bins", "labels", "other", "missing"];
  const counted = new WeakMap(), aside = new WeakMap();
  function columnsOf(text) {
    return (text.match(/"[^"]*"|[^,\n]+/g) || []).map((name) => name.replace(/"/g, "").trim());
  }
  function declares(line, name) {
    return line.trim().startsWith(name) && /^\s*(:int\s*)?=/.test(line.trim().slice(name.length));
  }
  function isColumns(field) { return /-by$/.test(field.id) && !!field.closest(".settings"); }
  document.addEventListener("focusin", (event) => {
    if (isColumns(event.target)) counted.set(event.target, columnsOf(event.target.value));
  });
  document.addEventListener("input", (event) => {
    const field = event.target;
    if (!isColumns(field)) return;
    const now = columnsOf(field.value), gone = (counted.get(field) || []).filter((name) => !now.includes(name));
    const kept = aside.get(field) || [];
    counted.set(field, now);
    for (const key of DECLARED) {
      const box = document.getElementById(field.id.replace(/by$/, key));
      if (!box) continue;
      let lines = box.value.split("\n");
      for (const line of lines) for (const name of gone) if (declares(line, name)) kept.push({ key, name, line });
      lines = lines.filter((line) => !gone.some((name) => declares(line, name)));
      for (const one of kept.filter((each) => each.key === key && now.includes(each.name))) {
        kept.splice(kept.indexOf(one), 1);
        if (!lines.some((line) => declares(line, one.name))) lines.push(one.line);
      }
      const value = lines.filter((line, place) => line || place < lines.length - 1).join("\n").replace(/^\n/, "");
      if (value === box.value) continue;
      box.value = value;
      box.dispatchEvent(new Event("input", { bubbles: true }));
    }
    aside.set(field, kept);
  });

  // The tab of the view is in sight; not by scrollIntoView, from which the keyboard would go on.
  function showTab() {
    const tab = document.querySelector(".nav-link.active"), row = tab && tab.closest(".nav");
    if (row) row.scrollLeft = tab.offsetLeft - row.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2;
  }
  document.addEventListener("shown.bs.tab", showTab);

  document.addEventListener("DOMContentLoaded", () => {
    showWhen();
    showTab();
    // On a narrow screen only the first settings are unfolded, so that results are near.
    if (!window.matchMedia("(max-width: 52rem)").matches) return;
    for (const box of document.querySelectorAll(".settings .group:not(:first-child)")) box.open = false;
  });

  function install() {
    const Shiny = window.Shiny;

    class Quantity extends Shiny.InputBinding {
      find(scope) { return window.jQuery(scope).find(".quantity"); }
      getId(box) { return box.id; }
      getValue(box) {
        const text = box.querySelector("input[type=number]").value;
        return text === "" ? null : Number(text);
      }
      setValue(box, value) {
        box.querySelector("input[type=number]").value = written(value);
        this.follow(box);
      }
      receiveMessage(box, data) {
        if ("value" in data) { this.setValue(box, data.value); box.dispatchEvent(new Event("moved")); }
      }
      follow(box) {
        const value = this.getValue(box), slider = box.querySelector("input[type=range]");
        if (value === null) return;
        slider.value = Math.round(shareOf(box, value) * Number(slider.max));
        slider.setAttribute("aria-valuetext", written(value));
      }
      subscribe(box, callback) {
        const field = box.querySelector("input[type=number]"), slider = box.querySelector("input[type=range]");
        slider.addEventListener("input", () => {
          const value = valueAt(box, Number(slider.value) / Number(slider.max));
          field.value = written(value);
          slider.setAttribute("aria-valuetext", written(value));
          callback(true);
        });
        field.addEventListener("input", () => { this.follow(box); callback(true); });
        box.addEventListener("moved", () => callback(false));
      }
      getRatePolicy() { return { policy: "debounce", delay: 60 }; }
    }
    Shiny.inputBindings.register(new Quantity(), "ggdp.quantity");

    // Another view is a step of the history, so that Back leads to the view before and not away from what was released.
    function tabOf(query) {
      const key = new URLSearchParams(query).get("view");
      return [...document.querySelectorAll(".nav-link[data-value]")].find((tab) => tab.dataset.value === key);
    }
    Shiny.addCustomMessageHandler("address", (message) => {
      const before = tabOf(location.search), query = "?" + message.query;
      if (before && before !== tabOf(query)) history.pushState(null, "", query);
      else history.replaceState(null, "", query);
    });
    window.addEventListener("popstate", () => {
      const tab = tabOf(location.search);
      if (tab && !tab.classList.contains("active")) tab.click();
    });

    // Inputs of what an open study keeps are hidden: they would change nothing.
    Shiny.addCustomMessageHandler("kept", (message) => {
      for (const box of document.querySelectorAll(".settings [data-kept]")) {
        box.hidden = false;
        delete box.dataset.kept;
      }
      for (const id of message.inputs) {
        const field = document.getElementById(id), box = field && field.closest(".typed, .quantity, .choices");
        if (box) { box.hidden = true; box.dataset.kept = ""; }
      }
    });

    // A question that takes the page until it is answered; a button of it answers once.
    Shiny.addCustomMessageHandler("dialog", (asked) => {
      const dialog = document.body.appendChild(document.createElement("dialog"));
      dialog.className = "dialog";
      dialog.setAttribute("aria-labelledby", "dialog-title");
      dialog.innerHTML = asked.html;
      function answer(button) {
        if (!dialog.open) return;
        Shiny.setInputValue(button.dataset.answer, Number(button.dataset.number), { priority: "event" });
        dialog.close();
      }
      dialog.addEventListener("click", (event) => {
        const button = event.target.closest("button[data-answer]");
        if (button) answer(button);
      });
      dialog.addEventListener("cancel", (event) => {
        event.preventDefault();
        answer(dialog.querySelector("button[data-cancel]"));
      });
      dialog.addEventListener("close", () => dialog.remove());
      dialog.showModal();
    });

    // A file goes to an address of the server that keeps it in memory.
    document.addEventListener("change", async (event) => {
      const input = event.target.closest("input[type=file][data-ticket]");
      if (!input || !input.files.length) return;
      const file = input.files[0], words = document.getElementById(input.getAttribute("aria-describedby"));
      // What is refused leaves the file of before in place, which is said too.
      function refuse(why) { words.textContent = why.replace(/[^.?]$/, "$&.") + " " + words.dataset.now; }
      if (file.size > Number(input.dataset.largest)) { refuse(input.dataset.tooLarge); input.value = ""; return; }
      words.textContent = "Loading " + file.name + " …";
      try {
        const answer = await fetch("upload/" + input.dataset.ticket + "?name=" + encodeURIComponent(file.name), {
          method: "POST", body: file, headers: { "content-type": "application/octet-stream" },
        });
        const said = await answer.json();
        if (said.loaded) words.textContent = said.message; else refuse(said.message);
      } catch (_) {
        refuse("The file could not be sent. Is ggdp explore still running?");
      }
      input.value = "";
    });
  }
  if (window.Shiny && window.Shiny.inputBindings) install();
  else document.addEventListener("DOMContentLoaded", install);
})();
