#!/usr/bin/env python3
"""Draws the pictures of the documentation: `docs/pictures/draw.py` writes the SVG files beside it.

They have a background of their own and follow the reader's colour scheme. Figures are those of benchmarks/README.md.

    docs/pictures/draw.py --attention FILE PICTURE.svg

draws the first line of what `pagoda translate RUN --attention FILE` wrote.
"""
import html
import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent

STYLE = """
  text { font-family: system-ui, sans-serif; font-size: 14px; fill: #1f2933; }
  .small { font-size: 12px; fill: #52606d; } .strong { font-weight: 600; } .middle { text-anchor: middle; } .end { text-anchor: end; }
  .paper { fill: #ffffff; stroke: #cbd2d9; } .line { stroke: #7b8794; stroke-width: 1.5; fill: none; }
  .arrow { stroke: #52606d; stroke-width: 2; fill: none; marker-end: url(#head); } .head { fill: #52606d; }
  .a { fill: #bfdbfe; stroke: #3b82f6; } .b { fill: #bbf7d0; stroke: #22a35a; } .c { fill: #fde68a; stroke: #d19a08; }
  .d { fill: #fecaca; stroke: #e05252; } .idle { fill: #e4e7eb; stroke: none; } .heat { fill: #1d4ed8; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4e7eb; } .small { fill: #aab4bf; } .paper { fill: #1a1f26; stroke: #3e4c59; } .line { stroke: #7b8794; }
    .arrow { stroke: #aab4bf; } .head { fill: #aab4bf; }
    .a { fill: #1e3a5f; stroke: #60a5fa; } .b { fill: #14432a; stroke: #4ade80; } .c { fill: #4a3a08; stroke: #facc15; }
    .d { fill: #4f1d1d; stroke: #f87171; } .idle { fill: #2d3640; } .heat { fill: #93c5fd; }
  }
"""


class Picture:
    def __init__(self, name, width, height, title):
        self.name, self.width, self.height = name, width, height
        self.parts = [f"<title>{html.escape(title)}</title>",
                      f'<rect class="paper" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>']

    def box(self, x, y, width, height, kind, *lines, small=False):
        self.parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="5"/>')
        top = y + height / 2 + 5 - 9 * (len(lines) - 1)
        for number, line in enumerate(lines):
            self.text(x + width / 2, top + 18 * number, line, "middle small" if small or number else "middle")

    def text(self, x, y, words, kind=""):
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}">{html.escape(words)}</text>')

    def heat(self, x, y, width, height, weight):
        self.parts.append(f'<rect class="heat" x="{x}" y="{y}" width="{width}" height="{height}" fill-opacity="{weight:.2f}"/>')

    def arrow(self, *points):
        self.parts.append(f'<polyline class="arrow" points="{" ".join(f"{x:g},{y:g}" for x, y in points)}"/>')

    def line(self, *points):
        self.parts.append(f'<polyline class="line" points="{" ".join(f"{x:g},{y:g}" for x, y in points)}"/>')

    def save(self, path=None):
        head = ('<defs><marker id="head" markerWidth="9" markerHeight="8" refX="7" refY="4" orient="auto">'
                '<path class="head" d="M0,0 L8,4 L0,8 z"/></marker></defs>')
        body = "\n".join(self.parts)
        (path or FOLDER / f"{self.name}.svg").write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" role="img">\n<style>{STYLE}</style>\n{head}\n{body}\n</svg>\n')


def step():
    picture = Picture("step", 760, 300, "A step: feeds, towers, combined gradient, one update")
    picture.box(20, 115, 90, 70, "c", "data", "batches")
    for tower in range(3):
        y = 30 + 85 * tower
        picture.arrow((110, 150), (130, 150), (130, y + 35), (150, y + 35))
        picture.box(152, y, 60, 70, "c", f"feed {tower}")
        picture.arrow((212, y + 35), (230, y + 35))
        picture.box(232, y, 210, 70, "a", f"tower {tower}: the model", "forward, backward")
        picture.arrow((442, y + 35), (465, y + 35), (465, 150), (488, 150))
    picture.box(490, 115, 110, 70, "b", "combine", "sum, clip")
    picture.arrow((600, 150), (628, 150))
    picture.box(630, 115, 110, 70, "d", "update", "once")
    picture.arrow((685, 185), (685, 285), (337, 285), (337, 274))
    picture.text(565, 279, "the new parameters, for all towers", "small middle")
    picture.save()


