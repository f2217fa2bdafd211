"""A program that is loaded once and started many times, under the library of fork_server.cpp."""
import os
import select
import signal
import struct
import subprocess
import time


class Hang(Exception):
    """The program did not end in time; it has been killed."""


class ProgramServer:
    """Threads: one at a time; every worker has servers of its own."""

    def __init__(self, program, library):
        requests, self.requests = os.pipe()
        self.answers, answers = os.pipe()
        kept = {name: value for name, value in os.environ.items()
                if not name.endswith("_VISIBLE_DEVICES") and not name.startswith("CHAOS_")}
        self.process = subprocess.Popen(
            program, pass_fds=(requests, answers), stdin=subprocess.DEVNULL,
            env=kept | {"LD_PRELOAD": str(library), "CHAOS_SERVER": f"{requests},{answers}", "OMP_NUM_THREADS": "1",
                        "OMP_WAIT_POLICY": "passive"})  # threads that wait leave the cores to other places
        os.close(requests)
        os.close(answers)

    def run(self, arguments, *, directory, files, variables, timeout):
        """The exit code; below 0 for the signal that ended it. `arguments` begin with the program's name, `files` are
        stdin, stdout and stderr."""
        given = [f"{name}={value}" for name, value in variables.items()]
        parts = [directory, *files, len(given), *given, *arguments]
        message = b"".join(str(part).encode() + b"\0" for part in parts)
        os.write(self.requests, struct.pack("=Q", len(message)) + message)
        child = int(self.answer(time.monotonic() + timeout))
        try:
            return os.waitstatus_to_exitcode(int(self.answer(time.monotonic() + timeout)))
        except TimeoutError:
            os.kill(child, signal.SIGKILL)
            self.answer(time.monotonic() + timeout)
            raise Hang(f"did not end within {timeout} s") from None

    def answer(self, deadline):
        line = b""
        while not line.endswith(b"\n"):
            if not select.select([self.answers], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError
            part = os.read(self.answers, 1)
            if not part:
                raise EOFError("the server has gone; can the program be started at all?")
            line += part
        return line

    def close(self):
        os.close(self.requests)
        os.close(self.answers)
        self.process.wait()
