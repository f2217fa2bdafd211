#!/usr/bin/env python3
"""Two machines on a slow link: Pagoda against PyTorch's DistributedDataParallel, in alternating rounds of one run.

    sudo .venv/bin/python benchmarks/peers/compare_links.py [--rates 1gbit 100mbit] [--only lenet5] [--wire bf16]
        [--sync-every 50 --sync-overlap 12] [--rounds 5] [--json]

The machines are network namespaces with a link of each rate in turn, and have one core each. Both programs exchange
gradients by gloo. --wire adds both programs with gradients that travel in that type (DDP's by its compression hook);
--sync-every adds Pagoda with so many steps between exchanges, and --sync-overlap the same with so many that are done while
one travels, beside DDP as it is.

Bytes are those that the first machine's link has sent in a step, with all headers; waiting is what Pagoda's first process
waited for exchanges, as a part of the time.
"""

import json
import os
import pathlib
import shlex
import statistics
import sys

import alternate

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/machines"))

from namespaces import Machines, why_not

WARM_UP_STEPS = 2  # of every round, in both programs
FIRST_PORT = 29500
SEQ2SEQ = ["--hidden", "256", "--layers", "2", "--length", "20", "--batch-size", "64"]
CASES = {  # model, steps of a round, arguments
    "lenet5": ("lenet5", 10, []),
    "full": ("seq2seq", 3, ["--vocab-size", "20000", "--softmax", "full", *SEQ2SEQ]),
    "sampled": ("seq2seq", 3, ["--vocab-size", "40000", "--softmax", "sampled", *SEQ2SEQ]),
}


class Link:
    """Machines, and what runs on them."""

    def __init__(self, machines, case, pagoda):
        self.machines, self.program = machines, pagoda
        self.cores = len(os.sched_getaffinity(0))
        self.model, self.steps, self.arguments = CASES[case]
        self.steps_of = {}  # by command
        self.port = FIRST_PORT

    def pagoda(self, *more, steps=None):
        """A rank on each machine, all in one process group; the first is told the rounds."""
        steps = steps or self.steps
        size = len(self.machines.names)
        ranks = []
        for rank in range(size):
            place = ["--devices", f"cpu:{rank % self.cores}", "--cores-per-tower", 1, "--rank", rank, "--world-size", size,
                     "--master", f"{self.machines.address(0)}:{self.port}"]
            command = [self.program, "bench", self.model, "--serve", "--steps", steps, *self.arguments, *place, *more]
            ranks.append(shlex.join(self.machines.command(rank, command)))
        self.port += 1
        others = "".join(f"{rank} & " for rank in ranks[1:])
        return self.counted(["sh", "-c", f"{others}exec {ranks[0]}"], steps, "full")

    def ddp(self, *more):
        spaces = ",".join(self.machines.space(name) for name in self.machines.names)
        command = alternate.peer(f"ddp_{self.model}.py", "--namespaces", spaces, "--steps", self.steps, *self.arguments, *more)
        return self.counted(command, self.steps, "round")

    def counted(self, command, steps, line):
        self.steps_of[tuple(command)] = steps + WARM_UP_STEPS
        return command, line

    def measure(self, server, line):
        """One round: rate, bytes of a step, and the part of the time that was waited, where the program says it."""
        before = self.machines.bytes_sent(0)
        answer = server.answer(line)
        steps = self.steps_of[tuple(server.command)]
        return {"samples_per_second": answer["samples_per_second"],
                "bytes_a_step": (self.machines.bytes_sent(0) - before) / steps,
                "milliseconds_waited_a_step": 1000 * answer["seconds_waited"] / steps if "seconds_waited" in answer else None}


def compare(case, rate, options):
    with Machines(2, rate=rate) as machines:
        link = Link(machines, case, options.pagoda)
        if options.batch_size:
            link.arguments = [*link.arguments, "--batch-size", options.batch_size]
        contestants = {"pagoda": link.pagoda(), "ddp": link.ddp()}
        pairs = [("pagoda", "ddp", 1)]
        if options.wire:
            contestants[f"pagoda {options.wire}"] = link.pagoda("--wire", options.wire)
            contestants[f"ddp {options.wire}"] = link.ddp("--wire", options.wire)
            pairs.append((f"pagoda {options.wire}", f"ddp {options.wire}", 1))
        if options.sync_every:
            for overlap in sorted({0, options.sync_overlap}):
                name = f"pagoda, every {options.sync_every}" + (f", overlap {overlap}" if overlap else "")
                contestants[name] = link.pagoda("--sync-every", options.sync_every, "--sync-overlap", overlap,
                                                steps=4 * options.sync_every - WARM_UP_STEPS)
                pairs.append((name, "ddp", 10))
        found = alternate.alternate(contestants, options.rounds, link.measure)
    rates = {name: [one["samples_per_second"] for one in rounds] for name, rounds in found.items()}
    return {"samples_per_second": rates,
            "megabytes_a_step": {name: middle(rounds, "bytes_a_step") / 1e6 for name, rounds in found.items()},
            "milliseconds_waited_a_step": {name: middle(rounds, "milliseconds_waited_a_step") for name, rounds in found.items()
                                           if rounds[0]["milliseconds_waited_a_step"] is not None},
            "ratios": [alternate.ratio(rates, *pair) for pair in pairs]}


def middle(rounds, name):
    return statistics.median(one[name] for one in rounds)


def print_case(found):
    alternate.print_rates(found["samples_per_second"])
    print(f"\n{'of a step':<38}{'MB sent':>10}{'ms waited':>10}")
    for name, megabytes in found["megabytes_a_step"].items():
        waited = found["milliseconds_waited_a_step"].get(name)
        print(f"{name:<38}{megabytes:>10.2f}{'-' if waited is None else f'{waited:.1f}':>10}")
    alternate.print_ratios(found["ratios"])


def main():
    parser = alternate.parser(__doc__)
    parser.add_argument("--steps", type=int, help="steps per round, instead of the case's own")
    parser.add_argument("--rates", nargs="+", default=["1gbit", "100mbit"], help="of the link, in tc's words")
    parser.add_argument("--only", choices=list(CASES), help="one of the cases")
    parser.add_argument("--wire", choices=["bf16", "fp16"], help="also with gradients that travel in this type")
    parser.add_argument("--batch-size", help="of each process (LeNet-5: 64, seq2seq: 64)")
    parser.add_argument("--sync-every", type=int, help="also with so many steps between exchanges")
    parser.add_argument("--sync-overlap", type=int, default=0, help="of these, that are done while an exchange travels")
    options = parser.parse_args()
    if reason := why_not():
        sys.exit(reason)
    result = {"machine": alternate.machine(), "rounds": options.rounds, "links": {}}
    for rate in options.rates:
        for case in [options.only] if options.only else CASES:
            if options.steps:
                CASES[case] = (CASES[case][0], options.steps, CASES[case][2])
            found = compare(case, rate, options)
            result["links"].setdefault(rate, {})[case] = found
            if not options.json:
                print(f"\n{case}, {rate}, {options.rounds} rounds\n")
                print_case(found)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    print("\n{cpu}, {cores} cores, {date}, torch {torch}".format(**result["machine"]))


if __name__ == "__main__":
    main()
