"""Writes the small models that `make test` reads: tests/program/small_models.py DIRECTORY"""
import sys

import torch
from torch import nn
from torch.export import Dim
from torch.export.pt2_archive._package import package_pt2
from torch.utils.checkpoint import checkpoint

import python_models
from python_models import Case, Score


class Cnn(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2),
                         nn.Conv2d(8, 6, 3), nn.BatchNorm2d(6), nn.SiLU(), nn.Flatten(), nn.Dropout(0.3),
                         nn.Linear(24, 5))


class BidirectionalLstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.lstm = nn.LSTM(6, 5, num_layers=2, dropout=0.2, bidirectional=True, batch_first=True)
        self.output = nn.Linear(10, 4)

    def forward(self, x):
        return self.output(self.lstm(self.embedding(x))[0].mean(1))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(13, 8)
        self.register_buffer("positions", torch.randn(6, 8), persistent=False)
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.output = nn.Linear(8, 4)

    def forward(self, x):
        return self.output(self.encoder(self.embedding(x) + self.positions[: x.shape[1]]).mean(1))


class Odd(nn.Module):
    """Tied weights, several outputs, regions without gradients, a checkpoint, a condition, sizes that are
    computed, changes in place, a buffer that changes, a frozen parameter, lists, constants."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(9, 6)
        self.hidden = nn.Linear(6, 6)
        self.output = nn.Linear(6, 9, bias=False)
        self.output.weight = self.embedding.weight
        self.scale = nn.Parameter(torch.full((6,), 1.5), requires_grad=False)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, tokens, *, weights):
        self.calls += 1
        h = self.embedding(tokens)
        with torch.no_grad():
            centre = h.mean() + weights.sum()
        h = checkpoint(lambda v: torch.tanh(self.hidden(v)) * self.scale, h, use_reentrant=False)
        h = torch.cond(weights.sum() > 0, lambda v: v * 2, lambda v: v - 1, (h,))
        rows, length = tokens.shape
        h = h[torch.arange(rows, device=tokens.device)]
        h[:, 0] = 0
        h += torch.tensor([1.0, 0.5, 0.25, 0.5, 1.0, 2.0])
        first, second = self.output(h).reshape(rows * length, -1).split([4, 5], 1)
        logits = torch.cat([second, first], 1) + centre / (rows * length)
        loss = nn.functional.cross_entropy(logits, tokens.reshape(-1), reduction="none")
        limit = torch.full((rows,), float("inf"))
        loss = torch.minimum(loss.view(rows, length).mean(1), limit).mean()
        return {"loss": loss, "spread": logits.detach().std(), "rows": rows, "nothing": None}


class Numbers(nn.Module):
    """Numbers that come from tensors and as inputs, constants of all kinds, norms of weights, complex numbers, a buffer
    that repeats its elements, operators that return lists and several tensors."""

    def __init__(self):
        super().__init__()
        self.first = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4))
        self.second = nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))
        self.register_buffer("ones", torch.ones(1, 4).expand(3, 4))

    def forward(self, x, n, scale=1.5, flag=True, name="a"):
        h = self.second(self.first(x)) + self.ones.sum(0)
        count = h.detach().abs().sum().clamp(0, 50).to(torch.int64).item()
        torch._check(count >= 0)
        torch._check(count <= 50)
        h = h + torch.ones(count + 1).mean() * x.shape[0] * scale
        h = torch.stack([h, -h]).unbind(0)[1].topk(2).values[:n]
        turned = torch.view_as_complex(h.reshape(-1, 2)) * (0.5 + 2j)
        return torch.einsum("i,i->", turned.real, turned.imag) + h.max(1).values.mean(), x.shape[0] / 2


class Autocast(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 12)
        self.second = nn.Linear(12, 3)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            h = self.first(x).relu()
        return self.second(h.float())


class DropPath(nn.Module):
    """A branch that training leaves out at random."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 6)
        self.output = nn.Linear(6, 3)

    def forward(self, x):
        branch = self.layer(x)
        if self.training:
            branch = branch * torch.empty(x.shape[0], 1).bernoulli_(0.75) / 0.75
        return self.output(x + branch)


class Forgetful(nn.Module):
    """Changes what its state dict does not have."""

    def __init__(self):
        super().__init__()
        self.output = nn.Linear(6, 3)
        self.register_buffer("scale", torch.ones(1), persistent=False)

    def forward(self, x):
        self.scale.mul_(0.99)
        return self.output(x) * self.scale


def odd_inputs(rows):
    return {"tokens": torch.randint(9, (rows, 5)), "weights": torch.randn(rows, 2)}


def number_inputs(rows):
    return {"x": torch.randn(rows, 4), "n": 2, "scale": 1.5, "flag": False, "name": "b"}


def vectors(rows):
    return {"x": torch.randn(rows, 6), "y": torch.randint(3, (rows,))}


def cases():
    yield "cnn", Case(Score(Cnn(), smoothing=0.1), python_models.images((3, 8, 8), 5))
    yield "lstm", Case(Score(BidirectionalLstm()), python_models.tokens(11, 6, 4))
    yield "transformer", Case(Score(Transformer()), python_models.tokens(13, 6, 4))
    batch = Dim("batch")
    yield "odd", Case(Odd(), odd_inputs, dynamic={"tokens": {0: batch}, "weights": {0: batch}}, evaluates=False)
    yield "numbers", Case(Numbers(), number_inputs, evaluates=False, towers=False,
                          dynamic={"x": {0: batch}, "n": Dim.DYNAMIC, "scale": None, "flag": None, "name": None})
    yield "autocast", Case(Score(Autocast().float()),
                           lambda rows: {"x": torch.randn(rows, 6).float(), "y": torch.randint(3, (rows,))},
                           towers=False)
    yield "drop_path", Case(Score(DropPath()), vectors, evaluates=False, towers=False)


def write_two_programs(path):
    """Training and evaluation, in one file."""
    torch.manual_seed(python_models.SEED)
    model = Score(DropPath())
    batch = Dim("batch")
    shapes = {"x": {0: batch}, "y": {0: batch}}
    programs = {name: torch.export.export(model.train(mode), (), vectors(4), dynamic_shapes=shapes)
                for name, mode in (("train", True), ("evaluate", False))}
    package_pt2(path, exported_programs=programs)
    inputs = vectors(5)
    reference = {f"in/{name}": value for name, value in inputs.items()}
    for name, mode in (("train", True), ("evaluate", False)):
        torch.manual_seed(python_models.SEED)
        reference[name] = model.train(mode)(**inputs)[0].detach()
    torch.save(reference, f"{path}.results")


def write_bad_programs(directory):
    """What must be refused, and why."""
    model = Score(Cnn()).train()
    example = python_models.images((3, 8, 8), 5)(4)
    program = torch.export.export(model, (), example)
    torch.export.save(program.run_decompositions(), f"{directory}/decomposed.bad.pt2")
    package_pt2(f"{directory}/names.bad.pt2", exported_programs={"one": program, "two": program})
    torch.export.save(torch.export.export(Forgetful().train(), (), {"x": torch.randn(4, 6)}),
                      f"{directory}/forgetful.bad.pt2")


def main(directory):
    python_models.prepare()
    for name, case in cases():
        python_models.write(directory, name, case)
    write_two_programs(f"{directory}/two_programs.pt2")
    write_bad_programs(directory)


if __name__ == "__main__":
    main(sys.argv[1])
