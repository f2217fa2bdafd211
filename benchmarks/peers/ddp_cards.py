#!/usr/bin/env python3
"""PyTorch's DDP on LeNet-5, one process a card with NCCL: what tools/try_cuda compares Pagoda's cards with.

As an expert writes it: channels_last, fused Adam, gradients as views of the buckets, batches that are on the card
already. Prints one JSON object. `--backend gloo --device cpu` tries the script itself without cards.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def run_rank(rank, store, options, results):
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    from ddp_lenet5 import lenet5

    on_cards = options.device == "cuda"
    device = torch.device("cuda", rank) if on_cards else torch.device("cpu")
    if on_cards:
        torch.cuda.set_device(device)
    dist.init_process_group(options.backend, init_method=f"file://{store}", rank=rank, world_size=options.ranks)
    torch.manual_seed(1 + rank)
    model = DistributedDataParallel(lenet5().to(device, memory_format=torch.channels_last),
                                    device_ids=[rank] if on_cards else None, gradient_as_bucket_view=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    loss_function = torch.nn.CrossEntropyLoss()
    images = torch.rand(options.batch_size, 3, 28, 28, device=device).to(memory_format=torch.channels_last)
    labels = torch.randint(10, (options.batch_size,), device=device)

    def seconds(steps):
        dist.barrier()
        begin = time.perf_counter()
        for _ in range(steps):
            optimizer.zero_grad()
            loss_function(model(images), labels).backward()
            optimizer.step()
        if on_cards:
            torch.cuda.synchronize()
        dist.barrier()
        return time.perf_counter() - begin

    seconds(options.steps)  # warm
    taken = [seconds(options.steps) for _ in range(options.rounds)]
    if rank == 0:
        results.put(taken)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--batch-size", type=int, default=64, help="of each rank")
    parser.add_argument("--steps", type=int, default=100, help="of a round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--backend", default="nccl")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    options = parser.parse_args()
    import torch.multiprocessing as multiprocessing

    context = multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    with tempfile.TemporaryDirectory() as directory:
        multiprocessing.spawn(run_rank, (os.path.join(directory, "store"), options, results), options.ranks)
    samples = options.ranks * options.batch_size * options.steps
    print(json.dumps({"ranks": options.ranks, "batch_size": options.batch_size,
                      "samples_per_second": samples / statistics.median(results.get())}))


if __name__ == "__main__":
    main()
