"""The kinds of runs that are soaked: models, devices, placements and updates."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Use:
    """A command that reads a run."""
    command: tuple
    stdin: object = None
    from_step: int = 1  # of the newest checkpoint: then it must work


@dataclasses.dataclass(frozen=True)
class Kind:
    name: str
    train: tuple
    uses: dict
    is_exact: bool = True  # the same bits each time


# Devices and what they do, for both models; asynchronous updates depend on who is first.
WAYS = {"one tower": ("--devices", 1),
        "two towers": ("--devices", 2, "--parameters", "shared"),
        "mirrored": ("--devices", 2, "--parameters", "mirrored"),
        "host": ("--devices", 2, "--parameters", "host"),
        "spread": ("--devices", 2, "--parameters", "spread"),
        "cards": ("--devices", "sim:3", "--parameters", "mirrored"),
        "cards, host": ("--devices", "sim:2", "--parameters", "host"),
        "cards, spread": ("--devices", "sim:2", "--parameters", "spread"),
        "stages": ("--devices", 2, "--stages", 2, "--micro-batches", 2),
        "stages on cards": ("--devices", "sim:4", "--stages", 2, "--micro-batches", 2),
        "async": ("--devices", 2, "--update", "async"),
        "async on cards": ("--devices", "sim:2", "--update", "async", "--max-staleness", 2)}
OFTEN = ("--out", "out", "--log-format", "json", "--log-every", 3, "--save-every", 4, "--valid-every", 5, "--keep-last", 2)


def all_kinds(data):
    uses = {"export": Use(("export", "out", "output/model.pt")),
            "export the best": Use(("export", "out", "output/best.pt", "--best"), from_step=5),
            "average": Use(("average", "out", "output/average.pt", "--last", 2), from_step=8)}
    lenet5 = ("train", "lenet5", "--data", data / "images", "--batch-size", 2, "--max-steps", 40, "--loader-threads", 2)
    eval_run = {"eval": Use(("eval", "out", "--devices", 1, "--json"))}
    seq2seq = ("train", "seq2seq", "--pairs", data / "pairs.tsv", "--tokenizer", "words", "--vocab-size", 30,
               "--embedding", 8, "--hidden", 8, "--layers", 2, "--batch-size", 4, "--bleu-pairs", 2, "--max-steps", 40)
    transformer = (*seq2seq, "--architecture", "transformer", "--heads", 2, "--ffn", 16)
    translate = {"translate": Use(("translate", "out", "--devices", 1, "--attention", "output/attention.jsonl"),
                                  stdin=data / "lines.txt")}
    models = {"lenet5": (lenet5, eval_run), "seq2seq": (seq2seq, translate), "transformer": (transformer, translate)}
    return [Kind(f"{model} on {name}", (*command, *OFTEN, *way), uses | reads, is_exact="async" not in name)
            for model, (command, reads) in models.items() for name, way in WAYS.items()]
