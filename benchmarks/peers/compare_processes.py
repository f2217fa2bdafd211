#!/usr/bin/env python3
"""Two processes of Pagoda, one core each, against PyTorch's DistributedDataParallel, in alternating rounds of one run.

    .venv/bin/python benchmarks/peers/compare_processes.py [--only lenet5] [--rounds 9] [--json]

Both exchange gradients by gloo over the loopback. `towers` is Pagoda in one process, whose towers share memory.
"""

import json
import shlex
import socket

import alternate

SEQ2SEQ = ["--hidden", "256", "--layers", "2", "--length", "20", "--batch-size", "64", "--steps", "4"]
CASES = {
    "lenet5": ("lenet5", ["--steps", "20"], 1.15),
    "full": ("seq2seq", ["--vocab-size", "20000", "--softmax", "full", *SEQ2SEQ], 1.2),
    "sampled": ("seq2seq", ["--vocab-size", "40000", "--softmax", "sampled", *SEQ2SEQ], 1.2),
}


def processes(pagoda, model, arguments):
    """A command of two ranks in one process group; rank 0 is told the rounds."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = [shlex.join([pagoda, "bench", model, "--serve", *arguments, "--devices", f"cpu:{rank}",
                         "--cores-per-tower", "1", "--rank", str(rank), "--world-size", "2",
                         "--master", f"127.0.0.1:{port}"]) for rank in range(2)]
    return ["sh", "-c", f"{ranks[1]} & exec {ranks[0]}"]


def compare(case, options):
    model, arguments, target = CASES[case]
    towers = [options.pagoda, "bench", model, "--devices", "2", "--serve", *arguments]
    ddp = alternate.peer(f"ddp_{model}.py", *arguments)
    contestants = {"processes": (processes(options.pagoda, model, arguments), "full"),
                   "towers": (towers, "full"),
                   "ddp": ([*ddp, "--peer", "ddp"] if model == "seq2seq" else ddp, "round")}
    rates = alternate.alternate(contestants, options.rounds)
    return {"samples_per_second": rates, "ratios": [alternate.ratio(rates, "processes", "ddp", target),
                                                    alternate.ratio(rates, "processes", "towers", 1)]}


def main():
    parser = alternate.parser(__doc__, steps=4)
    parser.add_argument("--only", choices=list(CASES), help="one of the cases")
    options = parser.parse_args()
    cases = [options.only] if options.only else list(CASES)
    result = {"machine": alternate.machine(), "rounds": options.rounds,
              "cases": {case: compare(case, options) for case in cases}}
    if options.json:
        print(json.dumps(result, indent=2))
        return
    print("{cpu}, {cores} cores, {date}, torch {torch}".format(**result["machine"]))
    for case, found in result["cases"].items():
        print(f"\n{case}, {options.rounds} rounds\n")
        alternate.print_rates(found["samples_per_second"])
        alternate.print_ratios(found["ratios"])


if __name__ == "__main__":
    main()
