// The script of the page of a failure. Everything that comes from the program is inserted as text, never as markup.
"use strict";
(() => {
  const sections = [...document.querySelectorAll("section.failure")].map(setUp);
  let active = sections[0];

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function setUp(section) {
    const data = JSON.parse(section.querySelector("script[type='application/json']").textContent);
    const events = [...section.querySelectorAll("li.event")];
    const boxes = [...section.querySelectorAll(".threads input")];
    const grid = section.querySelector("ol.events");
    const panel = section.querySelector("aside");
    const view = { section, data, events, boxes, current: -1, select, step, toggle, nextRacing };
    panel.hidden = false;
    section.querySelector(".threads").hidden = false;
    boxes.forEach(box => box.addEventListener("change", filter));
    events.forEach((item, at) => item.addEventListener("click", () => { active = view; select(at); }));

    const svg = section.querySelector("svg.arrows");
    let arrows = [];
    const racing = at => events[at].classList.contains("racing");
    const visible = at => boxes[data.events[at].thread].checked;

    function filter() {
      events.forEach((item, at) => { item.hidden = !visible(at); });
      section.querySelectorAll(".name").forEach((name, thread) => { name.hidden = !boxes[thread].checked; });
      grid.style.gridTemplateColumns = boxes.map(box => box.checked ? "minmax(10rem, 1fr)" : "0").join(" ");
      draw();
    }

    function toggle(thread) {
      if (thread < boxes.length) { boxes[thread].checked = !boxes[thread].checked; filter(); }
    }

    function step(by) {
      for (let at = view.current + by; at >= 0 && at < events.length; at += by) {
        if (visible(at)) return select(at);
      }
    }

    function nextRacing() {
      for (let n = 1; n <= events.length; n++) {
        const at = (view.current + n) % events.length;
        if (visible(at) && racing(at)) return select(at, "center");
      }
    }

    function select(at, block = "nearest") {
      if (view.current >= 0) events[view.current].removeAttribute("aria-current");
      view.current = at;
      events[at].setAttribute("aria-current", "step");
      events[at].scrollIntoView({ block });
      tell(at);
      mark();
    }

    function table(title, pairs) {
      if (!pairs.length) return;
      panel.append(element("h4", title));
      const list = element("dl");
      for (const [name, value] of pairs) list.append(element("dt", name), element("dd", value));
      panel.append(list);
    }

    function tell(at) {
      const event = data.events[at];
      const locks = new Map(), shared = new Map(), variables = new Map();
      for (const before of data.events.slice(0, at + 1)) {
        for (const [name, state] of before.locks) locks.set(name, state);
        const [kind, ...name] = before.operation.split(" ");
        if (before.value && !["try", "choose"].includes(kind)) shared.set(name.join(" "), before.value);
        if (before.variables.length) variables.set(before.thread, before.variables);
      }
      panel.replaceChildren(element("h3", `Event ${data.first + at + 1}: ${data.threads[event.thread]}`));
      panel.append(element("p", event.done, "done"));
      const after = data.edges.filter(edge => edge[1] === data.first + at).map(edge => edge[0]);
      table("Happens after", after.map(number => {
        const other = data.events[number - data.first];
        return [`event ${number + 1}`, `${data.threads[other.thread]}: ${other.operation}`];
      }));
      table("Locks", [...locks]);
      table("Shared, as last seen", [...shared]);
      for (const [thread, pairs] of variables) table(`Variables of ${data.threads[thread]}`, pairs);
    }

    // Measure everything before changing anything: otherwise the browser would lay out the page again for each arrow.
    function draw() {
      const box = grid.getBoundingClientRect();
      const size = [grid.scrollWidth, grid.scrollHeight];
      const places = events.map(item => item.hidden ? undefined : item.getBoundingClientRect());
      const seen = data.edges.filter(edge => edge.every(number => places[number - data.first]));
      arrows = seen.map(([earlier, later]) => {
        const a = places[earlier - data.first], b = places[later - data.first];
        const right = b.left > a.left;
        const x1 = (right ? a.right : a.left) - box.left, y1 = (a.top + a.bottom) / 2 - box.top;
        const x2 = (right ? b.left : b.right) - box.left, y2 = b.top + 8 - box.top;
        const bend = right ? 14 : -14;
        const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
        path.setAttribute("d", `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`);
        path.setAttribute("marker-end", "url(#head)");
        path.classList.add("edge");
        path.classList.toggle("hot", [earlier, later].every(at => racing(at - data.first)));
        return { ends: [earlier, later], path };
      });
      svg.setAttribute("width", size[0]);
      svg.setAttribute("height", size[1]);
      svg.replaceChildren(svg.firstElementChild, ...arrows.map(arrow => arrow.path));
      mark();
    }

    function mark() {
      for (const { ends, path } of arrows) path.classList.toggle("near", ends.includes(data.first + view.current));
    }

    draw();
    addEventListener("resize", draw);
    return view;
  }

  document.addEventListener("keydown", event => {
    if (!active || event.ctrlKey || event.altKey || event.metaKey) return;
    const last = active.events.length - 1;
    const keys = {
      ArrowDown: () => active.step(1), j: () => active.step(1),
      ArrowUp: () => active.step(-1), k: () => active.step(-1),
      Home: () => { active.current = -1; active.step(1); },
      End: () => { active.select(last); active.step(1); },
      r: () => active.nextRacing(),
      n: () => {
        active = sections[(sections.indexOf(active) + 1) % sections.length];
        active.section.scrollIntoView();
      },
      s: () => active.events[active.current]?.querySelector("a")?.click(),
    };
    const act = keys[event.key] ?? (/^[1-9]$/.test(event.key) ? () => active.toggle(event.key - 1) : undefined);
    if (act) { event.preventDefault(); act(); }
  });
})();
