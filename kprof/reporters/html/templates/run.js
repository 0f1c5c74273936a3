"use strict";
(() => {
  const HEIGHT = 22, LEFT = 190, TOP = 24;
  const format = (ns) => ns >= 1e6 ? `${(ns / 1e6).toFixed(3)} ms` : ns >= 1e3 ? `${(ns / 1e3).toFixed(2)} µs` : `${Math.round(ns)} ns`;
  const draw = (figure) => {
    const data = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    const canvas = figure.querySelector("canvas"), caption = figure.querySelector(".pointed");
    const pen = canvas.getContext("2d");
    const lanes = data.streams.map((stream) => {
      let at = 0;
      return { ...stream, starts: stream.starts.map((difference) => (at += difference)) };
    });
    if (data.steps.length) lanes.unshift({
      name: "steps (CPU)", starts: data.steps.map((step) => step[0]), durations: data.steps.map((step) => step[1]),
      labels: [], together: {}, steps: data.steps,
    });
    const whole = Math.max(data.span, 1);
    let from = 0, to = whole, found = null;
    const legend = figure.querySelector(".legend");
    for (const [name, colour] of data.categories) {
      const item = document.createElement("li"), key = document.createElement("i");
      key.style.background = colour;
      item.append(key, name);
      legend.append(item);
    }
    const room = () => Math.max(50, canvas.clientWidth - LEFT);
    const across = (time) => LEFT + (time - from) / (to - from) * room();
    const when = (x) => from + (x - LEFT) / room() * (to - from);
    // The last span that begins at or before a moment.
    const before = (starts, time) => {
      let low = 0, high = starts.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (starts[middle] <= time) low = middle + 1; else high = middle;
      }
      return low - 1;
    };
    const paint = () => {
      const scale = devicePixelRatio || 1, width = canvas.clientWidth, height = TOP + lanes.length * (HEIGHT + 4) + 4;
      canvas.style.height = `${height}px`;
      canvas.width = width * scale;
      canvas.height = height * scale;
      pen.setTransform(scale, 0, 0, scale, 0, 0);
      const style = getComputedStyle(canvas), ink = style.color;
      pen.font = "12px system-ui, sans-serif";
      pen.textBaseline = "middle";
      for (let tick = 0; tick <= 4; tick++) {
        const time = from + (to - from) * tick / 4;
        pen.fillStyle = ink;
        pen.textAlign = tick === 4 ? "right" : tick ? "center" : "left";
        pen.fillText(format(time), across(time), 10);
      }
      pen.textAlign = "left";
      lanes.forEach((lane, row) => {
        const y = TOP + row * (HEIGHT + 4);
        pen.save();
        pen.beginPath();
        pen.rect(LEFT, y, room(), HEIGHT);
        pen.clip();
        let drawn = -1;
        for (let at = Math.max(0, before(lane.starts, from)); at < lane.starts.length && lane.starts[at] < to; at++) {
          const x = across(lane.starts[at]), end = across(lane.starts[at] + lane.durations[at]);
          if (end < drawn + 0.3) continue;
          drawn = Math.max(end, x + 1);
          const shade = lane.steps ? ["#6b7d8f", "#9aa9b8"][at % 2] : data.categories[data.kinds[lane.labels[at]]][1];
          pen.fillStyle = shade;
          pen.globalAlpha = lane.together[at] ? 0.7 : 1;
          pen.fillRect(x, y, Math.max(1, end - x), HEIGHT);
          pen.globalAlpha = 1;
          if (end - x > 60) {
            pen.fillStyle = "#000";
            pen.save();
            pen.beginPath();
            pen.rect(x, y, end - x - 2, HEIGHT);
            pen.clip();
            pen.fillText(lane.steps ? lane.steps[at][2] : data.names[lane.labels[at]], Math.max(x, LEFT) + 3, y + HEIGHT / 2);
            pen.restore();
          }
        }
        pen.restore();
        pen.fillStyle = ink;
        pen.fillText(lane.name, 2, y + HEIGHT / 2, LEFT - 8);
      });
      canvas.dataset.from = Math.round(from);
      canvas.dataset.to = Math.round(to);
    };
    const clamp = (start, length) => {
      length = Math.min(whole, Math.max(Math.min(whole, 50), length));
      from = Math.min(Math.max(0, start), whole - length);
      to = from + length;
      paint();
    };
    const zoom = (factor, x) => {
      const at = x === undefined ? (from + to) / 2 : when(x);
      clamp(at - (at - from) * factor, (to - from) * factor);
    };
    const move = (part) => clamp(from + part * (to - from), to - from);
    const tell = (x, y) => {
      const row = Math.floor((y - TOP) / (HEIGHT + 4)), lane = lanes[row];
      found = null;
      if (!lane || x < LEFT) return caption.textContent = "";
      const time = when(x), at = before(lane.starts, time + 1.5 * (to - from) / room());
      if (at < 0 || lane.starts[at] + lane.durations[at] < time - 1.5 * (to - from) / room()) return caption.textContent = "";
      const pair = lane.together[at], name = lane.steps ? lane.steps[at][2] : data.names[lane.labels[at]];
      const kind = lane.steps ? "step" : data.categories[data.kinds[lane.labels[at]]][0];
      found = [lane.starts[at], lane.durations[at]];
      caption.textContent = pair
        ? `${pair[0]} activities in ${format(lane.durations[at])}, ${format(pair[1])} of it busy, most of it ${name} (${kind}), from ${format(lane.starts[at])}`
        : `${name} (${kind}): ${format(lane.durations[at])}, from ${format(lane.starts[at])}`;
    };
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.max(LEFT, event.offsetX));
    }, { passive: false });
    let held = null;
    canvas.addEventListener("pointerdown", (event) => {
      held = [event.offsetX, from];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", () => { held = null; });
    canvas.addEventListener("pointermove", (event) => {
      if (held) clamp(held[1] - (event.offsetX - held[0]) / room() * (to - from), to - from);
      else tell(event.offsetX, event.offsetY);
    });
    canvas.addEventListener("dblclick", () => { if (found) clamp(found[0] - found[1] / 2, 2 * found[1]); });
    canvas.addEventListener("keydown", (event) => {
      const does = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => clamp(0, whole),
        "ArrowLeft": () => move(-0.2), "ArrowRight": () => move(0.2) }[event.key];
      if (!does) return;
      event.preventDefault();
      does();
    });
    for (const button of figure.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => {
      const how = button.dataset.zoom;
      if (how === "all") clamp(0, whole); else zoom(how === "in" ? 0.5 : 2);
    });
    new ResizeObserver(paint).observe(canvas.parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
    paint();
  };
  for (const figure of document.querySelectorAll(".timeline")) draw(figure);
})();
