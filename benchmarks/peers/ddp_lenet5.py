#!/usr/bin/env python3
"""PyTorch DistributedDataParallel on LeNet-5: the peer that `pagoda bench lenet5` is compared with.

One process per core, one thread each, gloo. Plain: what most people write. --tuned: what an expert
adds (channels_last, fused Adam, gradients as views of the buckets; static_graph brought nothing).

    ddp_lenet5.py [--tuned]            run --rounds rounds, print one JSON object
    ddp_lenet5.py [--tuned] --serve    run one round per line on stdin, print one JSON line for each;
                                       in between every process is blocked in a read

The launching process never imports torch: it would share library pages with the ranks and make
their PSS look smaller. For the same reason, read memory_bytes only when nothing else runs torch.
"""

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
import warnings

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


def run_rank(rank, core, commands, store_path, options):
    """Body of one process: for every step count received, train that many steps and send back the
    seconds they took. Returns when the launcher closes the pipe."""
    os.sched_setaffinity(0, {core})  # before torch starts any thread
    os.environ.update(OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo")
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    torch.set_num_threads(1)
    torch.manual_seed(1 + rank)
    dist.init_process_group("gloo", init_method=f"file://{store_path}", rank=rank,
                            world_size=options.processes)

    layout = torch.channels_last if options.tuned else torch.contiguous_format
    ddp_options = dict(gradient_as_bucket_view=True) if options.tuned else {}
    model = DistributedDataParallel(lenet5().to(memory_format=layout), **ddp_options)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True if options.tuned else None)
    loss_function = torch.nn.CrossEntropyLoss()
    batches = [
        (torch.rand(options.batch_size, 3, 28, 28).to(memory_format=layout),
         torch.randint(10, (options.batch_size,)))
        for _ in range(BATCHES_PER_RANK)
    ]

    def train(steps):
        dist.barrier()
        start = time.perf_counter()
        for step in range(steps):
            images, labels = batches[step % BATCHES_PER_RANK]
            optimizer.zero_grad()
            loss_function(model(images), labels).backward()
            optimizer.step()
        dist.barrier()
        return time.perf_counter() - start

    try:
        while True:
            commands.send(train(commands.recv()))
    except (EOFError, KeyboardInterrupt):
        dist.destroy_process_group()


class Ranks:
    """The processes, each pinned to a core of its own, as seen from the launcher."""

    def __init__(self, options, store_path):
        self.samples_per_step = options.processes * options.batch_size
        cores = sorted(os.sched_getaffinity(0))
        if options.processes > len(cores):
            sys.exit(f"{options.processes} processes need as many cores; this one may use {len(cores)}")
        context = multiprocessing.get_context("spawn")
        self.pipes, self.processes = [], []
        for rank in range(options.processes):
            ours, theirs = context.Pipe()
            process = context.Process(target=run_rank, daemon=True,
                                      args=(rank, cores[rank], theirs, store_path, options))
            process.start()
            theirs.close()  # so that the death of a rank ends our recv
            self.pipes.append(ours)
            self.processes.append(process)

    def train(self, steps):
        """Samples per second of all ranks together over `steps` steps."""
        for pipe in self.pipes:
            pipe.send(steps)
        seconds = max(pipe.recv() for pipe in self.pipes)
        return self.samples_per_step * steps / seconds

    def memory_bytes(self):
        return sum(proportional_set_size(process.pid) for process in self.processes)

    def close(self):
        for pipe in self.pipes:
            pipe.close()
        for process in self.processes:
            process.join()


def proportional_set_size(pid):
    with open(f"/proc/{pid}/smaps_rollup") as rollup:
        return next(int(line.split()[1]) * 1024 for line in rollup if line.startswith("Pss:"))


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuned", action="store_true")
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=64, help="samples per process")
    parser.add_argument("--steps", type=int, default=50, help="steps per round")
    parser.add_argument("--warmup", type=int, default=10, help="steps before the first round")
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def main():
    options = parse_options()
    peer = "ddp-tuned" if options.tuned else "ddp"
    with tempfile.TemporaryDirectory() as directory:
        ranks = Ranks(options, os.path.join(directory, "store"))
        if options.warmup:
            ranks.train(options.warmup)
        if options.serve:
            for _ in sys.stdin:
                ranks.train(2)  # fills the caches again after another program's round
                rate = ranks.train(options.steps)
                print(json.dumps({"peer": peer, "samples_per_second": rate}), flush=True)
        else:
            rates = [ranks.train(options.steps) for _ in range(options.rounds)]
            print(json.dumps({
                "peer": peer,
                "processes": options.processes,
                "batch_size": options.batch_size,
                "samples_per_second": statistics.median(rates),
                "rounds": rates,
                "memory_bytes": ranks.memory_bytes(),
            }))
        ranks.close()


if __name__ == "__main__":
    main()
