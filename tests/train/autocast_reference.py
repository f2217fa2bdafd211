#!/usr/bin/env python3
"""What PyTorch computes under autocast, for autocast_reference_test.cpp.

    .venv/bin/python tests/train/autocast_reference.py DIRECTORY

DIRECTORY/in.pt   tensors by name: `lenet5/<parameter>`, `lenet5/images`, `lenet5/labels`; `rnn/<parameter>`, `rnn/inputs`,
                  `rnn/lengths`, `rnn/targets`; `scale`: what backward starts from in fp16
DIRECTORY/out.pt  `<precision>/<model>/loss` and `<precision>/<model>/<parameter>`, its gradient divided by the scale, for
                  both models in fp32, bf16 and fp16
"""

import pathlib
import sys
import warnings

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
import torch
from torch import nn
from torch.nn import functional as F


class LeNet5(nn.Module):
    def __init__(self, image_size, channels=3, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 32, 5, padding=2)
        self.conv2 = nn.Conv2d(32, 64, 5, padding=2)
        self.hidden = nn.Linear(64 * (image_size // 4) ** 2, 512)
        self.logits = nn.Linear(512, classes)

    def loss(self, images, labels):
        x = F.max_pool2d(self.conv1(images).relu(), 2)
        x = F.max_pool2d(self.conv2(x).relu(), 2)
        return F.cross_entropy(self.logits(self.hidden(x.flatten(1)).relu()), labels)


class Recurrent(nn.Module):
    """An LSTM and an output layer, as our own autograd functions have them."""

    def __init__(self, weights):
        super().__init__()
        self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, self.output, self.output_bias = (
            nn.Parameter(weights[name].clone())
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "output", "output_bias"))

    def loss(self, inputs, lengths, targets):
        hidden = cell = torch.zeros(inputs.size(1), self.weight_hh.size(1))
        outputs = []
        for t in range(inputs.size(0)):
            gates = (F.linear(inputs[t], self.weight_ih, self.bias_ih)
                     + F.linear(hidden, self.weight_hh, self.bias_hh)).float()
            i, f, g, o = gates.chunk(4, 1)
            now = f.sigmoid() * cell + i.sigmoid() * g.tanh()
            live = (lengths > t).unsqueeze(1)
            hidden = torch.where(live, o.sigmoid() * now.tanh(), hidden)
            cell = torch.where(live, now, cell)
            outputs.append(hidden)
        logits = F.linear(torch.stack(outputs).flatten(0, 1), self.output, self.output_bias)
        return F.cross_entropy(logits.float(), targets)


def compute(model, arguments, precision, scale):
    """The loss, and the gradients of all parameters."""
    model.zero_grad()
    types = {"bf16": torch.bfloat16, "fp16": torch.float16}
    with torch.autocast("cpu", dtype=types.get(precision), enabled=precision in types):
        loss = model.loss(*arguments)
    factor = scale if precision == "fp16" else 1.0
    loss.float().backward(torch.tensor(factor))
    result = {"loss": loss.detach().float().reshape(1)}
    result.update((name, value.grad / factor) for name, value in model.named_parameters())
    return result


def main(directory):
    torch.set_num_threads(1)
    given = torch.load(directory / "in.pt", weights_only=True)
    parts = {model: {name.split("/")[1]: value for name, value in given.items()
                     if name.startswith(model + "/")} for model in ("lenet5", "rnn")}
    lenet5 = LeNet5(parts["lenet5"]["images"].size(2))
    images, labels = parts["lenet5"].pop("images"), parts["lenet5"].pop("labels")
    lenet5.load_state_dict(parts["lenet5"])
    rnn = parts["rnn"]
    models = {"lenet5": (lenet5, (images, labels)),
              "rnn": (Recurrent(rnn), (rnn["inputs"], rnn["lengths"], rnn["targets"]))}
    out = {}
    for precision in ("fp32", "bf16", "fp16"):
        for name, (model, arguments) in models.items():
            for key, value in compute(model, arguments, precision, given["scale"].item()).items():
                out[f"{precision}/{name}/{key}"] = value
    torch.save(out, directory / "out.pt")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
