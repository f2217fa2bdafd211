#!/usr/bin/env python3
"""Two builds of Pagoda beside each other, in alternating rounds of one run: is a change as fast?

    .venv/bin/python benchmarks/peers/compare_builds.py /path/to/other/build/pagoda lenet5
    .venv/bin/python benchmarks/peers/compare_builds.py OTHER seq2seq --softmax sampled --vocab-size 40000
"""

import alternate


def main():
    parser = alternate.parser(__doc__, steps=10)
    parser.add_argument("other", help="the program of the build to compare with")
    parser.add_argument("model", help="what `pagoda bench` trains, and further options of it")
    options, further = parser.parse_known_args()
    bench = ["bench", options.model, "--devices", "2", "--serve", "--steps", str(options.steps), *further]
    contestants = {
        f"{name} {mode}": ([program, *bench], mode)
        for name, program in (("this", options.pagoda), ("other", options.other))
        for mode in ("full", "unsynchronised")
    }
    rates = alternate.alternate(contestants, options.rounds)
    alternate.print_rates(rates)
    alternate.print_ratios([
        alternate.ratio(rates, "this full", "other full", 0.98),
        alternate.ratio(rates, "this full", "this unsynchronised", 0.95),
        alternate.ratio(rates, "other full", "other unsynchronised", 0.95),
    ])


if __name__ == "__main__":
    main()
