"""What the decoders that are compared share: text in, text out, and what is said about a round.

A decoder gives a function that translates lines, and `serve` does the rest. What starts a round is a line of JSON on
stdin: {"passes": 3, "outputs": "file", …}: the sentences so many times, where to write the translations of the first
pass (optional), and whatever the decoder itself knows. Timed is the function alone: from the lines to their translations,
tokenising on both sides included; starting, loading and writing the outputs are not.
"""

import argparse
import gzip
import json
import pathlib
import sys
import time


def read_lines(path):
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read().splitlines()


def parser(description):
    """The options of every decoder; a decoder adds its own."""
    result = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--serve", action="store_true", help="one round per line on stdin; otherwise one round")
    result.add_argument("--sentences", required=True, help="file with a sentence a line, .gz or not")
    result.add_argument("--beam-size", type=int, default=5, help="1 is greedy")
    return result


def serve(translate, options):
    """`translate(lines, request)` gives the translations and, by name, seconds of parts of the work that are wanted apart."""
    sentences = read_lines(options.sentences)
    for line in sys.stdin if options.serve else ["{}"]:
        request = json.loads(line)
        lines = sentences * request.get("passes", 1)
        start = time.perf_counter()
        found, parts = translate(lines, request)
        seconds = time.perf_counter() - start
        if len(found) != len(lines):
            sys.exit(f"{len(found)} translations of {len(lines)} lines")
        if "outputs" in request:
            text = "".join(f"{one}\n" for one in found[:len(sentences)])
            pathlib.Path(request["outputs"]).write_text(text, encoding="utf-8")
        rates = {"samples_per_second": len(lines) / seconds,
                 "words_per_second": sum(len(one.split()) for one in found) / seconds}
        rates |= {f"samples_per_second_of_{name}": len(lines) / part for name, part in parts.items()}
        print(json.dumps(rates), flush=True)
