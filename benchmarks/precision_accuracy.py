#!/usr/bin/env python3
"""Trains LeNet-5 on the built-in images in several precisions, and compares test accuracies.

    benchmarks/precision_accuracy.py [--program build/pagoda] [--steps 400] [--batch-size 16] [--seeds 3]

For each seed and each kind of device (2 CPU towers, 2 simulated cards) one run in each precision, with the same initial
values and the same data. Prints a table: accuracy of each, the mean over the seeds, its difference from fp32's, overflows.
fp16 is some ten times slower than fp32 on CPUs without instructions for it.
"""

import argparse
import json
import statistics
import subprocess

KINDS = {"2 CPU towers": "2", "2 simulated cards": "sim:2"}


def run(options, devices, precision, seed):
    """The summary of one run."""
    command = [options.program, "train", "lenet5", "--devices", devices, "--precision", precision, "--seed", str(seed),
               "--max-steps", str(options.steps), "--batch-size", str(options.batch_size), "--valid-every", "0", "--json"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/pagoda")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--precisions", default="fp32,bf16,fp16")
    options = parser.parse_args()
    print("| devices | precision | test accuracy by seed, % | mean | from fp32, points | overflows |\n|---|---|---|---|---|---|")
    for name, devices in KINDS.items():
        means = {}
        for precision in options.precisions.split(","):
            runs = [run(options, devices, precision, seed) for seed in range(1, options.seeds + 1)]
            accuracies = [100 * one["validation_accuracy"] for one in runs]
            means[precision] = statistics.mean(accuracies)
            difference = means[precision] - means.get("fp32", means[precision])
            print(f"| {name} | {precision} | {', '.join(f'{one:.2f}' for one in accuracies)} | {means[precision]:.2f} "
                  f"| {difference:+.2f} | {', '.join(str(one['overflows']) for one in runs)} |", flush=True)


if __name__ == "__main__":
    main()
