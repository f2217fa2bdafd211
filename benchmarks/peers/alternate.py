"""What the comparisons share: programs that run one short round each in turn, and their ratios.

A shared machine changes its speed from minute to minute. So every program is started once and then
runs one short round in turn, in an order rotated and turned round each time, so that none always
follows the same other; all others are stopped (SIGSTOP) meanwhile. Two ratios are given: of the
medians, and the median of the ratios within each round, which drifts of the machine touch least.
"""

import argparse
import contextlib
import datetime
import importlib.metadata
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import threading

from torch_ranks import proportional_set_size

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = pathlib.Path(__file__).resolve().parent


def peer(script, *arguments):
    """The command of a peer in this folder."""
    return [sys.executable, str(PEERS / script), "--serve", *map(str, arguments)]


def has_flag(command, flag):
    """Whether a command's help names it; peers that follow a program through its versions ask so."""
    told = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout
    return flag in told.split()


class Server:
    """A program that runs one round for each line on its stdin, and is stopped otherwise."""

    def __init__(self, command):
        self.command = command
        # A process group of its own, so that a signal reaches the processes it starts as well.
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1, process_group=0)

    def samples_per_second(self, line):
        return self.answer(line)["samples_per_second"]

    def answer(self, line):
        """All that the program says about one round."""
        self.signal(signal.SIGCONT)
        try:
            self.process.stdin.write(line + "\n")
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            sys.exit(f"exit code {self.process.wait()} from: {' '.join(self.command)}")
        self.signal(signal.SIGSTOP)
        return json.loads(answer)

    def peak_memory(self, line):
        """The largest sum of its processes' PSS in bytes during one round. Libraries' pages count
        in full only while nothing else uses them."""
        peak, over = 0, threading.Event()

        def watch():
            nonlocal peak
            while not over.wait(0.02):
                peak = max(peak, sum(map(memory_of, self.processes())))

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            self.samples_per_second(line)
        finally:  # or the watcher would keep a program alive that has failed or was interrupted
            over.set()
            watcher.join()
        return peak

    def processes(self):
        """All processes of its group."""
        for entry in os.listdir("/proc"):
            with contextlib.suppress(ValueError, ProcessLookupError):
                if os.getpgid(int(entry)) == self.process.pid:
                    yield int(entry)

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.signal(signal.SIGCONT)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            self.process.wait()

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


def memory_of(pid):
    try:
        return proportional_set_size(pid)
    except (FileNotFoundError, ProcessLookupError):
        return 0


def peak_memories(contestants):
    """Bytes of every contestant, one after the other, each alone."""
    memories = {}
    for name, (command, line) in contestants.items():
        server = Server(command)
        try:
            memories[name] = server.peak_memory(line)
        finally:
            server.close()
        print(f"memory of {name}", file=sys.stderr)
    return memories


def alternate(contestants, rounds, measure=Server.samples_per_second):
    """Samples per second of every contestant, one number per round; or what `measure(server, line)`
    gives. `contestants`: the command and the line that starts a round, by name; equal commands are
    one program."""
    with contextlib.ExitStack() as stack:
        servers = {}
        for command, line in contestants.values():
            if tuple(command) not in servers:
                servers[tuple(command)] = Server(command)
                stack.callback(servers[tuple(command)].close)
            servers[tuple(command)].samples_per_second(line)  # warms up
        names = list(contestants)
        rates = {name: [] for name in names}
        for number in range(rounds):
            first = number % len(names)
            order = names[first:] + names[:first]
            for name in order if number % 2 == 0 else reversed(order):
                command, line = contestants[name]
                rates[name].append(measure(servers[tuple(command)], line))
            print(f"round {number + 1}/{rounds}", file=sys.stderr)
        return rates


def ratio(rates, numerator, denominator, target):
    pairs = zip(rates[numerator], rates[denominator])
    return {
        "ratio": f"{numerator} / {denominator}",
        "of_medians": statistics.median(rates[numerator]) / statistics.median(rates[denominator]),
        "median_per_round": statistics.median(above / below for above, below in pairs),
        "target": target,
    }


def machine(*packages):
    """What figures belong to, with the versions of these Python packages."""
    with open("/proc/cpuinfo") as cpuinfo:
        models = [line.split(":", 1)[1].strip() for line in cpuinfo if line.startswith("model name")]
    return {
        "cpu": models[0] if models else "unknown",
        "cores": len(os.sched_getaffinity(0)),
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
    } | {name: importlib.metadata.version(name) for name in packages or ["torch"]}


def print_rates(rates, unit="samples/s"):
    print(f"{unit:<38}{'median':>10}{'min':>10}{'max':>10}")
    for name, values in rates.items():
        print(f"{name:<38}{statistics.median(values):>10.0f}{min(values):>10.0f}{max(values):>10.0f}")


def print_ratios(ratios):
    print(f"\n{'ratio':<38}{'of medians':>10}{'per round':>10}{'target':>10}")
    for row in ratios:
        print("{ratio:<38}{of_medians:>10.3f}{median_per_round:>10.3f}{target:>10.2f}".format(**row))


def parser(description, *, steps=None):
    """The options of every comparison; `steps`: of a round, where there are such."""
    result = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--pagoda", default=str(ROOT / "build/pagoda"), help="the program to measure")
    result.add_argument("--rounds", type=int, default=9)
    if steps:
        result.add_argument("--steps", type=int, default=steps, help="steps per round")
    result.add_argument("--json", action="store_true", help="all numbers, for machines")
    return result
