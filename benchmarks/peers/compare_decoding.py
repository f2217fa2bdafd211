#!/usr/bin/env python3
"""Pagoda's decoding against CTranslate2's with the same weights, or Marian's, in alternating rounds of one run.

    python benchmarks/peers/compare_decoding.py --run runs/fr [--beams 1,5] [--precision fp32,int8] [--rounds 5]
    python benchmarks/peers/compare_decoding.py --run runs/fr-lstm --peer marian --marian-model /tmp/marian

The environment: `python3 -m venv E; E/bin/pip install ctranslate2 pymarian sentencepiece safetensors sacrebleu`.

All translate the same sentences, as often in a round as it takes for --seconds, on two cores; text in, text out, without
starting and loading (decoding_rounds.py). Before that, short rounds find the peer's best settings, which are printed;
Pagoda has two towers and is as it is by default. Of CTranslate2 also its time without SentencePiece, which Pagoda's has.
`equal` is the share of lines that came out the same; the model that Marian has (marian_model.py) is another, so that words
of output are counted; these figures mean something only when both write about as many words a line.
"""

import json
import math
import statistics
import tempfile

import alternate
import decoding_contestants
import decoding_rounds

TARGETS = {("ctranslate2", "fp32"): 1.0, ("ctranslate2", "int8"): 0.9, ("marian", "fp32"): 4.0}
UNITS = {"ctranslate2": ("samples_per_second", "sentences/s"), "marian": ("words_per_second", "words/s")}


def calibrate(contestants, options):
    """The name of the fastest, by short rounds in turn, and all medians; of the first without such rounds."""
    if not options.calibration_rounds:
        return next(iter(contestants)), {}
    key, _ = UNITS[options.peer]
    answers = alternate.alternate(contestants, options.calibration_rounds, alternate.Server.answer)
    rates = {name: statistics.median(answer[key] for answer in found) for name, found in answers.items()}
    return max(rates, key=rates.get), rates


def best_setting(peer, precision, beam):
    """Found stage by stage, and the medians of all that were tried."""
    chosen, tried = {}, {}
    for stage in peer.stages():
        settings = {peer.name(chosen | setting): chosen | setting for setting in stage}
        runs = {name: peer.contestant(setting, precision, beam, {"passes": 1}) for name, setting in settings.items()}
        name, rates = calibrate(runs, peer.options)
        chosen, tried = settings[name], tried | rates
    return chosen, tried


def race(peer, setting, precision, beam):
    """Passes of a round, what both said about each round, and what they translated."""
    options = peer.options
    pagoda = decoding_contestants.pagoda(options, precision, beam)
    sentences = len(decoding_rounds.read_lines(options.sentences))
    with tempfile.TemporaryDirectory() as directory:
        def contestants(passes):
            ours, theirs = ({"passes": passes, "outputs": f"{directory}/{name}"} for name in ("pagoda", options.peer))
            return {"pagoda": (pagoda, json.dumps(ours)),
                    options.peer: peer.contestant(setting, precision, beam, theirs)}

        first = alternate.alternate(contestants(1), 1)
        passes = max(1, math.ceil(options.seconds * max(rates[0] for rates in first.values()) / sentences))
        answers = alternate.alternate(contestants(passes), options.rounds, alternate.Server.answer)
        return passes, answers, {name: decoding_rounds.read_lines(f"{directory}/{name}") for name in answers}


def rates_of(answers, peer):
    key, _ = UNITS[peer]
    rates = {name: [answer[key] for answer in found] for name, found in answers.items()}
    apart = "samples_per_second_of_decoding"
    if apart in answers[peer][0]:
        rates[f"{peer} without tokenising"] = [answer[apart] for answer in answers[peer]]
    return rates


def agreement(outputs, options):
    """Line by line, and by BLEU if there is something to compare with."""
    pairs = list(zip(*outputs.values()))
    different = [pair for pair in pairs if pair[0] != pair[1]]
    found = {"equal": 1 - len(different) / len(pairs), "different": different[:options.show],
             "words_a_line": {name: sum(len(line.split()) for line in lines) / len(lines)
                              for name, lines in outputs.items()}}
    if options.reference:
        import sacrebleu

        reference = decoding_rounds.read_lines(options.reference)
        found["bleu"] = {name: sacrebleu.corpus_bleu(lines, [reference]).score for name, lines in outputs.items()}
    return found


def compare(peer, precision, beam):
    setting, tried = best_setting(peer, precision, beam)
    passes, answers, outputs = race(peer, setting, precision, beam)
    rates = rates_of(answers, peer.options.peer)
    target = TARGETS.get((peer.options.peer, precision), 0)
    ratios = [alternate.ratio(rates, "pagoda", other, target) for other in rates if other != "pagoda"]
    return {"precision": precision, "beam_size": beam, "passes": passes, "setting": peer.name(setting), "tried": tried,
            "rates": rates, "ratios": ratios} | agreement(outputs, peer.options)


def print_result(result, options):
    search = "greedy" if result["beam_size"] == 1 else f"beam {result['beam_size']}"
    chosen = "at its best" if result["tried"] else "as usual, not calibrated"
    print(f"\n{result['precision']}, {search}, {result['passes']} passes; {options.peer} {chosen}: {result['setting']}\n")
    alternate.print_rates(result["rates"], UNITS[options.peer][1])
    alternate.print_ratios(result["ratios"])
    if options.peer == "ctranslate2":
        print(f"\nequal lines: {100 * result['equal']:.1f} %")
    print("words a line:", ", ".join(f"{name} {words:.1f}" for name, words in result["words_a_line"].items()))
    for ours, theirs in result["different"]:
        print(f"  pagoda: {ours}\n  {options.peer}: {theirs}")
    for name, score in result.get("bleu", {}).items():
        print(f"BLEU of {name}: {score:.2f}")


def comma_list(kind):
    return lambda text: [kind(part) for part in text.split(",")]


def main():
    data = alternate.ROOT.parent / "shared/data/multi30k"
    parser = alternate.parser(__doc__)
    parser.set_defaults(rounds=5)
    parser.add_argument("--run", required=True, help="of Pagoda; a Transformer, or an LSTM for Marian")
    parser.add_argument("--peer", choices=list(UNITS), default="ctranslate2")
    parser.add_argument("--beams", type=comma_list(int), default=[1, 5])
    parser.add_argument("--precision", type=comma_list(str), default=["fp32"])
    parser.add_argument("--sentences", default=str(data / "test_2016_flickr.en.gz"))
    parser.add_argument("--reference", help="their translations, for BLEU (default: none)")
    parser.add_argument("--seconds", type=float, default=3, help="the shortest time of a round")
    parser.add_argument("--calibration-rounds", type=int, default=2, help="of each of the peer's settings; 0: the usual one")
    parser.add_argument("--show", type=int, default=0, help="lines that differ")
    decoding_contestants.add_flags(parser)
    options = parser.parse_args()
    with decoding_contestants.PEERS[options.peer](options) as peer:
        results = [compare(peer, precision, beam) for precision in options.precision for beam in options.beams]
    packages = {"ctranslate2": "ctranslate2", "marian": "pymarian"}
    machine = alternate.machine(packages[options.peer])
    if options.json:
        print(json.dumps({"machine": machine, "rounds": options.rounds, "results": results}, indent=2))
        return
    print(", ".join(f"{name} {value}" for name, value in machine.items()), f"; {options.rounds} rounds")
    for result in results:
        print_result(result, options)


if __name__ == "__main__":
    main()
