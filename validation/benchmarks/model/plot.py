"""Plot predicted against measured time, both on logarithmic axes, as SVG."""

import math
from collections.abc import Sequence

from validation.benchmarks.model.evaluate import Judged

SIZE, LEFT, TOP, SIDE = 620.0, 70.0, 40.0, 480.0
COLOURS = {"RMS": "#1b7837", "SwiGLU": "#2166ac", "skinny": "#b2182b"}
LABELS = {"RMS": "RMS norm + FP8", "SwiGLU": "SwiGLU + FP8", "skinny": "skinny FP8 GEMM"}


def scatter(results: Sequence[Judged]) -> str:
    """Return an SVG with one point per published time and the model's range; the diagonals are 1x, and 2x both ways."""
    from kprof_analyzers.pictures import svg

    shown = [judged for judged in results if judged.figures]
    times = [judged.figures[key] for judged in shown for key in ("measured_us", "predicted_us")]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))

    def place(value: float) -> float:
        return (math.log10(value) - low) / (high - low) * SIDE

    def at(x: float, y: float) -> tuple[float, float]:
        return LEFT + place(x), TOP + SIDE - place(y)

    body = [svg.rectangle(LEFT, TOP, SIDE, SIDE, fill="#ffffff", radius=0)]
    for power in range(low, high + 1):
        for step in (1, 2, 5):
            value = step * 10.0**power
            if value > 10.0**high:
                break
            x, y = at(value, value)
            body += [
                svg.path(f"M{x:.1f} {TOP}V{TOP + SIDE}", colour="#e4e4e4", width=0.7, arrow=False),
                svg.path(f"M{LEFT} {y:.1f}H{LEFT + SIDE}", colour="#e4e4e4", width=0.7, arrow=False),
                svg.text(x, TOP + SIDE + 16, f"{value:g}", size=10, anchor="middle"),
                svg.text(LEFT - 6, y + 4, f"{value:g}", size=10, anchor="end"),
            ]
    for factor, dashed in ((1.0, False), (2.0, True), (0.5, True)):
        start, end = 10.0**low * max(1.0, 1 / factor), 10.0**high / max(1.0, factor)
        (x1, y1), (x2, y2) = at(start, start * factor), at(end, end * factor)
        line = f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
        body.append(svg.path(line, colour="#888888", width=1, arrow=False, dashed=dashed))
    for judged in shown:
        body += _point(judged, at, 10.0**low, 10.0**high)
    for row, (kind, label) in enumerate(LABELS.items()):
        y = TOP + 18 + 18 * row
        body.append(f'<circle cx="{LEFT + 14:.1f}" cy="{y - 4:.1f}" r="4" fill="{COLOURS[kind]}"/>')
        body.append(svg.text(LEFT + 24, y, label))
    middle = LEFT + SIDE / 2
    body.append(svg.text(middle, TOP + SIDE + 38, "measured, microseconds", anchor="middle"))
    body.append(svg.text(middle, TOP - 14, "predicted, microseconds (upwards), MI300X", anchor="middle"))
    return svg.document(SIZE, SIZE - 30, body, "Predicted against measured time")


def _point(judged: Judged, at: "object", least: float, most: float) -> list[str]:
    from kprof_analyzers.pictures import svg

    assert callable(at)
    figures = judged.figures
    x, y = at(figures["measured_us"], figures["predicted_us"])
    _, top = at(figures["measured_us"], min(most, figures["high_us"]))
    _, bottom = at(figures["measured_us"], max(least, figures["low_us"]))
    colour = COLOURS[judged.problem.name.split()[0]]
    words = f"{judged.problem.name}: {figures['predicted_us']:.2f} predicted, {figures['measured_us']:.2f} measured"
    return [
        svg.path(f"M{x:.1f} {bottom:.1f}V{top:.1f}", colour=colour, width=1, arrow=False),
        f'<g>{svg.hint(words)}<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/></g>',
    ]
