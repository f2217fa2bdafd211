"""The Transformer of `pagoda bench seq2seq --architecture transformer`, as one would write it for PyTorch.

Pre-norm layers with ReLU, one product for queries, keys and values, attention by scaled_dot_product_attention,
sinusoidal positions, no dropout, cross-entropy over the whole vocabulary. Faster than torch.nn.TransformerEncoderLayer
and TransformerDecoderLayer, whose modules compute the same with more copies.
"""

import math

import torch
from torch import nn
from torch.nn import functional


def sinusoids(places, hidden):
    half = hidden // 2
    rates = torch.exp(torch.arange(half) * -(math.log(10_000) / max(half - 1, 1)))
    angles = torch.arange(places).unsqueeze(1) * rates
    return functional.pad(torch.cat([angles.sin(), angles.cos()], 1), (0, hidden % 2))


class Attention(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.inputs = nn.Linear(hidden, 3 * hidden)
        self.output = nn.Linear(hidden, hidden)

    def of_itself(self, x, causal):
        return self.attend(*self.inputs(x).chunk(3, -1), causal)

    def of_memory(self, x, memory):
        hidden = x.shape[-1]
        weights, biases = self.inputs.weight.split([hidden, 2 * hidden]), self.inputs.bias.split([hidden, 2 * hidden])
        queries = functional.linear(x, weights[0], biases[0])
        keys_values = functional.linear(memory, weights[1], biases[1])
        return self.attend(queries, *keys_values.chunk(2, -1), False)

    def attend(self, queries, keys, values, causal):
        queries, keys, values = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (queries, keys, values))
        found = functional.scaled_dot_product_attention(queries, keys, values, is_causal=causal)
        return self.output(found.transpose(1, 2).flatten(2))


def feed_forward(options):
    return nn.Sequential(nn.Linear(options.hidden, options.ffn), nn.ReLU(inplace=True),
                         nn.Linear(options.ffn, options.hidden))


class EncoderLayer(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.attention = Attention(options.hidden, options.heads)
        self.feed_forward = feed_forward(options)
        self.norms = nn.ModuleList(nn.LayerNorm(options.hidden) for _ in range(2))

    def forward(self, x):
        x = x + self.attention.of_itself(self.norms[0](x), False)
        return x + self.feed_forward(self.norms[1](x))


class DecoderLayer(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.attention = Attention(options.hidden, options.heads)
        self.memory_attention = Attention(options.hidden, options.heads)
        self.feed_forward = feed_forward(options)
        self.norms = nn.ModuleList(nn.LayerNorm(options.hidden) for _ in range(3))

    def forward(self, x, memory):
        x = x + self.attention.of_itself(self.norms[0](x), True)
        x = x + self.memory_attention.of_memory(self.norms[1](x), memory)
        return x + self.feed_forward(self.norms[2](x))


class Transformer(nn.Module):
    """Takes the options of ddp_seq2seq.py; gives the loss."""

    def __init__(self, options):
        super().__init__()
        vocabulary, hidden = options.vocab_size, options.hidden
        self.target_embedding = nn.Embedding(vocabulary, hidden)
        self.source_embedding = self.target_embedding if options.tied == "all" else nn.Embedding(vocabulary, hidden)
        self.output = nn.Linear(hidden, vocabulary)
        if options.tied == "all":
            self.output.weight = self.target_embedding.weight
        for embedding in (self.source_embedding, self.target_embedding):
            nn.init.normal_(embedding.weight, std=hidden**-0.5)
        self.encoder = nn.ModuleList(EncoderLayer(options) for _ in range(options.layers))
        self.decoder = nn.ModuleList(DecoderLayer(options) for _ in range(options.layers))
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.register_buffer("places", sinusoids(options.length, hidden))
        self.scale = math.sqrt(hidden)

    def forward(self, source, target_in, target_out):
        memory = self.source_embedding(source) * self.scale + self.places
        for layer in self.encoder:
            memory = layer(memory)
        memory = self.encoder_norm(memory)
        x = self.target_embedding(target_in) * self.scale + self.places
        for layer in self.decoder:
            x = layer(x, memory)
        logits = self.output(self.decoder_norm(x).flatten(0, 1))
        return functional.cross_entropy(logits, target_out.flatten())
