#!/usr/bin/env python3
"""Writes the values that our optimizers and schedules must reproduce, as PyTorch computes them.

    .venv/bin/python tests/optim/pytorch_reference.py

pytorch_reference.inc   one parameter of 7 elements after 10 steps, in double precision:
                            start:     p[i] = 0.5 * sin(i + 1)
                            gradient:  g[i] = sin(0.7 * i + 1.3 * step) + 0.3 * p[i],  step from 0
                        Every case states its options in a comment; the rest are PyTorch's defaults.
pytorch_schedules.inc   learning rates of steps 0 to 20, starting at 0.1.
"""

import math
import pathlib
import warnings

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
import torch
from torch.optim import SGD, Adagrad, Adam, AdamW, RMSprop
from torch.optim import lr_scheduler

ELEMENTS, STEPS, LAST_SCHEDULED_STEP = 7, 10, 20
DECAY = 0.9  # of the cases whose learning rate is lr * DECAY**step

# name, optimizer, options, whether the learning rate decays
CASES = [
    ("sgd", SGD, dict(lr=0.05), False),
    ("sgd_weight_decay", SGD, dict(lr=0.05, weight_decay=0.01), False),
    ("sgd_momentum", SGD, dict(lr=0.05, momentum=0.9), False),
    ("sgd_momentum_dampening", SGD, dict(lr=0.05, momentum=0.9, dampening=0.1), False),
    ("sgd_momentum_weight_decay", SGD, dict(lr=0.05, momentum=0.9, weight_decay=0.01), False),
    ("sgd_nesterov", SGD, dict(lr=0.05, momentum=0.9, nesterov=True), False),
    ("sgd_nesterov_weight_decay", SGD,
     dict(lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01), False),
    ("sgd_momentum_decaying_lr", SGD, dict(lr=0.05, momentum=0.9), True),
    ("adam", Adam, dict(lr=0.01), False),
    ("adam_betas_eps", Adam, dict(lr=0.05, betas=(0.8, 0.95), eps=1e-3), False),
    ("adam_weight_decay", Adam, dict(lr=0.05, weight_decay=0.01), False),
    ("adam_decaying_lr", Adam, dict(lr=0.05), True),
    ("adamw", AdamW, dict(lr=0.05, weight_decay=0.01), False),
    ("adamw_decaying_lr", AdamW, dict(lr=0.05, weight_decay=0.01), True),
    ("adagrad", Adagrad, dict(lr=0.1), False),
    ("adagrad_initial_accumulator", Adagrad, dict(lr=0.1, initial_accumulator_value=0.1), False),
    ("adagrad_lr_decay", Adagrad, dict(lr=0.1, lr_decay=0.01), False),
    ("adagrad_lr_decay_initial_accumulator", Adagrad,
     dict(lr=0.1, lr_decay=0.01, initial_accumulator_value=0.1), False),
    ("adagrad_weight_decay", Adagrad, dict(lr=0.1, weight_decay=0.01), False),
    ("rmsprop", RMSprop, dict(lr=0.05, alpha=0.99), False),
    ("rmsprop_weight_decay", RMSprop, dict(lr=0.05, alpha=0.99, weight_decay=0.01), False),
    ("rmsprop_momentum", RMSprop, dict(lr=0.05, alpha=0.99, momentum=0.9), False),
    ("rmsprop_centered", RMSprop, dict(lr=0.05, alpha=0.99, centered=True), False),
    ("rmsprop_centered_momentum", RMSprop,
     dict(lr=0.05, alpha=0.99, centered=True, momentum=0.9), False),
]

SCHEDULES = [
    ("exponential", lr_scheduler.ExponentialLR, dict(gamma=0.9)),
    ("step", lr_scheduler.StepLR, dict(step_size=5, gamma=0.5)),
    ("cosine_annealing", lr_scheduler.CosineAnnealingLR, dict(T_max=20, eta_min=1e-4)),
]


def parameter_after_steps(optimizer_type, options, decaying):
    start = [0.5 * math.sin(i + 1) for i in range(ELEMENTS)]
    parameter = torch.nn.Parameter(torch.tensor(start, dtype=torch.float64))
    optimizer = optimizer_type([parameter], foreach=False, **options)
    for step in range(STEPS):
        values = parameter.tolist()
        parameter.grad = torch.tensor(
            [math.sin(0.7 * i + 1.3 * step) + 0.3 * values[i] for i in range(ELEMENTS)],
            dtype=torch.float64)
        if decaying:
            optimizer.param_groups[0]["lr"] = options["lr"] * DECAY**step
        optimizer.step()
    return parameter.tolist()


def scheduled_rates(scheduler_type, options):
    optimizer = SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
    scheduler = scheduler_type(optimizer, **options)
    rates = []
    for _ in range(LAST_SCHEDULED_STEP + 1):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


def initializer(name, comment, values):
    """One element of the C++ array, four numbers a line; repr() gives every digit of a double."""
    rows = [", ".join(map(repr, values[i:i + 4])) for i in range(0, len(values), 4)]
    return f'// {comment}\n{{"{name}",\n {{{{' + ",\n   ".join(rows) + "}}},\n"


def described(function, options):
    return f"{function.__name__}({', '.join(f'{key}={value}' for key, value in options.items())})"


def write(name, element_type, elements):
    text = (f"// From torch {torch.__version__}; regenerate with "
            "`.venv/bin/python tests/optim/pytorch_reference.py`. Do not edit.\n"
            f"// To be included in the initializer of an array of {element_type}.\n")
    pathlib.Path(__file__).with_name(name).write_text(text + "".join(elements))


def main():
    write("pytorch_reference.inc",
          "struct ReferenceCase { const char* name; std::array<double, 7> after_10_steps; }",
          [initializer(name,
                       described(optimizer_type, options) +
                       (f", lr multiplied by {DECAY}**step" if decaying else ""),
                       parameter_after_steps(optimizer_type, options, decaying))
           for name, optimizer_type, options, decaying in CASES])
    write("pytorch_schedules.inc",
          "struct ScheduleCase { const char* name; std::array<double, 21> rates; }",
          [initializer(name, described(scheduler_type, options) + ", base lr 0.1",
                       scheduled_rates(scheduler_type, options))
           for name, scheduler_type, options in SCHEDULES])


if __name__ == "__main__":
    main()
