#!/usr/bin/env python3
"""What many machines would do together: predicted from the rate of one, the bytes of a step, and the link.

    benchmarks/machines_model.py                              the table of docs/machines.md
    benchmarks/machines_model.py --latency 10 --gigabits 25   another network
    sudo .venv/bin/python benchmarks/machines_model.py --check    beside what machines that are network namespaces do

A step of P machines takes

    compute + copy + max(0, wire - copy - overlap · backward) + messages · latency

where a machine sends and receives in a step `bytes` = 2·(P-1)/P of the dense gradient (reduce-scatter, then all-gather)
and P-1 times its own rows (all-gather); `wire` is bytes over the link's rate, `copy` bytes over the rate at which a core
adds them up and puts them through TCP; backward is two thirds of compute. Messages wait for each other: 2·(P-1) for each
sum, P-1 for each gather.
"""
import argparse
import dataclasses
import math
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
MACHINES = (2, 8, 64, 512)
FLOAT = 4
NUMBER = 8  # of a row


@dataclasses.dataclass(frozen=True)
class Model:
    """What one machine of two cores brings: samples a step, samples a second alone, and what its gradient has."""
    samples: int
    rate: float
    dense: int  # elements of gradients that travel whole
    rows: int = 0  # rows that a machine touches in a step
    row_length: int = 0
    row_parameters: int = 0

    def bytes(self, machines):
        """That a machine sends, and as many that it receives, in one step."""
        own_rows = self.rows * (self.row_length * FLOAT + NUMBER)
        return 2 * (machines - 1) / machines * self.dense * FLOAT + (machines - 1) * own_rows

    def messages(self, machines):
        """One after another: the step's numbers and the dense gradient, each a sum; for rows two gathers, each of which
        begins with a sum of lengths."""
        return (machines - 1) * (2 * 2 + self.row_parameters * 2 * 3)


@dataclasses.dataclass(frozen=True)
class Network:
    gigabits: float
    latency: float  # seconds of a message from program to program
    copy: float  # bytes a second of a core
    overlap: float = 0  # part of backward beside which gradients travel


BACKWARD = 2 / 3  # of a step's computing


def step_seconds(model, machines, network):
    compute = model.samples / model.rate
    if machines == 1:
        return compute
    size = model.bytes(machines)
    copy = size / network.copy
    wire = size / (network.gigabits * 1e9 / 8)
    waited = max(0, wire - copy - network.overlap * BACKWARD * compute)
    return compute + copy + waited + model.messages(machines) * network.latency


def rate(model, machines, network):
    return machines * model.samples / step_seconds(model, machines, network)


def distinct(tokens, vocabulary):
    """Rows that so many tokens touch, drawn evenly."""
    return round(vocabulary * (1 - math.exp(-tokens / vocabulary)))


HIDDEN, LENGTH, SAMPLED = 256, 20, 512
LENET5 = 32 * (3 * 25 + 1) + 64 * (32 * 25 + 1) + 512 * (64 * 49 + 1) + 10 * (512 + 1)
# Two layers of LSTM on each side, and attention.
RECURRENT = 4 * (4 * HIDDEN * 2 * HIDDEN + 8 * HIDDEN) + HIDDEN * HIDDEN + (2 * HIDDEN + 1) * HIDDEN


def lenet5(samples, rate):
    return Model(samples, rate, dense=LENET5)


def full(samples, rate, vocabulary=20_000):
    return Model(samples, rate, dense=RECURRENT + vocabulary * (HIDDEN + 1), rows=2 * distinct(samples * LENGTH, vocabulary),
                 row_length=HIDDEN, row_parameters=2)


def sampled(samples, rate, vocabulary=40_000):
    output = distinct(samples * LENGTH, vocabulary) + SAMPLED
    return Model(samples, rate, dense=RECURRENT, rows=2 * distinct(samples * LENGTH, vocabulary) + output, row_length=HIDDEN,
                 row_parameters=3)


MAKERS = {"lenet5": lenet5, "full": full, "sampled": sampled}
TOWER_SAMPLES = 64
# Of a machine with two towers: samples a second on both cores of this one, when idle; see benchmarks/README.md.
MODELS = {"LeNet-5": lenet5(2 * TOWER_SAMPLES, 1230), "seq2seq, full softmax": full(2 * TOWER_SAMPLES, 134),
          "seq2seq, sampled softmax": sampled(2 * TOWER_SAMPLES, 362)}


