#!/usr/bin/env python3
"""All ways to train LeNet-5 on two cores, each in every round: what `pagoda bench lenet5 --choose` saves by halving.

    .venv/bin/python benchmarks/peers/sweep_lenet5.py [--rounds 21] [--steps 5] [--json]

Each way's rate is given over the best one's (by median): the way that `--choose` names is to be within 5 % of it.
"""

import json
import statistics

import alternate

PLACEMENTS = ("shared", "mirrored", "host", "spread")


def contestants(options):
    def bench(devices, *more):
        return [options.pagoda, "bench", "lenet5", "--devices", devices, "--cores-per-tower", "1", "--serve",
                "--steps", str(options.steps), *more]

    # Two towers of one core each, but for the first and the last.
    found = {"one core": (bench("cpu:0"), "full")}
    for placement in PLACEMENTS:
        found[placement] = (bench("cpu:0,cpu:1", "--parameters", placement), "full")
    shared = bench("cpu:0,cpu:1", "--parameters", "shared")
    found["async"] = (shared, "async")
    found["threads"] = (shared, "threads")
    return found


def main():
    options = alternate.parser(__doc__, steps=5).parse_args()
    rates = alternate.alternate(contestants(options), options.rounds)
    best = max(rates, key=lambda name: statistics.median(rates[name]))
    ratios = [alternate.ratio(rates, name, best, 0.95) for name in rates]
    if options.json:
        print(json.dumps({"machine": alternate.machine(), "samples_per_second": rates, "ratios": ratios}, indent=2))
        return
    print("{cpu}, {cores} cores, {date}, torch {torch}".format(**alternate.machine()))
    alternate.print_rates(rates)
    alternate.print_ratios(ratios)


if __name__ == "__main__":
    main()
