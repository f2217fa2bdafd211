#!/usr/bin/env python3
"""PyTorch on LeNet-5: the peer that `pagoda bench lenet5` is compared with.

Plain: what most people write. --tuned: what an expert adds (channels_last, fused Adam, gradients as
views of the buckets; static_graph brought nothing). torch_ranks.py has the other options.
"""

import torch_ranks

BATCHES_PER_RANK = 4  # different batches, generated once and held in memory


def lenet5():
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(3, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64 * 7 * 7, 512), nn.ReLU(),
        nn.Linear(512, 10),
    )


def make_step(parallel, options):
    import torch

    layout = torch.channels_last if options.tuned else torch.contiguous_format
    ddp_options = dict(gradient_as_bucket_view=True) if options.tuned else {}
    model = parallel(lenet5().to(memory_format=layout), **ddp_options)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True if options.tuned else None)
    loss_function = torch.nn.CrossEntropyLoss()
    size = torch_ranks.rank_batch_size(options)
    batches = [(torch.rand(size, 3, 28, 28).to(memory_format=layout), torch.randint(10, (size,)))
               for _ in range(BATCHES_PER_RANK)]

    def step(number):
        images, labels = batches[number % BATCHES_PER_RANK]
        optimizer.zero_grad()
        loss_function(model(images), labels).backward()
        optimizer.step()

    return step


if __name__ == "__main__":
    parser = torch_ranks.parser(__doc__, steps=50, warmup=10)
    parser.add_argument("--tuned", action="store_true")
    torch_ranks.main(make_step, parser.parse_args())
