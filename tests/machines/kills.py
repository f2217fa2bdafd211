#!/usr/bin/env python3
"""Kills processes of trainings under torchrun at random moments; each training must end in the bits of one that nobody
disturbed, and leave no process behind.

    make machines KILLS=50                     or, after a build:
    PAGODA_PROGRAM=build/pagoda .venv/bin/python tests/machines/kills.py --kills 50 [--seed 7] [--keep DIR]

A life is one training of 2 to 4 ranks, started with as many restarts as it is killed, so that a failure of any other
cause ends it and is found. Victims are ranks, rank 0 among them, and torchrun itself, which serves the store that ranks
find each other in; then its ranks must end by themselves, and the same command is given again.
"""
import argparse
import collections
import ctypes
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

from results import result_of

PROGRAM = os.path.abspath(os.environ["PAGODA_PROGRAM"])
TORCHRUN = pathlib.Path(sys.executable).with_name("torchrun")
RUN = ["train", "lenet5", "--batch-size", 4, "--max-steps", 30, "--save-every", 4, "--valid-every", 10, "--log-every", 1,
       "--ema", 0.9, "--devices", 1, "--step-timeout", 20, "--join-timeout", 40]
MOST_KILLS = 8  # of a life
LIFE_SECONDS = 300  # ten times as long as it takes: others may need the machine, too
ORPHAN_SECONDS = 100  # more than they wait for a store that is gone
PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans():
    """Processes whose parent was killed become this one's children, so that none is lost sight of."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(pid):
    """Numbers and states of all processes below one."""
    children = collections.defaultdict(list)
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = entry.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it has ended meanwhile
            continue
        children[int(parent)].append((int(entry.parent.name), state))
    found, waiting = {}, [pid]
    while waiting:
        for child, state in children[waiting.pop()]:
            found[child] = state
            waiting.append(child)
    return found


def rank_of(pid):
    """None where the process is none, or has ended."""
    try:
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        if os.path.realpath(f"/proc/{pid}/exe") != os.path.realpath(PROGRAM):
            return None
    except OSError:
        return None
    found = re.search(rb"(?:^|\0)RANK=(\d+)", environment)
    return int(found[1]) if found else None


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Life:
    """One training in a directory, through all its starts."""

    def __init__(self, size, directory, restarts, choice):
        self.size, self.directory, self.restarts, self.choice = size, directory, restarts, choice
        self.log = directory.with_suffix(".log")
        self.start()

    def start(self):
        command = [TORCHRUN, "--no-python", "--nproc-per-node", self.size, "--max-restarts", self.restarts,
                   "--master-port", free_port(), PROGRAM, *RUN, "--out", self.directory]
        with open(self.log, "a") as log:
            self.agent = subprocess.Popen([*map(str, command)], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.started = time.monotonic()

    def ranks(self):
        """Rank by process."""
        found = {pid: rank_of(pid) for pid in descendants(self.agent.pid)}
        return {pid: rank for pid, rank in found.items() if rank is not None}

    def wait(self, seconds):
        """Whether it has ended by then."""
        try:
            self.agent.wait(timeout=max(0, seconds))
            return True
        except subprocess.TimeoutExpired:
            return False

    def kill_one(self):
        """Of the ranks, or torchrun; says whom. Nobody when all have ended."""
        while self.agent.poll() is None:
            ranks = self.ranks()
            if not ranks:
                time.sleep(0.01)
                continue
            if self.choice.random() < 0.15:
                return self.kill_agent()
            pid = self.choice.choice(sorted(ranks))
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            return f"rank {ranks[pid]}"
        return None

    def kill_agent(self):
        orphans = list(self.ranks())
        self.agent.kill()
        self.agent.wait()
        end = time.monotonic() + ORPHAN_SECONDS
        while any(rank_of(pid) is not None for pid in orphans):
            if time.monotonic() > end:
                raise AssertionError(f"ranks go on {ORPHAN_SECONDS} s after torchrun was killed")
            time.sleep(0.05)
        self.reap()
        self.start()
        return "torchrun"

    @staticmethod
    def reap():
        """Those of this process's children that were orphans and have ended."""
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            pass


class Kills:
    def __init__(self, root, seed):
        self.root, self.seed = root, seed
        self.references = {}
        self.counts = collections.Counter()
        self.findings = []

    def run(self, kills):
        number = 0
        while self.counts["kills"] < kills:
            choice = random.Random(f"{self.seed} {number}")
            size = choice.randint(2, 4)
            self.live(f"life {number} of {size} ranks", size, choice,
                      min(choice.randint(3, MOST_KILLS), kills - self.counts["kills"]))
            number += 1

    def reference(self, size):
        """Of a run that nobody disturbs: how long it takes, and its result."""
        if size not in self.references:
            life = Life(size, self.root / f"reference-{size}", 0, None)
            if not life.wait(LIFE_SECONDS) or life.agent.returncode != 0:
                sys.exit(f"an undisturbed run of {size} ranks failed: {life.log.read_text()[-2000:]}")
            self.references[size] = (time.monotonic() - life.started, result_of(life.directory))
        return self.references[size]

    def live(self, name, size, choice, kills):
        seconds, expected = self.reference(size)
        life = Life(size, self.root / name.replace(" ", "-"), kills, choice)
        begin = time.monotonic()
        whom = []
        for _ in range(kills):
            if life.wait(choice.uniform(0, seconds)):
                break
            try:
                victim = life.kill_one()
            except AssertionError as problem:
                self.findings.append(f"{name}, after {whom}: {problem}")
                break
            if victim is None:
                break
            whom.append(victim)
            self.counts["kills"] += 1
            self.counts[victim] += 1
        problems = self.ending(life, expected, begin)
        self.findings += [f"{name}, killed {whom}: {problem}; see {life.log}" for problem in problems]
        self.counts["lives"] += 1
        print(f"{name}: killed {', '.join(whom) or 'nobody'}; {time.monotonic() - begin:.0f} s; "
              f"{'; '.join(problems) or 'the same bits'}", flush=True)

    def ending(self, life, expected, begin):
        """What is wrong with how a life ends."""
        problems = []
        if not life.wait(begin + LIFE_SECONDS - time.monotonic()):
            problems.append(f"has not ended after {LIFE_SECONDS} s")
        elif life.agent.returncode != 0:
            problems.append(f"torchrun ended with {life.agent.returncode}")
        else:
            found = result_of(life.directory)
            problems += [f"{file} differs" for file in found.keys() | expected.keys()
                         if found.get(file) != expected.get(file)]
        if life.agent.poll() is not None:
            life.reap()
        left = {pid: state for pid, state in descendants(os.getpid()).items() if pid != life.agent.pid}
        if left:
            problems.append(f"left behind: {left}")
        for pid in [*left, *([life.agent.pid] if life.agent.poll() is None else [])]:
            os.kill(pid, signal.SIGKILL)
        life.agent.wait()
        life.reap()
        return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", type=pathlib.Path, help="where to put the runs, and leave them")
    options = parser.parse_args()
    if not TORCHRUN.exists():
        print(f"no kills: there is no {TORCHRUN}")
        return 0
    print(f"seed {options.seed}", flush=True)
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="pagoda-kills-") as scratch:
        root = options.keep or pathlib.Path(scratch)
        root.mkdir(parents=True, exist_ok=True)
        kills = Kills(root, options.seed)
        kills.run(options.kills)
    print(", ".join(f"{name}: {count}" for name, count in sorted(kills.counts.items())))
    for finding in kills.findings:
        print("FOUND:", finding)
    return 1 if kills.findings else 0


if __name__ == "__main__":
    sys.exit(main())
