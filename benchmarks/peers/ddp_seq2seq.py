#!/usr/bin/env python3
"""PyTorch on a seq2seq model: the peers that `pagoda bench seq2seq` is compared with.

The model: encoder and decoder of --layers LSTM layers of --hidden, embeddings of the same size,
Luong attention over all target positions at once, full or sampled softmax (--samples candidates,
log-uniform). --architecture transformer: the model of torch_transformer.py, with the full softmax.
Synthetic sequences of --length tokens, fused Adam, gradients clipped at a norm of 5; DDP with
gradients as views of the buckets. torch_ranks.py has the other options.

--rows dense: every gradient is dense and fused Adam updates all rows in every step, which is what
`--row-update exact` computes. --rows sparse: embeddings and the sampled output layer have sparse
gradients and SparseAdam, which is what `--row-update lazy` computes.
"""

import math

import torch_ranks

BATCHES_PER_RANK = 4  # different batches, generated once and held in memory
MAX_NORM = 5.0


def make_transformer(options):
    import torch_transformer

    return torch_transformer.Transformer(options)


def make_rnn(options):
    import torch
    from torch import nn
    from torch.nn import functional

    sparse = options.rows == "sparse"

    class Seq2Seq(nn.Module):
        def __init__(self):
            super().__init__()
            vocabulary, hidden = options.vocab_size, options.hidden
            self.source_embedding = nn.Embedding(vocabulary, hidden, sparse=sparse)
            self.target_embedding = nn.Embedding(vocabulary, hidden, sparse=sparse)
            self.encoder = nn.LSTM(hidden, hidden, options.layers)
            self.decoder = nn.LSTM(hidden, hidden, options.layers)
            self.key = nn.Linear(hidden, hidden, bias=False)
            self.combine = nn.Linear(2 * hidden, hidden)
            if options.softmax == "full":
                self.output = nn.Linear(hidden, vocabulary)
            else:  # an embedding, because DDP expects sparse gradients of nothing else
                self.output_rows = nn.Embedding(vocabulary, hidden, sparse=sparse)
                self.output_bias = nn.Parameter(torch.zeros(vocabulary))

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
            bias = self.output_bias
            rows = self.output_rows(torch.cat([targets, ids]))
            target_rows, id_rows = rows.split([len(targets), len(ids)])
            true_logits = (hidden * target_rows).sum(1) + bias[targets] - log_expected(targets)
            logits = functional.linear(hidden, id_rows, bias[ids] - log_expected(ids))
            logits = logits.masked_fill(targets.unsqueeze(1) == ids, -math.inf)
            logits = torch.cat([true_logits.unsqueeze(1), logits], 1)
            return functional.cross_entropy(logits, torch.zeros_like(targets))

    return Seq2Seq()


def row_parameters(model):
    """Those with sparse gradients."""
    from torch import nn

    return [module.weight for module in model.modules() if isinstance(module, nn.Embedding) and module.sparse]


def clip(dense, rows):
    """By the norm over all parameters; torch's own clip_grad_norm_ takes no sparse gradients."""
    import torch

    if not rows:
        torch.nn.utils.clip_grad_norm_(dense, MAX_NORM)
        return
    for parameter in rows:
        parameter.grad = parameter.grad.coalesce()
    values = [p.grad for p in dense] + [p.grad.values() for p in rows]
    norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(values)))
    torch._foreach_mul_(values, (MAX_NORM / (norm + 1e-6)).clamp(max=1.0))


def make_step(parallel, options):
    import torch

    plain = (make_transformer if options.architecture == "transformer" else make_rnn)(options)
    rows = row_parameters(plain)
    dense = [p for p in plain.parameters() if all(p is not row for row in rows)]
    model = parallel(plain, gradient_as_bucket_view=True)
    optimizers = [torch.optim.Adam(dense, lr=1e-3, fused=True)]
    if rows:
        optimizers.append(torch.optim.SparseAdam(rows, lr=1e-3))
    size = torch_ranks.rank_batch_size(options)

    def tokens():
        return torch.randint(4, options.vocab_size, (size, options.length))

    batches = [(tokens(), tokens(), tokens()) for _ in range(BATCHES_PER_RANK)]

    def step(number):
        for optimizer in optimizers:
            optimizer.zero_grad()
        model(*batches[number % BATCHES_PER_RANK]).backward()
        clip(dense, rows)
        for optimizer in optimizers:
            optimizer.step()

    return step


if __name__ == "__main__":
    parser = torch_ranks.parser(__doc__, steps=4, warmup=3)
    parser.add_argument("--architecture", choices=["rnn", "transformer"], default="rnn")
    parser.add_argument("--softmax", choices=["full", "sampled"], default="full")
    parser.add_argument("--samples", type=int, default=512, help="candidates of the sampled softmax")
    parser.add_argument("--rows", choices=["dense", "sparse"], default="dense")
    parser.add_argument("--vocab-size", type=int, default=20000)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--heads", type=int, default=4, help="of each attention of a transformer")
    parser.add_argument("--ffn", type=int, default=1024, help="units of a transformer's feed-forward blocks")
    parser.add_argument("--tied", choices=["none", "all"], default="none", help="embeddings of a transformer")
    parser.add_argument("--length", type=int, default=20, help="tokens of source and of target")
    torch_ranks.main(make_step, parser.parse_args())
