#!/usr/bin/env python3
"""Disturbs small runs of the program at every point, and sees that nothing is lost: crash points and failing calls.

    make chaos                                       everything; or, after a build:
    PAGODA_PROGRAM=build/pagoda PAGODA_CHAOS_LIBRARY=build/tests/libchaos_calls.so tests/chaos/chaos.py [OPTIONS]

A scenario (scenarios.py) is a command that is run undisturbed first. Then, for each of its points (points.py), it is
run and killed or made to fail there, or what a power cut leaves is laid out; then it is run again without faults, and
must end in the same bits, with nothing left over, from the newest checkpoint on. A run that a failing call did not end
must have the right result; one that was ended says why in one line. A finding begins with the options that repeat it.
"""
import argparse
import collections
import concurrent.futures
import copy
import dataclasses
import os
import pathlib
import queue
import sys
import tempfile
import threading
import time
import zlib

sys.dont_write_bytecode = True
import points
from call_record import without_numbers
from crash_states import FileSystem
from disturbance import disturb
from scenarios import all_scenarios, differences, make_input, result_of
from workplace import Workplace

MACHINES = ("kill", "power", "fail")


class Bench:
    """Workplaces side by side."""

    def __init__(self, root, jobs, scenarios=all_scenarios):
        program, library = (os.path.abspath(os.environ[name]) for name in ("PAGODA_PROGRAM", "PAGODA_CHAOS_LIBRARY"))
        make_input(root / "input")
        self.scenarios = scenarios(root / "input")
        self.free = queue.Queue()
        for number in range(jobs):
            self.free.put(Workplace(root / f"place-{number}", root / "input", program, library))
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.waiting = threading.Semaphore(2 * jobs)  # points in memory

    def close(self):
        self.pool.shutdown()
        while not self.free.empty():
            self.free.get().close()

    def run(self, scenario, machines, choice):
        """(point, problem) for every point that is chosen; the problem is None where all is well."""
        workplace = self.free.get()
        try:
            start, expected = undisturbed(workplace, scenario)
            system, records = recorded(workplace, scenario, start)
        finally:
            self.free.put(workplace)
        futures = []
        chosen = choice.texts(points_of(scenario, machines, copy.deepcopy(system), records))
        for point in points_of(scenario, machines, system, records):
            if point.text in chosen:
                self.waiting.acquire()
                state = points.in_memory(point.state) if point.state is not None else None
                futures.append(self.pool.submit(self.judge, start, expected, dataclasses.replace(point, state=state)))
        return [future.result() for future in futures]

    def judge(self, start, expected, point):
        workplace = self.free.get()
        try:
            problem = disturb(workplace, point.scenario, start, expected, point)
            return dataclasses.replace(point, state=None), problem
        finally:
            self.free.put(workplace)
            self.waiting.release()


def undisturbed(workplace, scenario):
    """What the command finds, and its result."""
    workplace.fill({})
    for path, content in scenario.files_before.items():
        (workplace.state / path).parent.mkdir(exist_ok=True)
        (workplace.state / path).write_bytes(content)
    for command in scenario.before:
        finished(workplace.run(scenario, command))
    for path in scenario.cut_before:
        os.truncate(workplace.state / path, (workplace.state / path).stat().st_size // 2)
    start = workplace.held()
    ending = finished(workplace.run(scenario))
    return start, result_of(workplace.held(), ending.stdout)


def recorded(workplace, scenario, start):
    """What the command finds, as the model has it, and all calls of an undisturbed run."""
    workplace.fill(start)
    system = FileSystem(workplace.state)
    records = finished(workplace.run(scenario, log_data=1, bytes=points.LARGE_BYTES)).records
    again = copy.deepcopy(system)
    for record in records:
        again.apply(record)
    held = {path: content and content() for path, content in again.state("kill")[0].items()}
    unseen = list(differences(held, {path: content and content() for path, content in workplace.held().items()}))
    if unseen:
        raise SystemExit(f"{scenario}: changes that the library did not see: {', '.join(unseen)}")
    return system, records


def finished(ending):
    if ending.code != 0:
        raise SystemExit(f"an undisturbed run ended with {ending.code}: {ending.stderr}")
    return ending


def points_of(scenario, machines, system, records):
    return (point for point in all_points(scenario, machines, system, records) if point.kind in scenario.kinds)


def all_points(scenario, machines, system, records):
    if "kill" in machines:
        yield from points.kills(scenario, records)
    if "fail" in machines:
        yield from points.failing_calls(scenario, records)
    if "power" in machines:
        yield from points.power_cuts(scenario, system, records)


class Choice:
    """Which points to try: all, those that are named, one of each place, or a sample that is the same every time."""

    def __init__(self, names=(), is_distinct=False, sample=None):
        """`sample`: so many of each scenario and kind, at different places."""
        self.names, self.is_distinct, self.sample = names, is_distinct or sample, sample

    def texts(self, points):
        """Of those to try."""
        places = {}
        for point in points:
            places.setdefault(point.place if self.is_distinct else point.text, point)
        chosen = collections.defaultdict(list)
        for place, point in sorted(places.items(), key=lambda entry: zlib.crc32(repr(entry[0]).encode())):
            if point.text in self.names or not self.names:
                chosen[point.kind].append(point.text)
        return {text for texts in chosen.values() for text in texts[:self.sample]}


def report(judged):
    """A line for every kind of finding: what is wrong, where first, and which other points show it."""
    groups = collections.defaultdict(list)
    for point, problem in judged:
        if problem:
            groups[point.kind, without_numbers(problem)].append((point, problem))
    for found in groups.values():
        point, problem = found[0]
        where = f"{point.call.name} {point.call.names()}".strip() if point.call else "after all changes"
        others = [other.text for other, _ in found[1:]]
        shown = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        print(f"  --scenario {point.scenario} --only {point.text} ({where}): {problem}"
              + (f"; the same at {shown}" if others else ""))


def count_by_kind(judged):
    counts, bad = collections.Counter(), collections.Counter()
    for point, problem in judged:
        kind = point.kind
        counts[kind] += 1
        bad[kind] += problem is not None
    return ", ".join(f"{kind} {counts[kind]} ({bad[kind]} wrong)" for kind in counts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenario", action="append", help="only this one; may be repeated")
    parser.add_argument("--machine", action="append", choices=MACHINES, help="only this one; may be repeated")
    parser.add_argument("--only", action="append", default=[], help="only this point, such as kill:17; may be repeated")
    parser.add_argument("--distinct", action="store_true", help="one point for each kind, error, call and path")
    parser.add_argument("--sample", type=int, help="so many points of each scenario and kind, always the same ones")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="pagoda-chaos-", dir=memory) as root:
        bench = Bench(pathlib.Path(root), options.jobs)
        unknown = set(options.scenario or []) - bench.scenarios.keys()
        if unknown:
            parser.error(f"no scenario {', '.join(unknown)}; there are {', '.join(bench.scenarios)}")
        all_judged, choice = [], Choice(options.only, options.distinct, options.sample)
        for name in options.scenario or bench.scenarios:
            begin = time.monotonic()
            judged = bench.run(bench.scenarios[name], options.machine or MACHINES, choice)
            print(f"{name}: {count_by_kind(judged)}; {time.monotonic() - begin:.0f} s", flush=True)
            report(judged)
            all_judged += judged
        bench.close()
    wrong = sum(problem is not None for _, problem in all_judged)
    print(f"{len(all_judged)} points, {wrong} wrong")
    return 1 if wrong or not all_judged else 0


if __name__ == "__main__":
    sys.exit(main())
