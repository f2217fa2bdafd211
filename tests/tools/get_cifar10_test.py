"""tools/get_cifar10 on small archives: its sources, damage, and the directory that it fills."""

import errno
import json
import os
import random
import unittest
import zlib
from unittest import mock

from cifar10_archives import (
    COUNT, GOOD, NOWHERE, NPM, NPM_FILES, OFFICIAL, OFFICIAL_FILES, Case, chunk, cifar10_records, get_cifar10, label,
    png, sheet, tar_gz,
)


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

    def test_a_list_of_checksums_that_is_missing_or_cut_is_mended(self):
        self.fill(GOOD)
        path = self.dir / "crc32.txt"
        self.assertEqual(self.run_main(), 0)
        good = path.read_bytes()
        for bad in (None, b"", good[:-9], good + b"\n"):
            path.unlink()
            if bad is not None:
                path.write_bytes(bad)
            (self.dir / ".crc32.txt.new").write_bytes(b"of a run that was killed")
            self.assertEqual(self.run_main(), 0)
            self.assertEqual(path.read_bytes(), good)
            self.assertFalse((self.dir / ".crc32.txt.new").exists())

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

    def test_planted_links_are_not_followed(self):
        work = self.parent / ".cifar.work"
        theirs = self.root / "theirs"
        theirs.mkdir()
        (theirs / "thesis.txt").write_bytes(b"mine")
        self.parent.mkdir()
        work.symlink_to(theirs)
        self.assertEqual(self.run_main("--source", "npm"), 1)
        self.assertIn(".cifar.work: is a link; remove it", self.err.getvalue())
        work.unlink()
        for name in (get_cifar10.LOCK, get_cifar10.PARTIAL):
            work.mkdir(exist_ok=True)
            (work / name).symlink_to(theirs / "thesis.txt")
            self.run_main("--source", "official")
            self.assertEqual((theirs / "thesis.txt").read_bytes(), b"mine", name)
            (work / name).unlink()

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


if __name__ == "__main__":
    unittest.main()
