// Plots tried configurations as dots: predicted time over occupancy, with spills as colour and size.

import { byId, draw, duration, known } from "/dom.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [520, 300, 30, 30, 10, 14];

/** Draw the rows of the table as dots; `open(row)` is called for a clicked dot. */
export function show(rows, chosen, open) {
  const known_ = rows.filter((row) => row.time?.us && row.waves_per_simd !== null && row.waves_per_simd !== undefined);
  byId("dots-part").hidden = !known_.length;
  if (!known_.length) return;
  const [first, last] = spread(known_.map((row) => row.time.us));
  const most = Math.max(1, ...known_.map((row) => row.waves_per_simd));
  const x = (us) => LEFT + ((WIDTH - LEFT - RIGHT) * (Math.log(us) - Math.log(first))) / (Math.log(last) - Math.log(first));
  const y = (waves) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * waves) / (most * 1.1);
  const drawn = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "Tried: waves a SIMD over predicted time" });
  for (let waves = 0; waves <= most; waves += Math.max(1, Math.ceil(most / 8))) {
    drawn.append(draw("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(waves), y2: y(waves) }), draw("text", { x: LEFT - 4, y: y(waves) + 4, "text-anchor": "end" }, waves));
  }
  for (const us of ticks(first, last)) {
    drawn.append(draw("text", { x: x(us), y: HEIGHT - BOTTOM + 13, "text-anchor": "middle" }, duration(us)));
  }
  drawn.append(draw("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 3, "text-anchor": "middle" }, "Predicted time; upwards waves a SIMD; red and larger: spills"));
  for (const row of known_) {
    const spills = row.vgpr_spills || 0;
    const names = ["dot", spills ? "spilling" : "clean", row.key === chosen ? "chosen" : ""].filter(Boolean).join(" ");
    const words = `${row.words}: ${duration(row.time.us)}, ${known(row.waves_per_simd)} waves a SIMD, ${known(row.vgpr_spills)} spills`;
    drawn.append(
      draw(
        "circle",
        { cx: x(row.time.us), cy: y(row.waves_per_simd), r: 4 + Math.min(6, Math.log2(1 + spills) / 1.5), class: names, tabindex: 0, role: "button", "aria-label": words, "data-words": row.words, onclick: () => open(row), onkeydown: (event) => event.key === "Enter" && open(row) },
        draw("title", {}, words),
      ),
    );
  }
  byId("dots").replaceChildren(drawn);
}

/** Return the range of the times, with a margin of 15 %. */
function spread(times) {
  return [Math.min(...times) / 1.15, Math.max(...times) * 1.15];
}

function ticks(first, last) {
  const step = (last / first) ** (1 / 4);
  return [1, 2, 3].map((at) => first * step ** at);
}
