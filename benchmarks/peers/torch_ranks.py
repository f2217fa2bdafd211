"""What the PyTorch peers share: processes that train in rounds, and how their numbers get out.

A peer gives a function `make_step(parallel, options)` that builds its model in the process of
a rank, has `parallel(model)` make it data-parallel, and returns a function that trains one step,
given the step's number. `main` does the rest:

    --peer ddp       one process per core, one thread each, gloo
    --peer threads   one process with a thread per core
    --namespaces a,b network namespaces of the ranks, which then meet on eth0 instead of lo
    --wire bf16      what gradients are while they travel (DDP's compression hooks)
    --serve          one round per line on stdin, one JSON line for each; in between every process is
                     blocked in a read. Without it: --rounds rounds and one JSON object.

The launching process never imports torch: it would share library pages with the ranks and make
their PSS look smaller. For the same reason, read memory_bytes only when nothing else runs torch.
"""

import argparse
import ctypes
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
import warnings


def enter_namespace(name):
    """Of the network; for this process and what it starts."""
    with open(f"/run/netns/{name}") as space:
        if ctypes.CDLL(None, use_errno=True).setns(space.fileno(), 0) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter the network namespace {name}")


def run_rank(rank, cores, commands, store_path, make_step, options):
    """Body of one process: for every step count received, train that many steps and send back the
    seconds they took. Returns when the launcher closes the pipe."""
    os.sched_setaffinity(0, cores)  # before torch starts any thread
    if options.namespaces:
        enter_namespace(options.namespaces.split(",")[rank])
    os.environ.update(OMP_NUM_THREADS=str(len(cores)), GLOO_SOCKET_IFNAME="eth0" if options.namespaces else "lo")
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    torch.set_num_threads(len(cores))
    torch.manual_seed(1 + rank)
    is_ddp = options.peer == "ddp"
    if is_ddp:
        dist.init_process_group("gloo", init_method=f"file://{store_path}", rank=rank,
                                world_size=options.processes)

    def parallel(model, **ddp_options):
        if not is_ddp:
            return model
        model = DistributedDataParallel(model, **ddp_options)
        if options.wire != "fp32":
            from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

            compress = getattr(default_hooks, f"{options.wire}_compress_hook")

            def hook(group, bucket):  # under its own name DDP takes bf16's with NCCL alone; gloo sums it too
                return compress(group, bucket)

            model.register_comm_hook(None, hook)
        return model

    step = make_step(parallel, options)

    def train(steps):
        if is_ddp:
            dist.barrier()
        start = time.perf_counter()
        for number in range(steps):
            step(number)
        if is_ddp:
            dist.barrier()
        return time.perf_counter() - start

    try:
        while True:
            commands.send(train(commands.recv()))
    except (EOFError, KeyboardInterrupt):
        if is_ddp:
            dist.destroy_process_group()


class Ranks:
    """The processes, each pinned to cores of its own, as seen from the launcher."""

    def __init__(self, make_step, store_path, options):
        self.samples_per_step = options.processes * options.batch_size
        cores = sorted(os.sched_getaffinity(0))
        if options.processes > len(cores):
            sys.exit(f"{options.processes} processes need as many cores; this one may use {len(cores)}")
        cores = cores[:options.processes]
        shares = [{core} for core in cores] if options.peer == "ddp" else [set(cores)]
        context = multiprocessing.get_context("spawn")
        self.pipes, self.processes = [], []
        for rank, share in enumerate(shares):
            ours, theirs = context.Pipe()
            process = context.Process(target=run_rank, daemon=True,
                                      args=(rank, share, theirs, store_path, make_step, options))
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


def rank_batch_size(options):
    """Samples of one process in a step."""
    return options.batch_size * (1 if options.peer == "ddp" else options.processes)


def parser(description, *, steps, warmup):
    """The options of every peer; a peer adds its own."""
    result = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--peer", choices=["ddp", "threads"], default="ddp")
    result.add_argument("--namespaces", default="", help="network namespaces of the ranks (default: none)")
    result.add_argument("--wire", choices=["fp32", "bf16", "fp16"], default="fp32")
    result.add_argument("--serve", action="store_true")
    result.add_argument("--processes", type=int, default=2, help="ranks of ddp, or threads")
    result.add_argument("--batch-size", type=int, default=64, help="samples per process or thread")
    result.add_argument("--steps", type=int, default=steps, help="steps per round")
    result.add_argument("--warmup", type=int, default=warmup, help="steps before the first round")
    result.add_argument("--rounds", type=int, default=5)
    return result


def main(make_step, options):
    with tempfile.TemporaryDirectory() as directory:
        ranks = Ranks(make_step, os.path.join(directory, "store"), options)
        if options.warmup:
            ranks.train(options.warmup)
        if options.serve:
            for _ in sys.stdin:
                ranks.train(2)  # fills the caches again after another program's round
                rate = ranks.train(options.steps)
                print(json.dumps({"samples_per_second": rate}), flush=True)
        else:
            rates = [ranks.train(options.steps) for _ in range(options.rounds)]
            print(json.dumps(vars(options) | {
                "samples_per_second": statistics.median(rates),
                "rounds": rates,
                "memory_bytes": ranks.memory_bytes(),
            }))
        ranks.close()
