#!/usr/bin/env python3
"""What torch.nn's Transformer layers compute, for transformer_test.cpp.

    .venv/bin/python tests/models/transformer_reference.py DIRECTORY

DIRECTORY/in.pt   for `before` and `after`, where the norms are: `<norm>/<parameter>` of our Transformer, `<norm>/source`,
                  `<norm>/lengths`, `<norm>/target`, and `<norm>/heads`
DIRECTORY/out.pt  `<norm>/loss`, and `<norm>/<parameter>`, its gradient
"""

import math
import pathlib
import sys
import warnings

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
import torch
from torch import nn
from torch.nn import functional as F


def positions(count, hidden):
    half = hidden // 2
    rates = torch.exp(torch.arange(half, dtype=torch.double) * -(math.log(10000) / (half - 1)))
    angles = torch.arange(count, dtype=torch.double)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], 1)


def loss_of(weights, source, lengths, target, heads, norm_first):
    """The mean loss of a batch; `weights` are leaves that get gradients."""
    hidden = weights["target_embedding.weight"].shape[1]
    layers = 1 + max(int(name[len("encoder"):].split(".")[0]) for name in weights if name[:7] == "encoder" and name[7].isdigit())
    ffn = weights["encoder0.linear1.weight"].shape[0]
    options = dict(d_model=hidden, nhead=heads, dim_feedforward=ffn, dropout=0.0, batch_first=True, norm_first=norm_first,
                   dtype=torch.double)

    def part(prefix):
        return {name[len(prefix):]: value for name, value in weights.items() if name.startswith(prefix)}

    def norm(name, x):
        return F.layer_norm(x, (hidden,), weights[name + ".weight"], weights[name + ".bias"]) if norm_first else x

    def embedded(side, tokens):
        return F.embedding(tokens, weights[side + "_embedding.weight"]) * math.sqrt(hidden) + positions(tokens.shape[1], hidden)

    padding = torch.arange(source.shape[1]) >= lengths[:, None]
    x = embedded("source", source)
    for i in range(layers):
        x = torch.func.functional_call(nn.TransformerEncoderLayer(**options), part(f"encoder{i}."), (x,),
                                       dict(src_key_padding_mask=padding))
    memory = norm("encoder_norm", x)
    inputs, labels = target[:, :-1], target[:, 1:]
    y = embedded("target", inputs)
    causal = torch.triu(torch.ones(inputs.shape[1], inputs.shape[1], dtype=torch.bool), 1)
    for i in range(layers):
        y = torch.func.functional_call(nn.TransformerDecoderLayer(**options), part(f"decoder{i}."), (y, memory),
                                       dict(tgt_mask=causal, memory_key_padding_mask=padding))
    logits = F.linear(norm("decoder_norm", y), weights["output_weight"], weights["output_bias"])
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=0)


def main(directory):
    given = torch.load(directory / "in.pt")
    found = {}
    for norm in ("before", "after"):
        own = {name[len(norm) + 1:]: value for name, value in given.items() if name.startswith(norm + "/")}
        batch = [own.pop(name) for name in ("source", "lengths", "target")]
        heads = int(own.pop("heads"))
        weights = {name: value.clone().requires_grad_() for name, value in own.items()}
        loss = loss_of(weights, *batch, heads, norm == "before")
        loss.backward()
        found[norm + "/loss"] = loss.detach()
        for name, value in weights.items():
            found[norm + "/" + name] = value.grad
    torch.save(found, directory / "out.pt")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
