#!/usr/bin/env python3
"""Pagoda against PyTorch on sequence models, in alternating rounds of one run.

    .venv/bin/python benchmarks/peers/compare_seq2seq.py [--only full] [--rounds 9] [--steps 4] [--json]

Three cases: two LSTM layers of 256 with the full softmax and a vocabulary of 20,000, the same with the
sampled one and 40,000, and a Transformer of the sizes of `--preset multi30k-transformer`; 64 sequences of
20 tokens a tower. --hidden 256 and the like make another model of each case.

For each, first the memory of every program by itself (the largest sum of its processes' PSS in a round),
then rounds in turn. `ddp` has 2 processes with 1 thread each, `threads` 1 process with 2. `lazy` and
`sparse` update only the rows of a step, the others all rows, as plain Adam does: compare like with like.
"""

import json

import alternate

SIZES = ["vocab-size", "hidden", "layers", "heads", "ffn", "length", "batch-size"]
LSTM = {"hidden": 256, "layers": 2, "length": 20, "batch-size": 64}
CASES = {
    "full": {"model": {"softmax": "full", "vocab-size": 20_000, **LSTM}, "speed": 1.3, "memory": None},
    "sampled": {"model": {"softmax": "sampled", "vocab-size": 40_000, **LSTM}, "speed": 1.4, "memory": 0.6},
    "transformer": {"model": {"architecture": "transformer", "vocab-size": 8_000, "hidden": 128, "layers": 4, "heads": 4,
                              "ffn": 256, "tied": "all", "length": 20, "batch-size": 64}, "speed": 1.2, "memory": 0.6},
}


def model_of(case, options):
    """The model's flags, the same for all programs."""
    given = {size: vars(options)[size.replace("-", "_")] for size in SIZES}
    model = CASES[case]["model"] | {size: value for size, value in given.items() if value}
    if not alternate.has_flag([options.pagoda, "bench", "seq2seq"], "--tied"):
        model.pop("tied", None)  # separate matrices then, everywhere
    return model


def contestants(case, options):
    flags = [f"--{name}={value}" for name, value in model_of(case, options).items()] + [f"--steps={options.steps}"]
    pagoda = [options.pagoda, "bench", "seq2seq", "--devices", "2", "--serve", *flags]
    peer = alternate.peer("ddp_seq2seq.py", *flags)
    found = {"pagoda": (pagoda, "full"),
             "ddp": ([*peer, "--peer", "ddp"], "round"),
             "threads": ([*peer, "--peer", "threads"], "round")}
    if case == "sampled":
        found["pagoda lazy"] = ([*pagoda, "--row-update", "lazy"], "full")
        found["ddp sparse"] = ([*peer, "--peer", "ddp", "--rows", "sparse"], "round")
        found["threads sparse"] = ([*peer, "--peer", "threads", "--rows", "sparse"], "round")
    return found


def compare(case, options):
    programs = contestants(case, options)
    memories = alternate.peak_memories(programs)
    rates = alternate.alternate(programs, options.rounds)
    target = CASES[case]["speed"]
    ratios = [alternate.ratio(rates, "pagoda", other, target) for other in ("ddp", "threads")]
    if case == "sampled":
        ratios += [alternate.ratio(rates, "pagoda lazy", other, target)
                   for other in ("ddp sparse", "threads sparse")]
    return {"model": model_of(case, options), "samples_per_second": rates, "memory_bytes": memories, "ratios": ratios}


def print_case(case, result):
    print(f"\n{case}:", ", ".join(f"{name} {value}" for name, value in result["model"].items()), "\n")
    alternate.print_rates(result["samples_per_second"])
    alternate.print_ratios(result["ratios"])
    memories = result["memory_bytes"]
    print(f"\n{'memory':<38}{'MiB':>10}{'of ddp':>10}")
    for name, size in memories.items():
        print(f"{name:<38}{size / 2**20:>10.0f}{size / memories['ddp']:>10.2f}")
    if CASES[case]["memory"]:
        print(f"target: pagoda at most {CASES[case]['memory']} of ddp")


def main():
    parser = alternate.parser(__doc__, steps=4)
    parser.add_argument("--only", choices=list(CASES), help="one of the cases")
    for size in SIZES:
        parser.add_argument(f"--{size}", type=int, help="instead of the case's own")
    options = parser.parse_args()
    cases = [options.only] if options.only else list(CASES)
    result = {"machine": alternate.machine(), "rounds": options.rounds, "steps": options.steps,
              "cases": {case: compare(case, options) for case in cases}}
    if options.json:
        print(json.dumps(result, indent=2))
        return
    print("{cpu}, {cores} cores, {date}, torch {torch}".format(**result["machine"]))
    print(f"{options.rounds} rounds of {options.steps} steps")
    for case in cases:
        print_case(case, result["cases"][case])


if __name__ == "__main__":
    main()
