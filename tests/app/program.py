"""What the tests of the program share: running it, and a small data set."""
import fcntl
import json
import os
import pathlib
import pty
import select
import struct
import subprocess
import tempfile
import termios
import unittest

PROGRAM = os.path.abspath(os.environ["PAGODA_PROGRAM"])
TIMEOUT_SECONDS = 300


def run(*arguments, stdin="", cwd=None, **environment):
    """The finished program; it sees this process's environment without device masks, and what is given. With bytes as
    stdin its output is bytes, too."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_VISIBLE_DEVICES")}
    return subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, capture_output=True, text=isinstance(stdin, str),
                          timeout=TIMEOUT_SECONDS, cwd=cwd, env=kept | environment)


def safetensors(path):
    """The bytes of each tensor of a file."""
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    return {name: content[end + entry["data_offsets"][0]:end + entry["data_offsets"][1]]
            for name, entry in json.loads(content[8:end]).items() if name != "__metadata__"}


def set_columns(terminal, columns):
    """Makes a terminal so wide; it is 24 lines high."""
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def run_on_terminal(*arguments, columns=80, resized_to=None):
    """Exit code and stderr, with stderr being a terminal. `resized_to`: columns once something was shown."""
    ours, theirs = pty.openpty()
    set_columns(ours, columns)
    process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # what Linux gives when the other side has been closed
            break
        if not part:
            break
        if resized_to and not shown:
            set_columns(ours, resized_to)
        shown += part
    os.close(ours)
    return process.wait(TIMEOUT_SECONDS), shown.decode()


class Terminal:
    """The program with a terminal as its stdin, stdout and stderr, and somebody who types."""

    def __init__(self, *arguments):
        self.ours, theirs = pty.openpty()
        self.settings = termios.tcgetattr(self.ours)
        self.process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=theirs,
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                                        env=os.environ | {"TERM": "xterm"})
        os.close(theirs)

    def type(self, text):
        os.write(self.ours, text if isinstance(text, bytes) else text.encode())

    def read_until(self, end):
        """What is shown from here on up to the text `end`; everything if the program closes the terminal before."""
        shown = b""
        while not shown.decode(errors="ignore").endswith(end):
            if not select.select([self.ours], [], [], TIMEOUT_SECONDS)[0]:
                raise AssertionError(f"nothing came after {shown.decode(errors='replace')!r}; expected {end!r}")
            try:
                part = os.read(self.ours, 1)
            except OSError:  # what Linux gives when the other side has been closed
                break
            if not part:
                break
            shown += part
        return shown.decode(errors="replace")

    def finish(self):
        """Exit code, what was shown at last, and whether the terminal is left as it was."""
        shown = self.read_until("\0")
        same = termios.tcgetattr(self.ours) == self.settings
        os.close(self.ours)
        return self.process.wait(TIMEOUT_SECONDS), shown, same


def image_records(count, label_of=lambda i: i % 10):
    """CIFAR-10 records whose pixels are a formula of record and place."""
    return b"".join(bytes([label_of(i)]) + bytes((i * 31 + k * (3 + i % 10)) % 256 for k in range(3072))
                    for i in range(count))


class ProgramTest(unittest.TestCase):
    """Base of the tests: a directory for their files, and a small data set (20 samples, 6 for testing)."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="pagoda-test-")
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        cls.data = cls.make_data("data")

    @classmethod
    def make_data(cls, name, **replaced):
        """A data directory; `replaced` gives other bytes for a file, None for no file."""
        directory = cls.scratch / name
        directory.mkdir()
        files = {f"data_batch_{i}": image_records(4) for i in range(1, 6)} | {"test_batch": image_records(6)}
        for file, content in (files | replaced).items():
            if content is not None:
                (directory / f"{file}.bin").write_bytes(content)
        return directory

    def train(self, *arguments):
        """A short training run that must succeed."""
        result = run("train", "lenet5", "--data", self.data, "--batch-size", 4, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result
