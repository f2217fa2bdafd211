#!/usr/bin/env python3
"""A recurrent model of Marian's with the shape of a run of Pagoda's, trained by Marian for a few minutes.

    python benchmarks/peers/marian_model.py runs/fr DIRECTORY --source train.en.gz --target train.fr.gz --minutes 10

Vocabulary (the run's own SentencePiece model), embedding, units, layers and tying are the run's; cells are LSTMs. The
decoder has one cell for a layer, as Pagoda's, and attention after it; `--cell-depth 2` makes it two with Marian's attention
between them, which is Marian's own way and slower. Needs pymarian. The quality does not matter, but the lengths of translations
should be sensible before words are counted.
"""

import argparse
import pathlib
import shutil
import signal
import subprocess
import sys
import tomllib

import ctranslate2_model

TYING = {"all": ["--tied-embeddings-all"], "output": ["--tied-embeddings"], "none": []}


def shape_of(run):
    """The options of Marian that make the same model."""
    with open(pathlib.Path(run) / "config.toml", "rb") as file:
        config = tomllib.load(file)
    if config.get("architecture", "rnn") != "rnn" or config["cell"] != "lstm":
        raise SystemExit(f"{run} is no LSTM; Marian is compared with nothing else")
    encoder = "bidirectional" if config["bidirectional"] else "bi-unidirectional"
    layers = str(config["layers"])
    return ["--type", "s2s", "--enc-type", encoder, "--enc-cell", "lstm", "--dec-cell", "lstm", "--enc-depth", layers,
            "--dec-depth", layers, "--dim-emb", str(config["embedding"]), "--dim-rnn", str(config["hidden"]),
            *TYING[config["tied"]]]


def vocabularies(run, directory):
    """Marian knows SentencePiece models by the end of their names."""
    copies = []
    for file in ctranslate2_model.vocabulary_files(run):
        copy = pathlib.Path(directory) / f"{file.stem}.spm"
        shutil.copyfile(file, copy)
        copies.append(str(copy))
    return copies


def train(options):
    directory = pathlib.Path(options.directory)
    directory.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pymarian", "train", *shape_of(options.run),
               "--dec-cell-base-depth", str(options.cell_depth),
               "--model", str(directory / "model.npz"), "--vocabs", *vocabularies(options.run, directory),
               "--train-sets", options.source, options.target, "--tempdir", str(directory), "--overwrite",
               "--cpu-threads", "2", "--sync-sgd", "--workspace", "512", "--mini-batch", "64", "--learn-rate", "0.002",
               "--clip-norm", "1", "--seed", "1", "--disp-freq", "50", "--save-freq", "100"]
    process = subprocess.Popen(command)
    try:
        code = process.wait(timeout=60 * options.minutes)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)  # Marian saves and ends
        code = process.wait()
    if not (directory / "model.npz").exists():
        raise SystemExit(f"Marian ended with code {code} and without a model")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="of an LSTM of Pagoda's")
    parser.add_argument("directory", help="for the model and its vocabulary")
    parser.add_argument("--source", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--cell-depth", type=int, default=1, help="cells of the decoder's first layer")
    train(parser.parse_args())
