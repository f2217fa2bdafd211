#!/usr/bin/env python3
"""Trains, kills, resumes, translates, averages, exports and tests in a random order for a long time, on all kinds of
devices, and sees that bits, memory, descriptors and threads stay what they are.

    make soak HOURS=1                                     or, after a build:
    PAGODA_PROGRAM=build/pagoda PAGODA_LIFETIMES=build/tests/lifetimes tests/soak/soak.py --hours 0.1 [--seed 7]

Side by side, until the time is over: lives of runs (lives.py), long trainings one after another, and a process that
builds and destroys towers, steps, loaders and stores (lifetimes.cpp); the latter two are watched (watched.py). The seed
decides what is done when; moments of kills are times, so a repetition meets other calls of the program.
"""
import argparse
import os
import pathlib
import random
import sys
import tempfile
import threading
import time
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "chaos"))
from lives import Lives
from scenarios import make_input
from watched import watch_lifetimes, watch_trainings


class Findings:
    """Threads: any."""

    def __init__(self):
        self.lines = []
        self.lock = threading.Lock()

    def add(self, line):
        with self.lock:
            self.lines.append(line)
            print(f"WRONG: {line}", flush=True)


def guarded(findings, part):
    """A part that breaks is a finding, too."""
    def run():
        try:
            part()
        except Exception:
            findings.add(traceback.format_exc())

    return threading.Thread(target=run)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hours", type=float, default=1)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    program, lifetimes = (os.path.abspath(os.environ[name]) for name in ("PAGODA_PROGRAM", "PAGODA_LIFETIMES"))
    print(f"{options.hours} hours with --seed {options.seed}", flush=True)
    findings, deadline = Findings(), time.monotonic() + 3600 * options.hours
    with tempfile.TemporaryDirectory(prefix="pagoda-soak-") as name:
        root = pathlib.Path(name)
        make_input(root / "input")
        lives = Lives(program, root, options.seed, findings)
        summaries = []
        parts = [guarded(findings, part) for part in (
            lambda: lives.run(deadline),
            lambda: summaries.extend(watch_trainings(program, root, deadline, findings)),
            lambda: summaries.append(watch_lifetimes(lifetimes, deadline, findings)))]
        for part in parts:
            part.start()
        for part in parts:
            part.join()
    print(lives.summary(), *summaries, sep="\n")
    print(f"{len(findings.lines)} findings")
    return 1 if findings.lines else 0


if __name__ == "__main__":
    sys.exit(main())
