#!/usr/bin/env python3
"""PyTorch on a seq2seq model: the peers that `pagoda bench seq2seq` is compared with.

Two peers, both tuned (fused Adam; DDP with gradients as views of the buckets):

    ddp_seq2seq.py --peer ddp        one process per core, one thread each, gloo
    ddp_seq2seq.py --peer threads    one process with a thread per core, the same global batch

The model: encoder and decoder of --layers LSTM layers of --hidden, embeddings of the same size,
Luong attention over all target positions at once, full or sampled softmax (--samples candidates,
log-uniform). Synthetic sequences of --length tokens, Adam, gradients clipped at a norm of 5.

    ddp_seq2seq.py ... [--serve]     as ddp_lenet5.py: rounds and one JSON object, or one round per
                                     line on stdin and one JSON line for each

The launching process never imports torch: it would share library pages with the ranks and make
their PSS look smaller. For the same reason, read memory_bytes only when nothing else runs torch.
"""

import argparse
import json
import math
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
import warnings

BATCHES_PER_RANK = 4  # different batches, generated once and held in memory
MAX_NORM = 5.0


def make_model(options):
    import torch
    from torch import nn
    from torch.nn import functional

    class Seq2Seq(nn.Module):
        def __init__(self):
            super().__init__()
            vocabulary, hidden = options.vocab_size, options.hidden
            self.source_embedding = nn.Embedding(vocabulary, hidden)
            self.target_embedding = nn.Embedding(vocabulary, hidden)
            self.encoder = nn.LSTM(hidden, hidden, options.layers)
            self.decoder = nn.LSTM(hidden, hidden, options.layers)
            self.key = nn.Linear(hidden, hidden, bias=False)
            self.combine = nn.Linear(2 * hidden, hidden)
            self.output = nn.Linear(hidden, vocabulary)

        def forward(self, source, target_in, target_out):
            memory, state = self.encoder(self.source_embedding(source.t()))
            queries, _ = self.decoder(self.target_embedding(target_in.t()), state)
            memory, queries = memory.transpose(0, 1), queries.transpose(0, 1)
            weights = torch.bmm(queries, self.key(memory).transpose(1, 2)).softmax(-1)
            context = torch.bmm(weights, memory)
            hidden = self.combine(torch.cat([context, queries], 2)).tanh().flatten(0, 1)
            if options.softmax == "full":
                return functional.cross_entropy(self.output(hidden), target_out.flatten())
            return self.sampled_loss(hidden, target_out.flatten())

        def sampled_loss(self, hidden, targets):
            log_range = math.log(options.vocab_size + 1)

            def log_expected(ids):
                chance = ((ids + 2.0) / (ids + 1.0)).log() / log_range
                return (chance * options.samples).log()

            drawn = (torch.rand(options.samples) * log_range).exp().long() - 1
            ids = drawn.clamp_(max=options.vocab_size - 1)
            weight, bias = self.output.weight, self.output.bias
            true_logits = ((hidden * functional.embedding(targets, weight)).sum(1)
                           + bias[targets] - log_expected(targets))
            logits = functional.linear(hidden, functional.embedding(ids, weight),
                                       bias[ids] - log_expected(ids))
            logits = logits.masked_fill(targets.unsqueeze(1) == ids, -math.inf)
            logits = torch.cat([true_logits.unsqueeze(1), logits], 1)
            return functional.cross_entropy(logits, torch.zeros_like(targets))

    return Seq2Seq()


def run_rank(rank, cores, commands, store_path, options):
    """Body of one process: for every step count received, train that many steps and send back the
    seconds they took. Returns when the launcher closes the pipe."""
    os.sched_setaffinity(0, cores)  # before torch starts any thread
    os.environ.update(OMP_NUM_THREADS=str(len(cores)), GLOO_SOCKET_IFNAME="lo")
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    torch.set_num_threads(len(cores))
    torch.manual_seed(1 + rank)
    model = make_model(options)
    parallel = options.peer == "ddp"
    if parallel:
        dist.init_process_group("gloo", init_method=f"file://{store_path}", rank=rank,
                                world_size=options.processes)
        model = DistributedDataParallel(model, gradient_as_bucket_view=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    batch_size = options.batch_size * (1 if parallel else options.processes)

    def tokens():
        return torch.randint(4, options.vocab_size, (batch_size, options.length))

    batches = [(tokens(), tokens(), tokens()) for _ in range(BATCHES_PER_RANK)]

    def train(steps):
        if parallel:
            dist.barrier()
        start = time.perf_counter()
        for step in range(steps):
            optimizer.zero_grad()
            model(*batches[step % BATCHES_PER_RANK]).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
            optimizer.step()
        if parallel:
            dist.barrier()
        return time.perf_counter() - start

    try:
        while True:
            commands.send(train(commands.recv()))
    except (EOFError, KeyboardInterrupt):
        if parallel:
            dist.destroy_process_group()


class Ranks:
    """The processes, each pinned to cores of its own, as seen from the launcher."""

    def __init__(self, options, store_path):
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
                                      args=(rank, share, theirs, store_path, options))
            process.start()
            theirs.close()  # so that the death of a rank ends our recv
            self.pipes.append(ours)
            self.processes.append(process)

    def train(self, steps):
        """Sentences per second of all ranks together over `steps` steps."""
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
    parser.add_argument("--peer", choices=["ddp", "threads"], default="ddp")
    parser.add_argument("--softmax", choices=["full", "sampled"], default="full")
    parser.add_argument("--samples", type=int, default=512, help="candidates of the sampled softmax")
    parser.add_argument("--vocab-size", type=int, default=20000)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--length", type=int, default=20, help="tokens of source and of target")
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--processes", type=int, default=2, help="ranks of ddp, or threads")
    parser.add_argument("--batch-size", type=int, default=64, help="sentences per process or thread")
    parser.add_argument("--steps", type=int, default=8, help="steps per round")
    parser.add_argument("--warmup", type=int, default=3, help="steps before the first round")
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def main():
    options = parse_options()
    with tempfile.TemporaryDirectory() as directory:
        ranks = Ranks(options, os.path.join(directory, "store"))
        if options.warmup:
            ranks.train(options.warmup)
        if options.serve:
            for _ in sys.stdin:
                rate = ranks.train(options.steps)
                print(json.dumps({"peer": options.peer, "samples_per_second": rate}), flush=True)
        else:
            rates = [ranks.train(options.steps) for _ in range(options.rounds)]
            print(json.dumps({
                "peer": options.peer,
                "softmax": options.softmax,
                "vocab_size": options.vocab_size,
                "processes": options.processes,
                "batch_size": options.batch_size,
                "samples_per_second": statistics.median(rates),
                "rounds": rates,
                "memory_bytes": ranks.memory_bytes(),
            }))
        ranks.close()


if __name__ == "__main__":
    main()
