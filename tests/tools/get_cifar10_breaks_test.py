"""tools/get_cifar10 that is killed, stopped, or cut off from its server."""

import dataclasses
import hashlib
import os
import signal
import sys
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cifar10_archives import get_cifar10, NPM, OFFICIAL, GOOD, SMALL, Case


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
