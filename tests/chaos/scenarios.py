"""The small runs that the machines disturb, and what counts as their result."""
import dataclasses
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "app"))
sys.path.insert(0, str(HERE.parent / "tools"))


KINDS = ("kill", "power", "change", "look", "thread", "memory")


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    command: tuple  # the program's arguments, or those of Python
    again: tuple = ()  # the command after a disturbance, where it is not the same
    before: tuple = ()  # commands that make what the command finds
    files_before: dict = dataclasses.field(default_factory=dict)
    cut_before: tuple = ()  # of what those commands have made, files that lose their second half
    program: str = "pagoda"
    replaced: str = ""  # a file that must always hold what it held, or the command's result
    keeps_progress: bool = False  # a finished checkpoint is gone on from
    stdin: object = "/dev/null"
    prints_result: bool = False  # on stdout
    kinds: tuple = KINDS  # of points

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
    (directory / "lines.txt").write_text("1 a b\n\n2 a b\n")
    (directory / "two.toml").write_text('devices = "2"\nparameters = "mirrored"\n')


def small_cifar10():
    """What is expected of the small archive, in the form that small_cifar10.py takes."""
    from cifar10_archives import SMALL
    return json.dumps(dataclasses.asdict(SMALL))


def all_scenarios(data):
    """By name. The runs improve at first, so that best.pt changes, and then do not."""
    found = [*image_runs(data), *text_runs(data), *other_ways(data), *files_of_runs(data), *other_commands(data)]
    return {scenario.name: scenario for scenario in found}


def lenet5(data, *options):
    return ("train", "lenet5", "--data", data / "images", "--batch-size", 2, "--optimizer", "sgd", "--ema", 0,
            "--log-every", 1, "--log-format", "json", *options)


def each_step(*options):
    """Of a run that writes as often as it can."""
    return ("--devices", 1, "--save-every", 1, "--valid-every", 1, "--keep-last", 2, "--out", "out", *options)


def seq2seq(data, *options):
    return ("train", "seq2seq", "--pairs", data / "pairs.tsv", "--embedding", 4, "--hidden", 4, "--batch-size", 4,
            "--bleu-pairs", 2, "--optimizer", "sgd", "--log-every", 1, "--log-format", "json", *each_step(*options))


WORDS = ("--tokenizer", "words", "--vocab-size", 30)


def image_runs(data):
    def run(steps, *options):
        return lenet5(data, *each_step("--max-steps", steps, *options))

    return [Scenario("train", run(3), keeps_progress=True),
            Scenario("resume", run(3), before=(run(2),), keeps_progress=True),
            Scenario("stopped", run(2), before=(run(2, "--max-time", 1e-9),), keeps_progress=True),
            Scenario("damaged", run(3), before=(run(2),),
                     cut_before=("out/checkpoints/step-0000000002.pt", "out/checkpoints/best.pt")),
            Scenario("overwrite", run(2, "--overwrite"), before=(run(2, "--seed", 7),))]


def text_runs(data):
    def run(steps, *options):
        return seq2seq(data, *WORDS, "--max-steps", steps, *options)

    return [Scenario("seq2seq", run(3), keeps_progress=True),
            Scenario("seq2seq-resume", run(3), before=(run(2),), keeps_progress=True),
            Scenario("seq2seq-overwrite", run(2, "--overwrite"), before=(run(2, "--seed", 7),)),
            Scenario("seq2seq-overwrite-resume", run(1, "--overwrite"), again=run(1), before=(run(1),)),
            Scenario("sentencepiece", seq2seq(data, "--tokenizer", "sentencepiece", "--vocab-size", 26,
                                              "--joint-vocabulary", "--max-steps", 1), keeps_progress=True)]


def other_ways(data):
    """Runs that write nothing new, but have other threads and other memory."""
    def run(*options):
        return lenet5(data, "--max-steps", 2, "--out", "out", *options)

    kinds = ("thread", "memory")
    return [Scenario("two-towers", run("--config", data / "two.toml"), kinds=kinds),
            Scenario("cards", run("--devices", "sim:2"), kinds=kinds),
            Scenario("async", run("--devices", 1, "--update", "async"), kinds=kinds),
            Scenario("stages", run("--devices", 2, "--stages", 2, "--micro-batches", 2), kinds=kinds),
            Scenario("transformer", seq2seq(data, *WORDS, "--architecture", "transformer", "--layers", 1, "--heads", 2,
                                            "--ffn", 8, "--max-steps", 2), kinds=kinds)]


def files_of_runs(data):
    """Commands that read a run and write a file."""
    def run(steps):
        return seq2seq(data, *WORDS, "--max-steps", steps)

    old = b"what was there before"
    return [Scenario("export", ("export", "out", "model.pt", "--best"), before=(run(1),),
                     files_before={"model.pt": old}, replaced="model.pt"),
            Scenario("average", ("average", "out", "model.safetensors", "--last", 2), before=(run(2),),
                     files_before={"model.safetensors": old}, replaced="model.safetensors"),
            Scenario("translate", ("translate", "out", "--devices", 1, "--attention", "attention.jsonl"),
                     before=(run(1),), files_before={"attention.jsonl": old}, replaced="attention.jsonl",
                     stdin=data / "lines.txt", prints_result=True),
            Scenario("shortlist", ("translate", "out", "--devices", 1, "--shortlist", 5), before=(run(1),),
                     stdin=data / "lines.txt", prints_result=True)]


def other_commands(data):
    return [Scenario("eval", ("eval", "out", "--devices", 1, "--json"),
                     before=(lenet5(data, "--max-steps", 1, "--devices", 1, "--out", "out"),), prints_result=True),
            Scenario("trace", lenet5(data, "--max-steps", 2, "--devices", 1, "--trace", "trace.json", "--trace-steps",
                                     "2:2"), files_before={"trace.json": b"{}"}, replaced="trace.json"),
            Scenario("data", ("-B", HERE / "small_cifar10.py", small_cifar10(), "--dir", "cifar", "--archive",
                              data / "cifar10.tar.gz"),
                     files_before={"cifar/test_batch.bin": b"damaged"}, program="python")]


# What tells of times, memory and processes, and what every start adds to, differs between two runs.
NOT_COMPARED = re.compile(r"out/(\.lock|train\.log|events/events\..*)")
TIMES_AND_MEMORY = re.compile(rb"\t(\S*_per_second|memory/\S*)\t")


STDOUT = "what was printed"


def comparable(path, content):
    """What of a finished file must be the same each time."""
    if path == "out/metrics.tsv":
        lines = content.splitlines(keepends=True)
        return b"".join(line for line in lines if not TIMES_AND_MEMORY.search(line))
    if path == "trace.json":
        return b"a whole trace" if is_trace(content) else content
    return content


def is_trace(content):
    try:
        return bool(json.loads(content)["traceEvents"])
    except (ValueError, KeyError):
        return False


def result_of(state, stdout=None):
    """Of a finished command: what every path must hold, None for directories."""
    found = {path: content and comparable(path, content()) for path, content in state.items()
             if not NOT_COMPARED.fullmatch(path)}
    return found if stdout is None else found | {STDOUT: stdout}


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
    steps = [re.fullmatch(r"out/checkpoints/step-(\d+)(\.stopped)?\.pt", path) for path in state]
    return max((int(step[1]) for step in steps if step), default=0)
