#!/usr/bin/env python3
"""Runs the fuzzers that `make fuzz` has built, and shows what they reached.

    tests/fuzz/fuzz.py [--reader NAME] [--seconds 60] [--jobs 2] [--build build-fuzz]

Each reader gets so many seconds of computing. What is new goes on from run to run in
build-fuzz/corpus/<reader>/; an input that crashes, hangs or takes absurd memory is kept in
build-fuzz/findings/<reader>/, and the exit code is then 1.
"""
import argparse
import os
import re
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MOST_MEMORY_MB = 2048
MOST_SECONDS = 25  # for one input, on a busy machine
COLUMNS = ["reader", "CPU seconds", "executions", "per second", "edges", "features", "inputs", "findings"]


def readers():
    return sorted(file.stem.removesuffix("_fuzz") for file in HERE.glob("*_fuzz.cpp"))


class Fuzzer:
    """One reader's program and the folders that it works in."""

    def __init__(self, reader, build, scratch):
        self.reader = reader
        self.program = build / "tests" / "fuzz" / f"{reader}_fuzz"
        self.corpus = build / "corpus" / reader
        self.findings = build / "findings" / reader
        self.log = build / "logs" / f"{reader}.log"
        self.scratch = scratch
        self.seconds = self.executions = 0
        self.output = ""
        self.found = []
        for folder in [self.corpus, self.findings, self.log.parent]:
            folder.mkdir(parents=True, exist_ok=True)

    def run(self, seconds):
        """Until so many seconds were computed, or something is found: libFuzzer itself goes by the clock."""
        with self.log.open("wb") as log:
            is_well = True
            while is_well and self.seconds < seconds:
                is_well = self.run_for(max(1, round(seconds - self.seconds)), log)
        self.output = self.log.read_text(encoding="utf-8", errors="replace")
        self.executions = sum(map(int, re.findall(r"stat::number_of_executed_units:\s*(\d+)", self.output)))
        self.found = re.findall(r"Test unit written to (\S+)", self.output)
        if not is_well and not self.found:
            raise SystemExit(f"fuzz: {self.program} failed without a finding; see {self.log}")
        return self

    def run_for(self, seconds, log):
        command = [self.program, f"-max_total_time={seconds}", f"-rss_limit_mb={MOST_MEMORY_MB}",
                   f"-timeout={MOST_SECONDS}", f"-report_slow_units={MOST_SECONDS}", "-print_final_stats=1",
                   "-use_value_profile=1", "-len_control=10", f"-artifact_prefix={self.findings}/", self.corpus,
                   HERE / "corpus" / self.reader]
        stored = HERE / "found" / self.reader
        if stored.is_dir():
            command.append(stored)
        environment = dict(os.environ, TMPDIR=self.scratch, UBSAN_OPTIONS="print_stacktrace=1")
        log.flush()
        child = os.posix_spawn(command[0], list(map(str, command)), environment,
                               file_actions=[(os.POSIX_SPAWN_DUP2, log.fileno(), 1),
                                             (os.POSIX_SPAWN_DUP2, log.fileno(), 2)])
        status, usage = os.wait4(child, 0)[1:]
        self.seconds += usage.ru_utime + usage.ru_stime
        return status == 0

    def row(self):
        state = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", self.output)
        edges, features, inputs = state[-1] if state else ("-", "-", "-")
        rate = round(self.executions / self.seconds) if self.seconds else 0
        return [self.reader, f"{self.seconds:.0f}", f"{self.executions:,}", f"{rate:,}", edges, features, inputs,
                str(len(self.found))]


def table(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append("| " + " | ".join(cells) + " |")
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--reader", choices=readers(), help="this one alone (default: all)")
    parser.add_argument("--seconds", type=float, default=60, help="of computing, for each reader")
    parser.add_argument("--jobs", type=int, default=2, help="readers at a time")
    parser.add_argument("--build", type=Path, default=ROOT / "build-fuzz")
    options = parser.parse_args()
    memory = Path("/dev/shm")  # inputs are files to the readers: rather not on a disk
    scratch = tempfile.mkdtemp(prefix="pagoda-fuzz-", dir=memory if os.access(memory, os.W_OK) else None)
    try:
        fuzzers = [Fuzzer(reader, options.build.resolve(), scratch)
                   for reader in ([options.reader] if options.reader else readers())]
        with ThreadPoolExecutor(options.jobs) as pool:
            done = []
            for fuzzer in pool.map(lambda each: each.run(options.seconds), fuzzers):
                print(f"fuzz: {fuzzer.reader}: {fuzzer.executions:,} executions, {len(fuzzer.found)} findings",
                      flush=True)
                done.append(fuzzer)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(table([COLUMNS] + [fuzzer.row() for fuzzer in done]))
    for fuzzer in done:
        for file in fuzzer.found:
            print(f"fuzz: {fuzzer.reader}: {file}, why: {fuzzer.log}", file=sys.stderr)
    return 1 if any(fuzzer.found for fuzzer in done) else 0


if __name__ == "__main__":
    sys.exit(main())
