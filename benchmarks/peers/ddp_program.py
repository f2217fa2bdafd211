#!/usr/bin/env python3
"""PyTorch on the models that exported programs are measured with: eager, and DistributedDataParallel.

`--peer threads --processes 1 --no-update` is forward and backward in one thread. torch_ranks.py has the other options.
"""

import program_models
import torch_ranks

BATCHES = 4  # different batches, generated once and held in memory


def make_step(parallel, options):
    import torch

    model = parallel(program_models.make(options.model).train())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches = [program_models.rows(options.model, torch_ranks.rank_batch_size(options)) for _ in range(BATCHES)]

    def step(number):
        optimizer.zero_grad()
        model(*batches[number % BATCHES]).backward()
        if not options.no_update:
            optimizer.step()

    return step


if __name__ == "__main__":
    parser = torch_ranks.parser(__doc__, steps=20, warmup=4)
    parser.add_argument("--model", choices=list(program_models.SIZES), default="cnn")
    parser.add_argument("--no-update", action="store_true")
    torch_ranks.main(make_step, parser.parse_args())
