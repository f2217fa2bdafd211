"""A place where the program is started with faults: a directory of its own and a loaded program."""
import dataclasses
import os
import pathlib
import shutil
import sys

from call_record import read_records
from crash_states import Link, write_state
from program_server import ProgramServer

TIMEOUT_SECONDS = 300  # a hundred times as long as it takes: others may need the machine, too


@dataclasses.dataclass(frozen=True)
class Ending:
    code: int  # below 0: the signal
    stdout: bytes  # None where nothing depends on it
    stderr: str
    records: list


class Workplace:
    """Threads: one at a time."""

    def __init__(self, root, data, program, library):
        self.root, self.data, self.library = pathlib.Path(root), data, library
        self.state = self.root / "state"
        self.state.mkdir(parents=True)
        self.programs = {"pagoda": program, "python": sys.executable}
        self.servers = {}

    def fill(self, state):
        """Makes the directory hold just that, and a directory for temporary files."""
        shutil.rmtree(self.state)
        self.state.mkdir()
        write_state(state, self.state)
        (self.state / "tmp").mkdir(exist_ok=True)

    def held(self):
        """What the directory holds now, in the form that `fill` takes."""
        found = {}
        for path, folders, files in os.walk(self.state):
            for name in folders + files:
                entry = pathlib.Path(path, name)
                key = str(entry.relative_to(self.state))
                if entry.is_symlink():
                    found[key] = Link(os.readlink(entry))
                else:
                    found[key] = None if entry.is_dir() else _constant(entry.read_bytes())
        return found

    def run(self, scenario, arguments=None, **faults):
        """Runs the scenario's command, or others of its program's; `faults` are the library's settings."""
        log = self.root / "calls"
        log.unlink(missing_ok=True)
        variables = {"CHAOS_LOG": log, "CHAOS_LOG_DATA": "", "CHAOS_KILL": 0, "CHAOS_FAIL": "", "CHAOS_BYTES": 0,
                     "CHAOS_DIRECTORIES": f"{self.state}:{self.data}", "TMPDIR": self.state / "tmp"}
        variables |= {f"CHAOS_{name.upper()}": value for name, value in faults.items()}
        stdout, stderr = self.root / "stdout", self.root / "stderr"
        code = self.server(scenario.program).run(
            [scenario.program, *(arguments or scenario.command)], directory=self.state,
            files=(scenario.stdin, stdout, stderr), variables=variables, timeout=TIMEOUT_SECONDS)
        return Ending(code, stdout.read_bytes() if scenario.prints_result else None,
                      stderr.read_text(errors="replace"), read_records(log) if log.exists() else [])

    def server(self, program):
        if program not in self.servers:
            self.servers[program] = ProgramServer(self.programs[program], self.library)
        return self.servers[program]

    def close(self):
        for server in self.servers.values():
            server.close()


def _constant(content):
    return lambda: content