def placements():
    picture = Picture("placements", 760, 300, "Placements of parameters: shared, mirrored, host, spread")
    for number, name in enumerate(("shared", "mirrored", "host", "spread")):
        x = 15 + 185 * number
        picture.text(x + 88, 28, name, "middle strong")
        picture.box(x, 45, 84, 110, "a", "") if name != "shared" else picture.box(x, 45, 84, 60, "a", "tower 0")
        picture.box(x + 92, 45, 84, 110, "a", "") if name != "shared" else picture.box(x + 92, 45, 84, 60, "a", "tower 1")
        if name != "shared":
            for tower in (0, 1):
                left = x + 92 * tower
                picture.text(left + 42, 63, f"tower {tower}", "middle small")
                picture.box(left + 6, 70, 72, 34, "b", "parameters", small=True)
                if name == "mirrored":
                    picture.box(left + 6, 110, 72, 38, "c", "state", small=True)
                elif name == "spread":
                    picture.box(left + 6, 110, 72, 38, "c", f"state, half {tower + 1}", small=True)
        if name in ("shared", "host"):
            for tower in (0, 1):
                top = 105 if name == "shared" else 155
                picture.arrow((x + 42 + 92 * tower, top), (x + 42 + 92 * tower, 178))
            picture.box(x, 180, 176, 34, "b", "parameters" if name == "shared" else "master parameters", small=True)
            picture.box(x, 220, 176, 30, "c", "optimizer state", small=True)
        else:
            picture.line((x + 42, 155), (x + 42, 190), (x + 134, 190), (x + 134, 155))
            picture.text(x + 88, 208, "sum of gradients" if name == "mirrored" else "gradients,", "middle small")
            picture.text(x + 88, 225, "" if name == "mirrored" else "then shares of parameters", "middle small")
        picture.text(x + 88, 280, {"shared": "one memory: CPU towers", "mirrored": "cards, most memory",
                                   "host": "cards, least memory", "spread": "large state (ZeRO)"}[name], "middle small")
    picture.save()


def schedule(kind, stages, micro_batches):
    """Start and kind of every action: {stage: [(time, "F" or "B", micro-batch)]}; backward takes two units."""
    orders = []
    for stage in range(stages):
        ahead = micro_batches if kind == "gpipe" else min(stages - stage, micro_batches)
        order = [("F", m) for m in range(ahead)]
        for m in range(micro_batches):
            order.append(("B", m))
            if ahead + m < micro_batches:
                order.append(("F", ahead + m))
        orders.append(order)
    done, free, result = {}, [0] * stages, {stage: [] for stage in range(stages)}
    while any(orders):
        for stage, order in enumerate(orders):
            while order:
                action, m = order[0]
                before = ("F", stage - 1, m) if action == "F" else ("B", stage + 1, m)
                if action == "B" and stage == stages - 1:
                    before = ("F", stage, m)
                if 0 <= before[1] < stages and before not in done:
                    break
                start = max(free[stage], done.get(before, 0))
                free[stage] = done[(action, stage, m)] = start + (1 if action == "F" else 2)
                result[stage].append((start, action, m))
                order.pop(0)
    return result, max(free)


def schedules():
    stages, micro_batches, unit = 4, 8, 18
    picture = Picture("schedules", 760, 330, "GPipe and 1F1B with four stages and eight micro-batches")
    for row, (kind, title) in enumerate((("gpipe", "GPipe: all forward, then all backward"),
                                         ("1f1b", "1F1B: backward as soon as possible"))):
        plan, length = schedule(kind, stages, micro_batches)
        top = 20 + 155 * row
        picture.text(20, top + 8, title, "strong")
        for stage in range(stages):
            y = top + 20 + 30 * stage
            picture.text(75, y + 17, f"stage {stage}", "end small")
            picture.box(85, y, length * unit, 24, "idle")
            for start, action, m in plan[stage]:
                picture.box(85 + start * unit + 0.5, y, (1 if action == "F" else 2) * unit - 1, 24,
                            "a" if action == "F" else "b", str(m), small=True)
    picture.text(85, 322, "blue: forward; green: backward (twice as long); grey: the stage waits", "small")
    picture.save()


