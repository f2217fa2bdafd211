"""Processes that live long, and what they hold: memory, descriptors, threads. Flat after the warm-up means: in the last
quarter of the time no more than in the second, apart from GROWTH."""
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time

from kinds import WAYS

SAMPLE_SECONDS = 0.5
FEWEST_SAMPLES = 16
WARM_STEPS, FEWEST_STEPS = 50, 300  # with a test and a checkpoint every tenth
GROWTH = {"kilobytes": 16 * 1024, "descriptors": 0, "threads": 0}
FEW_POOLS = {"MALLOC_ARENA_MAX": "2"}  # freed memory that stays in many pools would look like growth for minutes
TRAINED = ("two towers", "cards", "stages", "async")


def holdings(pid):
    """Of a process; None once it has gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            status = dict(line.split(":", 1) for line in file)
        return {"kilobytes": int(status["VmRSS"].split()[0]), "threads": int(status["Threads"]),
                "descriptors": len(os.listdir(f"/proc/{pid}/fd"))}
    except (FileNotFoundError, ProcessLookupError, KeyError):
        return None


def growth(samples):
    """By what is held: how much, and from where."""
    quarter = len(samples) // 4
    found = {}
    for what in GROWTH:
        # The fewest: a thread or file that comes and goes is no leak.
        typical = statistics.median if what == "kilobytes" else min
        second, last = (typical(sample[what] for sample in part)
                        for part in (samples[quarter:2 * quarter], samples[-quarter:]))
        found[what] = (last - second, second)
    return found


def judge(name, samples, findings):
    """A line about it."""
    if len(samples) < FEWEST_SAMPLES:
        return f"{name}: too short to tell, {len(samples)} samples"
    grown = growth(samples)
    for what, (more, before) in grown.items():
        if more > GROWTH[what]:
            findings.add(f"{name}: {what} grew from {before} to {before + more} between the second and the last quarter")
    return f"{name}: " + ", ".join(f"{before} {what} ({more:+})" for what, (more, before) in grown.items())


def watch_trainings(program, root, deadline, findings):
    """Long runs that log, test and save all the time, one after another."""
    images = root / "input" / "images"
    text = ("train", "seq2seq", "--pairs", root / "input" / "pairs.tsv", "--tokenizer", "words", "--vocab-size", 30,
            "--embedding", 8, "--hidden", 8, "--batch-size", 4, "--bleu-pairs", 2)
    commands = {f"lenet5 on {name}": ("train", "lenet5", "--data", images, "--batch-size", 2, *WAYS[name])
                for name in TRAINED}
    commands["seq2seq on two towers"] = (*text, *WAYS["two towers"])
    for left, (name, command) in zip(range(len(commands), 0, -1), commands.items()):
        now = time.monotonic()
        out = root / f"long {name}"
        often = ("--max-steps", 10**9, "--log-every", 1, "--valid-every", 10, "--save-every", 10, "--histograms")
        yield watch_training(f"long training, {name}", [program, *command, *often, "--out", out], out,
                             now + (deadline - now) / left, findings)


def watch_training(name, command, out, deadline, findings):
    """Samples from the step on at which it is warm, until it is told to stop."""
    samples, step = [], 0
    with tempfile.TemporaryFile() as stderr:
        with subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=stderr, env=os.environ | FEW_POOLS) as process:
            while process.poll() is None and time.monotonic() < deadline:
                step = max(step, newest_step(out))
                held = holdings(process.pid)
                samples += [held] if held and step >= WARM_STEPS else []
                time.sleep(SAMPLE_SECONDS)
            process.terminate()
        stderr.seek(0)
        last_words = stderr.read()[-300:]
    if process.returncode not in (128 + signal.SIGTERM, -signal.SIGTERM):  # the latter before it trains
        findings.add(f"{name}: ended with {process.returncode}: {last_words}")
    return judge(f"{name}, {step} steps", samples if step >= FEWEST_STEPS else [], findings)


def newest_step(out):
    saved = (re.fullmatch(r"step-(\d+)\.pt", path.name) for path in out.glob("checkpoints/*"))
    return max((int(found[1]) for found in saved if found), default=0)


def watch_lifetimes(program, deadline, findings):
    ending = subprocess.run([program, str(deadline - time.monotonic())], capture_output=True, text=True, check=False)
    if ending.returncode != 0:
        reason = signal.Signals(-ending.returncode).name if ending.returncode < 0 else ending.returncode
        findings.add(f"lifetimes ended with {reason}: {ending.stderr[-500:]}")
    rounds = [list(map(int, line.split()))[1:] for line in ending.stdout.splitlines()]
    samples = [dict(zip(("kilobytes", "descriptors", "threads"), values)) for values in rounds]
    return judge(f"lifetimes, {len(rounds)} rounds", samples, findings)
