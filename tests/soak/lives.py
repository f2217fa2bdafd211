"""Lives of runs: each is disturbed in many ways until it is finished, and must end like the run that never was."""
import collections
import dataclasses
import random
import re
import shutil
import signal
import subprocess
import time

from kinds import all_kinds
from scenarios import comparable

DISTURBANCES = 6  # of a life, at most
TIMEOUT_SECONDS = 300
SAVED = re.compile(r"out/checkpoints/step-(\d+)(\.stopped)?\.pt")
COMPARED = re.compile(r"out/(config\.toml|metrics\.tsv|checkpoints/.*|vocabulary/(source|target)\.txt)|output/.*")
LEFTOVER = re.compile(r"tmp/.+|.*\.tmp(-.*)?|out/\.overwriting")


@dataclasses.dataclass(frozen=True)
class Reference:
    seconds: float  # of the training
    result: dict


class Place:
    """A directory in which commands are started. Threads: one at a time."""

    def __init__(self, program, path):
        self.program, self.path = program, path
        shutil.rmtree(path, ignore_errors=True)
        (path / "tmp").mkdir(parents=True)
        (path / "output").mkdir()

    def start(self, arguments, stdin=subprocess.DEVNULL):
        return subprocess.Popen([self.program, *map(str, arguments)], cwd=self.path, stdin=stdin, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={"TMPDIR": str(self.path / "tmp"), "PATH": "/usr/bin:/bin", "HOME": str(self.path)})

    def run(self, arguments, stdin=None):
        """Exit code (below 0: the signal), stdout and stderr."""
        opened = open(stdin, encoding="utf-8") if stdin else subprocess.DEVNULL
        process = self.start(arguments, opened)
        if stdin:
            opened.close()
        stdout, stderr = process.communicate(timeout=TIMEOUT_SECONDS)
        return process.returncode, stdout, stderr

    def files(self):
        return {str(file.relative_to(self.path)): file for file in self.path.rglob("*") if file.is_file()}

    def newest_step(self):
        return max((int(found[1]) for found in map(SAVED.fullmatch, self.files()) if found), default=0)

    def result(self):
        """What must be the same however often the run was disturbed."""
        return {path: comparable(path, file.read_bytes()) for path, file in self.files().items()
                if COMPARED.fullmatch(path)}


class Lives:
    def __init__(self, program, root, seed, findings):
        self.program, self.root, self.seed, self.findings = program, root, seed, findings
        self.kinds = all_kinds(root / "input")
        self.references = {}
        self.counts = collections.Counter()

    def run(self, deadline):
        for number in range(10**9):
            choice = random.Random(f"{self.seed} {number}")
            # Every kind once before any comes again.
            if number % len(self.kinds) == 0:
                order = choice.sample(self.kinds, len(self.kinds))
            kind = order[number % len(self.kinds)]
            if kind.name not in self.references:
                self.references[kind.name] = self.undisturbed(kind)
            if time.monotonic() > deadline:
                return
            self.live(f"life {number}, {kind.name}", kind, choice)

    def summary(self):
        return "lives: " + ", ".join(f"{count} {name}" for name, count in sorted(self.counts.items()))

    def undisturbed(self, kind):
        place = Place(self.program, self.root / "reference")
        begin = time.monotonic()
        code, _, stderr = place.run(kind.train)
        if code != 0:
            raise RuntimeError(f"{kind.name}: an undisturbed run ended with {code}: {stderr[-300:]}")
        seconds = time.monotonic() - begin
        for use in kind.uses.values():
            self.use(kind.name, place, use, is_finished=True)
        return Reference(seconds, place.result())

    def live(self, name, kind, choice):
        place = Place(self.program, self.root / "life")
        reference = self.references[kind.name]
        for _ in range(choice.randint(1, DISTURBANCES)):
            what = choice.choice(["kill", "kill", "kill", "terminate", *kind.uses])
            self.counts[what] += 1
            if what in kind.uses:
                self.use(name, place, kind.uses[what], is_finished=False)
            else:
                self.cut_short(name, place, kind, what, choice.uniform(0, 1.2 * reference.seconds))
        code, _, stderr = place.run(kind.train)
        self.counts["finished runs"] += 1
        if code != 0:
            return self.findings.add(f"{name}: the run could not be finished: {code}: {stderr[-300:]}")
        for use in kind.uses.values():
            self.use(name, place, use, is_finished=True)
        self.compare(name, kind, place)

    def cut_short(self, name, place, kind, what, seconds):
        """A training that ends before it is finished, and loses nothing that it had saved."""
        before = place.newest_step()
        process = place.start(kind.train)
        try:
            _, stderr = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL if what == "kill" else signal.SIGTERM)
            _, stderr = process.communicate(timeout=TIMEOUT_SECONDS)
        # Before it trains, SIGTERM ends the program as it ends any other.
        allowed = (0, -signal.SIGKILL) if what == "kill" else (0, 128 + signal.SIGTERM, -signal.SIGTERM)
        if process.returncode not in allowed:
            self.findings.add(f"{name}: {what} after {seconds:.2f} s: exit code {process.returncode}: {stderr[-300:]}")
        if place.newest_step() < before:
            self.findings.add(f"{name}: {what} after {seconds:.2f} s: step {before} was saved, now {place.newest_step()}")

    def use(self, name, place, use, is_finished):
        """A command that reads the run: it works, or says in one line that there is nothing to read yet."""
        can_work = place.newest_step() >= use.from_step
        code, stdout, stderr = place.run(use.command, use.stdin)
        if code == 0:
            (place.path / "output" / use.command[0]).write_text(stdout)
            return
        errors = [line for line in stderr.splitlines() if line.startswith("pagoda: ")]
        if is_finished or can_work or code not in (1, 2) or len(errors) != 1:
            self.findings.add(f"{name}: {use.command[0]}: exit code {code}: {stderr[-300:]}")

    def compare(self, name, kind, place):
        left = [path for path in place.files() if LEFTOVER.fullmatch(path)]
        if left:
            self.findings.add(f"{name}: left over: {', '.join(left)}")
        if not kind.is_exact:
            return
        found, expected = place.result(), self.references[kind.name].result
        other = [path for path in sorted(found.keys() | expected.keys()) if found.get(path) != expected.get(path)]
        if other:
            self.findings.add(f"{name}: differs from the run that was never disturbed: {', '.join(other)}")