def asynchronous():
    picture = Picture("asynchronous", 760, 250, "Synchronous and asynchronous towers, one of them slow")
    lengths = (50, 50, 110)
    for column, title in enumerate(("synchronous: all wait for the slowest", "asynchronous: nobody waits")):
        left = 80 + 350 * column
        picture.text(left, 28, title, "strong")
        for tower, length in enumerate(lengths):
            y = 45 + 55 * tower
            if column == 0:
                picture.text(left - 10, y + 25, f"tower {tower}", "end small")
            x = left
            while x + length <= left + 264:
                end = x + length
                picture.box(x, y, length - 2, 36, "a" if length == 50 else "d", "")
                if column == 0:
                    picture.box(end, y, 110 - length, 36, "idle") if length < 110 else None
                    end = x + 110
                    picture.line((end + 5, 40), (end + 5, 200))
                    end += 12
                else:
                    picture.line((end, y - 5), (end, y + 41))
                    end += 4
                x = end
    picture.text(80, 232, "a line is an update of the parameters: one for all, or each tower's own as soon as it is ready", "small")
    picture.save()


# Of medians, from benchmarks/README.md.
RATIOS = [
    ("LeNet-5, two towers", 1.263), ("seq2seq, full softmax, two towers", 1.46), ("seq2seq, sampled softmax, two towers", 1.54),
    ("exported CNN, two towers (lowest of four runs)", 2.03), ("exported resnet18, two towers (lowest of four runs)", 1.73),
    ("LeNet-5, two processes", 1.236), ("seq2seq, full softmax, two processes", 1.308),
    ("seq2seq, sampled softmax, two processes", 1.409), ("seq2seq, sampled softmax, link of 1 Gbit/s", 3.070),
]


def ratios():
    left, unit = 330, 120
    picture = Picture("ratios", 760, 50 + 30 * len(RATIOS), "Samples per second over those of PyTorch's DistributedDataParallel")
    picture.text(20, 22, "samples/s over those of PyTorch's DistributedDataParallel", "strong")
    for row, (name, ratio) in enumerate(RATIOS):
        y = 40 + 30 * row
        picture.text(left - 10, y + 16, name, "end small")
        picture.box(left, y, round(ratio * unit), 22, "a")
        picture.text(left + ratio * unit + 8, y + 16, f"{ratio:.2f}", "small")
    picture.line((left + unit, 34), (left + unit, 44 + 30 * len(RATIOS)))
    picture.text(left + unit + 6, 46 + 30 * len(RATIOS), "1", "small")
    picture.save()


def attention(file=FOLDER / "attention.json", path=None):
    """What a translation looked at: a row for each token of it, a column for each of the source. attention.json is of a
    Transformer of `--preset multi30k-transformer` and a sentence that it was not trained on."""
    with open(file) as lines:
        one = json.loads(lines.readline())
    source, target = ([token.replace("▁", " ").strip() or "▁" for token in one[side]] for side in ("source", "target"))
    unit, left, top = 30, 30 + 8 * max(map(len, target)), 30 + 7 * max(map(len, source))
    picture = Picture("attention", left + unit * len(source) + 60, top + unit * len(target) + 20,
                      f"Attention: {' '.join(source)} → {' '.join(target)}")
    for column, token in enumerate(source):
        x = left + unit * column + unit / 2
        picture.parts.append(f'<text x="{x + 4:g}" y="{top - 8}" transform="rotate(-55 {x + 4:g} {top - 8})">{html.escape(token)}</text>')
    for row, (token, weights) in enumerate(zip(target, one["weights"])):
        y = top + unit * row
        picture.text(left - 10, y + 20, token, "end")
        picture.box(left, y + 1, unit * len(source), unit - 2, "idle")
        for column, weight in enumerate(weights):
            if weight >= 0.005:
                picture.heat(left + unit * column, y + 1, unit, unit - 2, weight)
    picture.save(path)


def draw_all():
    for draw in (step, placements, schedules, asynchronous, ratios, attention):
        draw()


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--attention":
        attention(sys.argv[2], pathlib.Path(sys.argv[3]))
    elif len(sys.argv) > 1:
        sys.exit(__doc__)
    else:
        draw_all()
