"""Exports models and writes down what PyTorch computes with them, for the tests of `.pt2` files.

For a model NAME, NAME.pt2 is the exported program, and NAME.reference.pt a dict of tensors, with the
results of eager PyTorch on one thread (`B` is a number of rows):

    B/in/INPUT    B/out/NUMBER    B/grad/PARAMETER    B/buffer/BUFFER    a forward and backward, seed 11
    B/eval/NUMBER                                     a forward in evaluation
    adam/STEP/TOWER/INPUT    adam/parameter/NAME      steps of Adam on two towers with feeds of 4 and 3 rows

Where a model has dropout, NAME.plain.pt2 is the same model without it, to which the last line belongs.
"""
import copy
import pathlib
import warnings

import torch
from torch import nn
from torch.export import Dim

SEED = 11
ROWS = (3, 7)
TOWER_ROWS = (4, 3)
ADAM_STEPS = 5
LEARNING_RATE = 1e-3
# Where a gradient is zero but for rounding (a bias before BatchNorm), the usual 1e-8 would make steps of that noise.
EPSILON = 1e-4


class Score(nn.Module):
    """A classifier whose forward returns the loss, and the accuracy as a metric."""

    def __init__(self, model, smoothing=0.0):
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def forward(self, x, y):
        logits = self.model(x)
        if not isinstance(logits, torch.Tensor):
            logits = logits[0]  # before those of auxiliary classifiers
        loss = nn.functional.cross_entropy(logits, y, label_smoothing=self.smoothing)
        return loss, (logits.argmax(1) == y).double().mean()


class Case:
    """A model, how its inputs are drawn, and what is asked of it."""

    def __init__(self, model, inputs, *, evaluates=True, dynamic=None, towers=True):
        self.model = model.train()
        self.inputs = inputs  # inputs(rows) -> dict
        self.evaluates = evaluates
        self.dynamic = dynamic
        self.towers = towers

    def export(self, path, model):
        batch = Dim("batch")
        example = self.inputs(4)
        shapes = self.dynamic or {name: {0: batch} for name in example}
        # A copy: exporting runs the model, which changes BatchNorm's statistics.
        program = torch.export.export(copy.deepcopy(model), (), example, dynamic_shapes=shapes)
        torch.export.save(program, path)


def outputs_of(returned):
    values = returned.values() if isinstance(returned, dict) else returned
    return [value for value in (values if isinstance(values, (tuple, list, type({}.values()))) else [values])]


def as_tensor(value):
    return value.detach().clone() if isinstance(value, torch.Tensor) else torch.tensor(value)


def taken(inputs):
    """Those that a program takes: tensors and whole numbers; others have become constants."""
    return [(n, v) for n, v in inputs.items() if isinstance(v, torch.Tensor) or type(v) is int]


def write_down(reference, prefix, tensors):
    for name, value in tensors:
        if value is not None:
            reference[f"{prefix}/{name}"] = as_tensor(value).contiguous()


def run_once(case, rows, reference):
    model = copy.deepcopy(case.model)
    inputs = case.inputs(rows)
    write_down(reference, f"{rows}/in", taken(inputs))
    torch.manual_seed(SEED)
    outputs = outputs_of(model(**inputs))
    outputs[0].backward()
    write_down(reference, f"{rows}/out", enumerate(outputs))
    write_down(reference, f"{rows}/grad", ((n, p.grad) for n, p in model.named_parameters()))
    kept = set(model.state_dict())
    write_down(reference, f"{rows}/buffer", ((n, b) for n, b in model.named_buffers() if n in kept))
    if case.evaluates:  # with gradients: modules must not take other ways without them
        model = copy.deepcopy(case.model).eval()
        write_down(reference, f"{rows}/eval", enumerate(outputs_of(model(**inputs))))


def train_on_towers(case, model, reference):
    """Each tower's gradient counts by its rows, and begins from the same buffers."""
    model = copy.deepcopy(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, eps=EPSILON)
    for step in range(ADAM_STEPS):
        optimizer.zero_grad()
        before = {n: b.clone() for n, b in model.named_buffers()}
        means = {n: torch.zeros_like(b) for n, b in before.items() if b.is_floating_point()}
        for tower, rows in enumerate(TOWER_ROWS):
            for name, buffer in model.named_buffers():
                buffer.copy_(before[name])
            inputs = case.inputs(rows)
            write_down(reference, f"adam/{step}/{tower}", taken(inputs))
            share = rows / sum(TOWER_ROWS)
            (outputs_of(model(**inputs))[0] * share).backward()
            for name in means:
                means[name] += share * dict(model.named_buffers())[name]
        for name, buffer in model.named_buffers():
            if name in means:
                buffer.copy_(means[name])
        optimizer.step()
    write_down(reference, "adam/parameter", model.named_parameters())


def without_dropout(model):
    """A copy whose dropout drops nothing; None where it has none."""
    plain = copy.deepcopy(model)
    found = False
    for module in plain.modules():
        for name, value in list(vars(module).items()):
            drops = "drop" in name or (name == "p" and "Dropout" in type(module).__name__)
            if drops and isinstance(value, float) and value > 0:
                setattr(module, name, 0.0)
                found = True
    return plain if found else None


def write(directory, name, case):
    directory = pathlib.Path(directory)
    reference = {}
    case.export(directory / f"{name}.pt2", case.model)
    for rows in ROWS:
        run_once(case, rows, reference)
    if case.towers:
        plain = without_dropout(case.model)
        if plain is not None:
            case.export(directory / f"{name}.plain.pt2", plain)
        train_on_towers(case, plain or case.model, reference)
    torch.save(reference, directory / f"{name}.reference.pt")


def prepare():
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(SEED)


def images(shape, classes):
    return lambda rows: {"x": torch.randn(rows, *shape), "y": torch.randint(classes, (rows,))}


def tokens(words, length, classes):
    return lambda rows: {"x": torch.randint(words, (rows, length)), "y": torch.randint(classes, (rows,))}
