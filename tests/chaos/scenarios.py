"""The small runs that the machines disturb, and what counts as their result."""
import dataclasses
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "app"))
sys.path.insert(0, str(HERE.parent / "tools"))


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    command: tuple  # the program's arguments, or those of Python
    before: tuple = ()  # commands that make what the command finds
    files_before: dict = dataclasses.field(default_factory=dict)
    program: str = "pagoda"
    replaced: str = ""  # a file that must always hold what it held, or the command's result
    keeps_progress: bool = False  # a finished checkpoint is gone on from

    def __str__(self):
        return self.name


def make_input(directory):
    """The data that the scenarios read; nothing may change it."""
    from cifar10_archives import OFFICIAL
    from program import image_records
    images = directory / "images"
    images.mkdir(parents=True)
    for number in range(1, 6):
        (images / f"data_batch_{number}.bin").write_bytes(image_records(2))
    (images / "test_batch.bin").write_bytes(image_records(3))
    (directory / "cifar10.tar.gz").write_bytes(OFFICIAL)
    (directory / "pairs.tsv").write_text("".join(f"{i} a b\tb a {i}\n" for i in range(40)))


def small_cifar10():
    """What is expected of the small archive, in the form that small_cifar10.py takes."""
    from cifar10_archives import SMALL
    return json.dumps(dataclasses.asdict(SMALL))


def all_scenarios(data):
    """By name. The runs improve at first, so that best.pt changes, and then do not."""
    lenet5 = ("train", "lenet5", "--data", data / "images", "--batch-size", 2, "--devices", 1, "--optimizer", "sgd",
              "--ema", 0, "--save-every", 1, "--valid-every", 1, "--log-every", 1, "--keep-last", 2,
              "--log-format", "json", "--out", "out")
    seq2seq = ("train", "seq2seq", "--pairs", data / "pairs.tsv", "--tokenizer", "words", "--vocab-size", 30,
               "--embedding", 4, "--hidden", 4, "--batch-size", 4, "--bleu-pairs", 2, "--valid-every", 1,
               "--save-every", 1, "--log-every", 1, "--keep-last", 2, "--devices", 1, "--optimizer", "sgd",
               "--log-format", "json", "--out", "out")
    old = {"model.pt": b"what was there before"}
    found = [
        Scenario("train", (*lenet5, "--max-steps", 3), keeps_progress=True),
        Scenario("resume", (*lenet5, "--max-steps", 3), before=((*lenet5, "--max-steps", 2),), keeps_progress=True),
        Scenario("overwrite", (*lenet5, "--max-steps", 2, "--overwrite"),
                 before=((*lenet5, "--max-steps", 2, "--seed", 7),)),
        Scenario("seq2seq", (*seq2seq, "--max-steps", 3), keeps_progress=True),
        Scenario("seq2seq-resume", (*seq2seq, "--max-steps", 3), before=((*seq2seq, "--max-steps", 2),),
                 keeps_progress=True),
        Scenario("seq2seq-overwrite", (*seq2seq, "--max-steps", 2, "--overwrite"),
                 before=((*seq2seq, "--max-steps", 2, "--seed", 7),)),
        Scenario("export", ("export", "out", "model.pt", "--best"), before=((*seq2seq, "--max-steps", 1),),
                 files_before=old, replaced="model.pt"),
        Scenario("average", ("average", "out", "model.pt", "--last", 2), before=((*seq2seq, "--max-steps", 2),),
                 files_before=old, replaced="model.pt"),
        Scenario("data", ("-B", HERE / "small_cifar10.py", small_cifar10(), "--dir", "cifar", "--archive",
                          data / "cifar10.tar.gz"),
                 files_before={"cifar/test_batch.bin": b"damaged"}, program="python"),
    ]
    return {scenario.name: scenario for scenario in found}


# What tells of times, memory and processes, and what every start adds to, differs between two runs.
NOT_COMPARED = re.compile(r"out/(\.lock|train\.log|events/events\..*)")
TIMES_AND_MEMORY = re.compile(rb"\t(\S*_per_second|memory/\S*)\t")


def result_of(state):
    """Of a finished command: what every path must hold, None for directories."""
    found = {path: content and content() for path, content in state.items() if not NOT_COMPARED.fullmatch(path)}
    if "out/metrics.tsv" in found:
        lines = found["out/metrics.tsv"].splitlines(keepends=True)
        found["out/metrics.tsv"] = b"".join(line for line in lines if not TIMES_AND_MEMORY.search(line))
    return found


def differences(found, expected):
    """Each in a few words."""
    for path in sorted(found.keys() | expected.keys()):
        if path not in expected:
            yield f"{path} is left over"
        elif path not in found:
            yield f"{path} is missing"
        elif found[path] != expected[path]:
            yield f"{path} differs"


def newest_step(state):
    """The step of the newest checkpoint in a state; 0 without one."""
    steps = [re.fullmatch(r"out/checkpoints/step-(\d+)\.pt", path) for path in state]
    return max((int(step[1]) for step in steps if step), default=0)
