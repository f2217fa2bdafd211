#!/usr/bin/env python3
"""A Transformer that Pagoda trained, as a model of CTranslate2 with the same weights and tokens.

    python benchmarks/peers/ctranslate2_model.py runs/fr DIRECTORY

Needs ctranslate2, numpy, safetensors and sentencepiece. For runs with a SentencePiece vocabulary, normalised before
or after each block, with sinusoidal or learnt positions and any tying of embeddings.
"""

import argparse
import math
import pathlib
import subprocess
import tempfile
import tomllib

import alternate
import numpy
import sentencepiece
from ctranslate2 import specs
from safetensors.numpy import load_file

NEVER = [0, 1, 2]  # padding, unknown words and the begin, which `pagoda translate` does not write
PLACES = 1024  # of sinusoidal positions; more than CTranslate2 reads or writes of a line by default


def exported(pagoda, run):
    """The weights that `pagoda translate` takes, by name."""
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / "model.safetensors"
        subprocess.run([pagoda, "export", run, file], check=True, stdout=subprocess.DEVNULL)
        return load_file(file)


def tokens_of(model):
    """The tokens of a SentencePiece model in Pagoda's order: its four special ones come first."""
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(model))
    first = [pieces.id_to_piece(number) for number in range(4)]
    if first != ["<pad>", "<unk>", "<s>", "</s>"]:
        raise SystemExit(f"{model} begins with {first}; this is not a vocabulary that Pagoda made")
    return [pieces.id_to_piece(number) for number in range(pieces.get_piece_size())]


def vocabulary_files(run):
    """SentencePiece models of source and target; one and the same with a joint vocabulary."""
    found = pathlib.Path(run) / "vocabulary"
    joint = found / "joint.model"
    files = [joint, joint] if joint.exists() else [found / "source.model", found / "target.model"]
    if not all(file.exists() for file in files):
        raise SystemExit(f"{found} has no SentencePiece models; take a run with --tokenizer sentencepiece")
    return files


def waves(places, hidden):
    """Sines and then cosines, as src/models/transformer.cpp has them."""
    half = hidden // 2
    rates = numpy.exp(numpy.arange(half) * -(math.log(10_000) / max(half - 1, 1)))
    angles = numpy.arange(places)[:, None] * rates
    return numpy.pad(numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], 1), [(0, 0), (0, hidden % 2)])


class Weights:
    """Copies tensors, given by the names of torch.nn.TransformerEncoderLayer and TransformerDecoderLayer."""

    def __init__(self, tensors):
        self.tensors = tensors

    def norm(self, spec, name):
        spec.gamma, spec.beta = self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]

    def linear(self, spec, name):
        spec.weight, spec.bias = self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]

    def attention(self, spec, name, norm):
        """CTranslate2 wants queries, keys and values as one matrix of self-attention, else queries apart."""
        weight, bias = self.tensors[f"{name}.in_proj_weight"], self.tensors[f"{name}.in_proj_bias"]
        hidden = weight.shape[1]
        cuts = [] if len(spec.linear) == 2 else [hidden]
        parts = zip(spec.linear, numpy.split(weight, cuts), numpy.split(bias, cuts))
        for linear, rows, biases in parts:
            linear.weight, linear.bias = rows, biases
        self.linear(spec.linear[-1], f"{name}.out_proj")
        self.norm(spec.layer_norm, norm)

    def feed_forward(self, spec, layer, norm):
        self.linear(spec.linear_0, f"{layer}.linear1")
        self.linear(spec.linear_1, f"{layer}.linear2")
        self.norm(spec.layer_norm, f"{layer}.{norm}")

    def positions(self, spec, name, hidden):
        learnt = self.tensors.get(name)
        spec.encodings = waves(PLACES, hidden).astype(numpy.float32) if learnt is None else learnt

    def ends(self, spec):
        """Embeddings, positions and the output layer."""
        target = self.tensors["target_embedding.weight"]
        source = self.tensors.get("source_embedding.weight", target)
        spec.encoder.embeddings[0].weight, spec.decoder.embeddings.weight = source, target
        self.positions(spec.encoder.position_encodings, "source_positions", target.shape[1])
        self.positions(spec.decoder.position_encodings, "target_positions", target.shape[1])
        spec.decoder.projection.weight = self.tensors.get("output_weight", target)
        bias = self.tensors["output_bias"].copy()
        bias[NEVER] = -1e9  # costs CTranslate2 nothing, other than its list of forbidden tokens
        spec.decoder.projection.bias = bias


def filled_spec(tensors, config):
    before = config["norm"] == "before"
    spec = specs.TransformerSpec.from_config(config["layers"], config["heads"], pre_norm=before)
    weights = Weights(tensors)
    weights.ends(spec)
    if before:
        weights.norm(spec.encoder.layer_norm, "encoder_norm")
        weights.norm(spec.decoder.layer_norm, "decoder_norm")
    for number, layer in enumerate(spec.encoder.layer):
        name = f"encoder{number}"
        weights.attention(layer.self_attention, f"{name}.self_attn", f"{name}.norm1")
        weights.feed_forward(layer.ffn, name, "norm2")
    for number, layer in enumerate(spec.decoder.layer):
        name = f"decoder{number}"
        weights.attention(layer.self_attention, f"{name}.self_attn", f"{name}.norm1")
        weights.attention(layer.attention, f"{name}.multihead_attn", f"{name}.norm2")
        weights.feed_forward(layer.ffn, name, "norm3")
    return spec


def convert(pagoda, run, directory):
    """Writes the model; CTranslate2 makes 8 bits of it while loading, if it is told to."""
    with open(pathlib.Path(run) / "config.toml", "rb") as file:
        config = tomllib.load(file)
    if config.get("architecture") != "transformer":
        raise SystemExit(f"{run} is no Transformer; CTranslate2 knows no other model of Pagoda's")
    spec = filled_spec(exported(pagoda, run), config)
    source, target = map(tokens_of, vocabulary_files(run))
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    spec.config.add_source_bos = spec.config.add_source_eos = False  # sources are pieces alone
    spec.validate()
    spec.optimize()
    pathlib.Path(directory).mkdir(parents=True, exist_ok=True)
    spec.save(str(directory))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("directory")
    parser.add_argument("--pagoda", default=str(alternate.ROOT / "build/pagoda"))
    given = parser.parse_args()
    convert(given.pagoda, given.run, given.directory)