def print_table(networks):
    print("| samples/s | one machine | link |" + "".join(f" {machines} |" for machines in MACHINES) + " half is lost at |")
    print("|---|---|---|" + "---|" * (len(MACHINES) + 1))
    for name, model in MODELS.items():
        for network in networks:
            cells = "".join(f" {cell(model, machines, network)} |" for machines in MACHINES)
            print(f"| {name} | {model.rate:,.0f} | {network.gigabits:g} Gbit/s |{cells} {half(model, network):,} |")


def half(model, network):
    """Machines of which half are lost to the network; more bring little."""
    machines = 2
    while rate(model, machines, network) > machines * model.rate / 2:
        machines += max(1, machines // 20)
    return machines


def cell(model, machines, network):
    """Samples a second, and the part of what so many machines would do without a network."""
    found = rate(model, machines, network)
    return f"{found:,.0f} ({100 * found / (machines * model.rate):.0f} %)"


def measured(case, rate_text, machines_count, rounds, pagoda):
    """Seconds and bytes of a step of one-core machines on such a link, medians; and the least seconds that were waited:
    more of it is waiting for another process to get ready, not for its bytes."""
    sys.path.insert(0, str(ROOT / "benchmarks/peers"))
    import alternate
    import compare_links

    with compare_links.Machines(machines_count, rate=rate_text) as machines:
        link = compare_links.Link(machines, case, pagoda)
        contestants = {"pagoda": link.pagoda()}
        found = alternate.alternate(contestants, rounds, link.measure)["pagoda"]
    samples = machines_count * TOWER_SAMPLES
    return (samples / statistics.median(one["samples_per_second"] for one in found),
            min(one["milliseconds_waited_a_step"] for one in found) / 1000,
            statistics.median(one["bytes_a_step"] for one in found))


def check(options):
    """Computing and copying are measured on a link without a limit; the rest is predicted."""
    print("| model | machines | link | MB a step: predicted, measured | samples/s: predicted, measured | ratio |")
    print("|---|---|---|---|---|---|")
    for case in [options.only] if options.only else MAKERS:
        make = MAKERS[case]
        seconds, copying, sent = measured(case, None, 2, options.rounds, options.pagoda)
        print(f"{case}: computes {1000 * (seconds - copying):.0f} ms a step, copies {sent / copying / 1e9:.2f} GB/s",
              file=sys.stderr)
        alone = make(TOWER_SAMPLES, TOWER_SAMPLES / (seconds - copying))
        copy = sent / copying
        for machines, megabits in ((2, 1000), (2, 500), (2, 200), (2, 100), (4, 100)):
            busy = max(1, machines / options.cores)  # processes that share a core
            model = dataclasses.replace(alone, rate=alone.rate / busy)
            network = Network(megabits / 1000, options.latency * 1e-6, copy / busy, options.overlap)
            found, _, sent = measured(case, f"{megabits}mbit", machines, options.rounds, options.pagoda)
            predicted = step_seconds(model, machines, network)
            samples = machines * TOWER_SAMPLES
            print(f"| {case} | {machines} | {megabits} Mbit/s | {model.bytes(machines) / 1e6:.1f}, {sent / 1e6:.1f} | "
                  f"{samples / predicted:.0f}, {samples / found:.0f} | {found / predicted:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabits", type=float, nargs="+", default=[10, 100], help="a second, of a machine's link")
    parser.add_argument("--latency", type=float, default=30, help="microseconds of a message from program to program")
    parser.add_argument("--copy", type=float, default=1, help="gigabytes a second that a core adds up and puts through TCP")
    parser.add_argument("--overlap", type=float, default=0, help="part of backward beside which gradients travel")
    parser.add_argument("--check", action="store_true", help="measure on simulated links instead")
    parser.add_argument("--only", choices=list(MAKERS), help="one model of the check")
    parser.add_argument("--rounds", type=int, default=3, help="of a measurement")
    parser.add_argument("--cores", type=int, default=2, help="of this machine, for a check")
    parser.add_argument("--pagoda", default=str(ROOT / "build/pagoda"))
    options = parser.parse_args()
    if options.check:
        check(options)
    else:
        print_table([Network(gigabits, options.latency * 1e-6, options.copy * 1e9, options.overlap)
                     for gigabits in options.gigabits])


if __name__ == "__main__":
    main()
