#!/usr/bin/env python3
"""Exported models beside eager PyTorch and DistributedDataParallel, in alternating rounds of one run.

    .venv-models/bin/python benchmarks/peers/compare_programs.py [--model resnet18] [--rounds 9] [--steps 20]

The program to measure is build/benchmarks/benchmark_exported_model (`ninja -C build benchmark_exported_model`).
"""

import json
import os
import subprocess
import sys
import tempfile

import alternate
import program_models

# numerator, denominator, target
RATIOS = [
    ("pagoda one thread", "python one thread", 1.0),
    ("pagoda two towers", "ddp", 1.25),
    ("pagoda two towers, contiguous", "ddp", 1.25),
]


def main():
    parser = alternate.parser(__doc__, steps=20)
    parser.add_argument("--model", choices=list(program_models.SIZES), default="resnet18")
    parser.add_argument("--rows", type=int, default=32, help="of a batch")
    parser.set_defaults(pagoda=str(alternate.ROOT / "build/benchmarks/benchmark_exported_model"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "model.pt2")
        script = str(alternate.PEERS / "program_models.py")
        subprocess.run([sys.executable, "-W", "ignore", script, options.model, file], check=True)
        size = str(program_models.SIZES[options.model])
        pagoda = [options.pagoda, file, "--rows", str(options.rows), "--steps", str(options.steps), "--size", size]
        peer = ["--model", options.model, "--batch-size", options.rows, "--steps", options.steps]
        contestants = {
            "pagoda one thread": (pagoda, "one"),
            "python one thread": (alternate.peer("ddp_program.py", *peer, "--peer", "threads", "--processes", 1,
                                                 "--no-update"), "round"),
            "pagoda two towers": (pagoda, "towers"),
            "pagoda two towers, contiguous": (pagoda, "contiguous"),
            "ddp": (alternate.peer("ddp_program.py", *peer), "round"),
        }
        rates = alternate.alternate(contestants, options.rounds)
    result = {"machine": alternate.machine(), "rounds": options.rounds, "steps": options.steps,
              "samples_per_second": rates, "ratios": [alternate.ratio(rates, *row) for row in RATIOS]}
    if options.json:
        print(json.dumps(result, indent=2))
        return
    print("{cpu}, {cores} cores, {date}, torch {torch}".format(**result["machine"]))
    print(f"{options.model}, {options.rounds} rounds of {options.steps} steps of {options.rows} rows\n")
    alternate.print_rates(rates)
    alternate.print_ratios(result["ratios"])


if __name__ == "__main__":
    main()
