#!/usr/bin/env python3
"""Marian's CPU decoder for decoding_rounds.py, with a model that marian_model.py made.

Timed is one call of pymarian's Translator with all lines; it tokenises by itself, with the same SentencePiece model.
"""

import pathlib

import decoding_rounds
import pymarian

WORKSPACE = 512  # MiB of each thread


def make_translate(options):
    directory = pathlib.Path(options.model)
    files = sorted(directory.glob("*.spm"))  # joint; or source, target
    translator = pymarian.Translator(
        models=str(directory / "model.npz"), vocabs=[str(files[0]), str(files[-1])], beam_size=options.beam_size,
        normalize=1, cpu_threads=options.threads, mini_batch=options.mini_batch, maxi_batch=options.maxi_batch,
        maxi_batch_sort="src", workspace=WORKSPACE, max_length_factor=3, quiet=True, quiet_translation=True)
    return lambda lines, _: (translator.translate(lines), {})


if __name__ == "__main__":
    parser = decoding_rounds.parser(__doc__)
    parser.add_argument("--model", required=True, help="directory that marian_model.py filled")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--mini-batch", type=int, default=64, help="sentences that are decoded together")
    parser.add_argument("--maxi-batch", type=int, default=100, help="mini-batches that are sorted by length together")
    given = parser.parse_args()
    decoding_rounds.serve(make_translate(given), given)
