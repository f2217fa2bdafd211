#!/usr/bin/env python3
"""Pagoda against PyTorch DistributedDataParallel on LeNet-5, in alternating rounds of one run.

    .venv/bin/python benchmarks/peers/compare_lenet5.py [--rounds 9] [--steps 50] [--json]

A shared machine changes its speed from minute to minute. So every program is started once and then
runs one short round in turn, in an order rotated and turned round each time, so that
none always follows the same other; all others are stopped (SIGSTOP)
meanwhile. Two ratios are given: of the medians, and the median of the ratios within each round,
which drifts of the machine touch least.
"""

import argparse
import contextlib
import datetime
import importlib.metadata
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DDP = [sys.executable, str(ROOT / "benchmarks/peers/ddp_lenet5.py"), "--serve"]

# numerator, denominator, target
RATIOS = [
    ("pagoda full", "pagoda unsynchronised", 0.95),
    ("pagoda full", "ddp", 1.25),
    ("pagoda full", "ddp-tuned", 1.10),
]


class Server:
    """A program that runs one round for each line on its stdin, and is stopped otherwise."""

    def __init__(self, command):
        self.command = command
        # A process group of its own, so that a signal reaches the processes it starts as well.
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1, process_group=0)

    def samples_per_second(self, line):
        self.signal(signal.SIGCONT)
        try:
            self.process.stdin.write(line + "\n")
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            sys.exit(f"exit code {self.process.wait()} from: {' '.join(self.command)}")
        self.signal(signal.SIGSTOP)
        return json.loads(answer)["samples_per_second"]

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.signal(signal.SIGCONT)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            self.process.wait()

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


def measure(options, stack):
    """Samples per second of every contestant, one number per round."""

    def start(*command):
        server = Server([*command, "--steps", str(options.steps)])
        stack.callback(server.close)
        return server

    def warm_up(server, line):
        server.samples_per_second(line)
        return server, line

    pagoda = start(options.pagoda, "bench", "lenet5", "--devices", "2", "--serve")
    contestants = {f"pagoda {mode}": warm_up(pagoda, mode)
                   for mode in ("full", "unsynchronised", "threads")}
    contestants["ddp"] = warm_up(start(*DDP), "round")
    contestants["ddp-tuned"] = warm_up(start(*DDP, "--tuned"), "round")

    names = list(contestants)
    rates = {name: [] for name in names}
    for round_number in range(options.rounds):
        first = round_number % len(names)
        order = names[first:] + names[:first]
        for name in order if round_number % 2 == 0 else reversed(order):
            server, line = contestants[name]
            rates[name].append(server.samples_per_second(line))
        print(f"round {round_number + 1}/{options.rounds}", file=sys.stderr)
    return rates


def ratio(rates, numerator, denominator, target):
    pairs = zip(rates[numerator], rates[denominator])
    return {
        "ratio": f"{numerator} / {denominator}",
        "of_medians": statistics.median(rates[numerator]) / statistics.median(rates[denominator]),
        "median_per_round": statistics.median(above / below for above, below in pairs),
        "target": target,
    }


def machine():
    with open("/proc/cpuinfo") as cpuinfo:
        models = [line.split(":", 1)[1].strip() for line in cpuinfo if line.startswith("model name")]
    return {
        "cpu": models[0] if models else "unknown",
        "cores": len(os.sched_getaffinity(0)),
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "torch": importlib.metadata.version("torch"),
    }


def print_table(result):
    print("{cpu}, {cores} cores, {date}, torch {torch}".format(**result["machine"]))
    print(f"{result['rounds']} rounds of {result['steps']} steps\n")
    print(f"{'samples/s':<38}{'median':>10}{'min':>10}{'max':>10}")
    for name, rates in result["samples_per_second"].items():
        print(f"{name:<38}{statistics.median(rates):>10.0f}{min(rates):>10.0f}{max(rates):>10.0f}")
    print(f"\n{'ratio':<38}{'of medians':>10}{'per round':>10}{'target':>10}")
    for row in result["ratios"]:
        print("{ratio:<38}{of_medians:>10.3f}{median_per_round:>10.3f}{target:>10.2f}".format(**row))


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pagoda", default=str(ROOT / "build/pagoda"), help="the program to measure")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=50, help="steps per round")
    parser.add_argument("--json", action="store_true", help="all numbers, for machines")
    return parser.parse_args()


def main():
    options = parse_options()
    with contextlib.ExitStack() as stack:
        rates = measure(options, stack)
    result = {
        "machine": machine(),
        "rounds": options.rounds,
        "steps": options.steps,
        "samples_per_second": rates,
        "ratios": [ratio(rates, *row) for row in RATIOS],
    }
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print_table(result)


if __name__ == "__main__":
    main()
