#!/usr/bin/env python3
"""Pagoda against PyTorch DistributedDataParallel on LeNet-5, in alternating rounds of one run.

    .venv/bin/python benchmarks/peers/compare_lenet5.py [--rounds 9] [--steps 50] [--json]
"""

import json

import alternate

# numerator, denominator, target
RATIOS = [
    ("pagoda full", "pagoda unsynchronised", 0.95),
    ("pagoda async", "pagoda unsynchronised", 0.97),
    ("pagoda full", "ddp", 1.25),
    ("pagoda full", "ddp-tuned", 1.10),
]


def main():
    options = alternate.parser(__doc__, steps=50).parse_args()
    steps = ["--steps", str(options.steps)]
    pagoda = [options.pagoda, "bench", "lenet5", "--devices", "2", "--serve", *steps]
    contestants = {f"pagoda {mode}": (pagoda, mode) for mode in ("full", "unsynchronised", "async", "threads")}
    contestants["ddp"] = (alternate.peer("ddp_lenet5.py", *steps), "round")
    contestants["ddp-tuned"] = (alternate.peer("ddp_lenet5.py", "--tuned", *steps), "round")

    rates = alternate.alternate(contestants, options.rounds)
    result = {
        "machine": alternate.machine(),
        "rounds": options.rounds,
        "steps": options.steps,
        "samples_per_second": rates,
        "ratios": [alternate.ratio(rates, *row) for row in RATIOS],
    }
    if options.json:
        print(json.dumps(result, indent=2))
        return
    print("{cpu}, {cores} cores, {date}, torch {torch}".format(**result["machine"]))
    print(f"{options.rounds} rounds of {options.steps} steps\n")
    alternate.print_rates(rates)
    alternate.print_ratios(result["ratios"])


if __name__ == "__main__":
    main()
