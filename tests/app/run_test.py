"""Whole runs of the program: written, watched, stopped, killed, resumed, evaluated.

    PAGODA_PROGRAM=build/pagoda python3 tests/app/run_test.py
"""
import io
import json
import os
import random
import resource
import signal
import subprocess
import unittest
import zipfile

from program import PROGRAM, ProgramTest, run, safetensors

KILLS = 20


def damaged(checkpoint):
    """The checkpoint with a bit in its middle turned over."""
    content = bytearray(checkpoint)
    content[len(content) // 2] ^= 1
    return bytes(content)


def of_a_newer_format(checkpoint):
    """The checkpoint with the number of a format that does not exist yet, and with right checksums."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(checkpoint)) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("/data.pkl"):
                content = content.replace(b"formatq\0K\1", b"formatq\0K\x63")
            new.writestr(name, content)
    return changed.getvalue()


class RunTest(ProgramTest):
    def command(self, out, *arguments):
        return [PROGRAM, *map(str, ["train", "lenet5", "--data", self.data, "--batch-size", 4, "--out", out, *arguments])]

    def exported(self, directory, *arguments):
        """The bytes of the weights that `pagoda export` writes."""
        result = run("export", directory, self.scratch / "weights.pt", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return (self.scratch / "weights.pt").read_bytes()

    def assert_same_weights(self, one, other):
        for weights in ("--raw", "--ema"):
            self.assertTrue(self.exported(one, weights) == self.exported(other, weights), f"{weights} differ")

    def metrics(self, directory, name):
        rows = [line.split("\t") for line in (directory / "metrics.tsv").read_text().splitlines()[1:]]
        return [int(step) for step, metric, _ in rows if metric == name]


class WrittenRunTest(RunTest):
    def test_same_seed_same_bytes(self):
        for name, seed in [("a", 7), ("b", 7), ("other", 8)]:
            self.train("--devices", 2, "--max-steps", 3, "--dropout", 0.5, "--seed", seed, "--out", self.scratch / name)
        first, again, other = (self.exported(self.scratch / name) for name in ("a", "b", "other"))
        self.assertTrue(first == again, "the weights differ between two runs with one seed")
        self.assertFalse(first == other, "the weights do not depend on the seed")

    def test_the_directory_holds_what_was_promised(self):
        """Also with stderr closed, whose number the first file that is opened would get."""
        out = self.scratch / "whole"
        command = self.command(out, "--devices", 2, "--max-steps", 9, "--save-every", 2, "--keep-last", 2,
                               "--valid-every", 3, "--log-every", 4, "--histograms")
        result = subprocess.run(command, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.close(2))
        self.assertEqual(result.returncode, 0)
        self.assertRegex((out / ".lock").read_text(), r"^\d+$")
        self.assertEqual(sorted(path.name for path in out.iterdir() if path.name != ".lock"),
                         ["checkpoints", "config.toml", "data.toml", "events", "metrics.tsv", "train.log"])
        names = sorted(path.name for path in (out / "checkpoints").iterdir())
        self.assertEqual(names, ["best.pt", "step-0000000008.pt", "step-0000000009.pt"])
        self.assertEqual(self.metrics(out, "train/loss"), [4, 8, 9])
        self.assertEqual(self.metrics(out, "loss_1"), [4, 8, 9])
        self.assertEqual(self.metrics(out, "validation/accuracy"), [3, 6, 9])
        self.assertIn('model = "lenet5"\n', (out / "config.toml").read_text())
        self.assertIn("validation after step 9", (out / "train.log").read_text())

    def test_whoever_reads_the_log_may_go(self):
        """As `tee` does at the Ctrl-C that also stops the run; the summary can then not be shown."""
        out = self.scratch / "unread"
        command = self.command(out, "--devices", 1, "--max-steps", 4, "--log-every", 1)
        reader, log = os.pipe()
        os.close(reader)
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=log)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"finished", result.stdout)
        result = subprocess.run(self.command(out, "--devices", 1, "--max-steps", 6), stdout=log, stderr=subprocess.PIPE)
        os.close(log)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"cannot write the result to stdout: Broken pipe", result.stderr)
        self.assertIn("step-0000000006.pt", os.listdir(out / "checkpoints"))

    def test_dry_run_writes_nothing(self):
        result = self.train("--devices", 1, "--dry-run", "--json", "--trace", self.scratch / "t.json",
                            "--out", self.scratch / "dry")
        self.assertFalse((self.scratch / "dry").exists())
        self.assertFalse((self.scratch / "t.json").exists())
        self.assertEqual(json.loads(result.stdout)["steps"], 1)

    def test_trace_has_a_row_for_each_tower(self):
        self.train("--devices", 2, "--max-steps", 4, "--trace", self.scratch / "trace.json", "--trace-steps", "2:3")
        events = json.loads((self.scratch / "trace.json").read_text())["traceEvents"]
        rows = {event["args"]["name"]: event["tid"] for event in events if event.get("name") == "thread_name"}
        for tower in ("tower 0", "tower 1"):
            updates = [event for event in events if event.get("name") == "update" and event["tid"] == rows[tower]]
            self.assertEqual(len(updates), 2, tower)

    def test_overfit_batches_train_on_few_samples(self):
        result = self.train("--devices", 1, "--overfit-batches", 2, "--epochs", 3, "--json")
        summary = json.loads(result.stdout)
        self.assertEqual((summary["steps"], summary["samples"]), (6, 24))

    def test_max_time_and_early_stopping_end_a_run(self):
        endless = ["--devices", 1, "--max-steps", 1_000_000, "--json"]
        self.assertEqual(json.loads(self.train(*endless, "--max-time", 0.3).stdout)["end"], "out of time")
        early = [*endless, "--lr", 0, "--valid-every", 1, "--early-stopping", 3, "--out", self.scratch / "early"]
        for _ in range(2):  # the same command does not resume it
            summary = json.loads(self.train(*early).stdout)
            self.assertEqual((summary["end"], summary["steps"]), ("stopped early", 4))


class ChangedDataTest(RunTest):
    def test_a_run_does_not_go_on_with_other_images(self):
        data, out = self.make_data("images"), self.scratch / "changed"
        command = ["train", "lenet5", "--data", data, "--batch-size", 4, "--devices", 1, "--out", out]
        self.assertEqual(run(*command, "--max-steps", 1).returncode, 0)
        batch = data / "data_batch_3.bin"
        whole = batch.read_bytes()
        batch.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        changed = run(*command, "--max-steps", 2)
        self.assertEqual(changed.returncode, 1, changed.stderr)
        self.assertRegex(changed.stderr, r"other data \(\S*data_batch_3\.bin \(train\): 12,292 bytes, CRC-32 \w{8}; now ")
        batch.write_bytes(whole)
        (out / "data.toml").unlink()  # as in runs of before there was one
        resumed = run(*command, "--max-steps", 2)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertIn("data.toml holds it from now on", resumed.stderr)
        self.assertIn("train-samples = 20\n", (out / "data.toml").read_text())


class LengthenedRunTest(RunTest):
    """A run that ends and is given more steps is the run that had them from the beginning: what is tested at the end of
    a call, out of turn, is told and changes nothing."""
    STALE = ["--devices", 1, "--lr", 0, "--valid-every", 4]  # no test is better than the first

    def test_early_stopping_counts_the_tests_that_fell_due(self):
        out = self.scratch / "early"
        for steps in (9, 100):
            result = self.train(*self.STALE, "--early-stopping", 3, "--max-steps", steps, "--out", out, "--json")
        summary = json.loads(result.stdout)
        self.assertEqual((summary["end"], summary["steps"]), ("stopped early", 4 + 3 * 4))
        self.assertIn("validation after step 9:", (out / "train.log").read_text())

    def test_the_best_is_one_of_the_tests_that_fell_due(self):
        whole, parts = self.scratch / "at-once", self.scratch / "in-parts"
        for out, steps in ((whole, 9), (parts, 3), (parts, 9)):
            self.train(*self.STALE, "--max-steps", steps, "--out", out)
        best = [(out / "checkpoints" / "best.pt").read_bytes() for out in (whole, parts)]
        self.assertTrue(best[0] == best[1], "another checkpoint is the best")

    def test_without_a_test_that_fell_due_none_is_the_best(self):
        out = self.scratch / "no-best"
        self.train("--devices", 1, "--valid-every", 0, "--max-steps", 2, "--out", out)
        refused = run("eval", out, "--best")
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("--valid-every", refused.stderr)
        self.assertEqual(run("eval", out).returncode, 0)


class ConfigTest(RunTest):
    def test_the_command_line_goes_before_the_file_and_the_file_before_the_preset(self):
        (self.scratch / "c.toml").write_text("seed = 5\nlr = 0.5\n")
        dump = self.train("--config", self.scratch / "c.toml", "--preset", "best", "--seed", 6, "--dump-config").stdout
        for line in ("seed = 6\n", "lr = 0.5\n", "epochs = 40\n", "batch-size = 4\n"):
            self.assertIn(line, dump)

    def test_a_dump_is_a_config(self):
        dump = self.train("--seed", 9, "--histograms", "--dump-config").stdout
        (self.scratch / "dump.toml").write_text(dump)
        again = run("train", "lenet5", "--config", self.scratch / "dump.toml", "--dump-config")
        self.assertEqual(again.stdout, dump)

    def test_bad_files(self):
        for text, words in [("batches = 2\n", ["batches"]), ("seed = -1\n", ["seed", "-1"]), ("lr =\n", [":1:5", "lr ="])]:
            (self.scratch / "bad.toml").write_text(text)
            refused = run("train", "lenet5", "--config", self.scratch / "bad.toml")
            self.assertEqual(refused.returncode, 2, refused.stderr)
            for word in ["bad.toml", *words]:
                self.assertIn(word, refused.stderr)
        self.assertEqual(run("train", "lenet5", "--config", "/nonexistent").returncode, 1)

    def test_another_configuration_is_refused_and_overwrite_starts_anew(self):
        out = self.scratch / "run"
        self.train("--max-steps", 2, "--out", out)
        refused = run(*self.command(out, "--max-steps", 2, "--seed", 2)[1:])
        self.assertEqual(refused.returncode, 2)
        self.assertIn("seed: 1, now 2", refused.stderr)
        self.train("--max-steps", 2, "--seed", 2, "--overwrite", "--out", out)


class ResumeTest(RunTest):
    RUN = ["--devices", 2, "--max-steps", 60, "--save-every", 2, "--valid-every", 4, "--dropout", 0.5, "--log-every", 1,
           "--lr", 0.01, "--lr-stall-factor", 0.5, "--lr-stall-tests", 2]

    def test_twenty_kills_change_nothing(self):
        whole, killed = self.scratch / "undisturbed", self.scratch / "killed"
        self.train(*self.RUN, "--out", whole)
        chance = random.Random(1)
        for _ in range(KILLS):
            process = subprocess.Popen(self.command(killed, *self.RUN), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True)
            lines = chance.randrange(1, 9)  # of the log; then at any moment of the next step
            for _ in range(lines):
                process.stderr.readline()
            try:
                process.wait(timeout=chance.uniform(0, 0.1))
            except subprocess.TimeoutExpired:
                process.kill()
            process.communicate()
        self.train(*self.RUN, "--out", killed)
        self.assert_same_weights(whole, killed)
        for name in ("train/loss", "validation/loss"):
            self.assertEqual(self.metrics(killed, name), self.metrics(whole, name), name)
        for directory in (whole, killed):
            self.assertIn("the validation loss has stalled", (directory / "train.log").read_text())

    def test_a_signal_saves_and_leaves(self):
        for number, code in [(signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGUSR1, 138)]:
            out = self.scratch / f"signal{code}"
            process = subprocess.Popen(self.command(out, "--devices", 1, "--max-steps", 1_000_000, "--save-every", 0,
                                                    "--valid-every", 0, "--log-every", 1),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                       preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))  # it may be ignored here
            while "step 1/" not in process.stderr.readline():
                pass
            process.send_signal(number)
            said = process.communicate(timeout=60)[1]
            self.assertEqual(process.returncode, code)
            self.assertRegex(said, rf"stopped after step \d+, saved in {out}; resume with: \S+ train lenet5 ")
            self.assertEqual(len(list(out.glob("checkpoints/step-*.stopped.pt"))), 1)

    def test_a_file_that_may_not_grow_is_an_error(self):
        """The system's own answer to a write past `ulimit -f` is a signal."""
        out = self.scratch / "limited"
        command = self.command(out, "--devices", 1, "--max-steps", 1)
        limit = 600 << 10  # a checkpoint has more; ThreadSanitizer begins with a file of 512 KiB
        limited = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(limited.returncode, 1, limited.stderr)
        self.assertRegex(limited.stderr.splitlines()[-1], r"^pagoda: .*step-0000000001\.pt.*File too large")
        self.assertEqual(list(out.glob("checkpoints/*")), [])
        self.train("--devices", 1, "--max-steps", 1, "--out", out)

    def test_damaged_checkpoints_are_passed_over(self):
        whole, other = self.scratch / "good", self.scratch / "damaged"
        short = ["--devices", 2, "--save-every", 2]
        self.train(*short, "--max-steps", 6, "--out", whole)
        self.train(*short, "--max-steps", 4, "--out", other)
        newest = other / "checkpoints" / "step-0000000004.pt"
        newest.write_bytes(damaged(newest.read_bytes()))
        result = self.train(*short, "--max-steps", 6, "--out", other)
        self.assertIn(str(newest), result.stderr)
        self.assertIn("resumed after step 3", result.stderr)  # the test after epoch 1 saved one, too
        self.assert_same_weights(whole, other)

    def test_where_no_checkpoint_can_be_read_nothing_is_changed(self):
        out = self.scratch / "unreadable"
        command = ["train", "lenet5", "--data", self.data, "--batch-size", 4, "--devices", 1, "--out", out]
        self.assertEqual(run(*command, "--max-steps", 4).returncode, 0)
        checkpoints = list((out / "checkpoints").iterdir())
        for make_unreadable, words in [(damaged, "damaged"), (of_a_newer_format, "newer version")]:
            with self.subTest(words):
                whole = {path: path.read_bytes() for path in checkpoints}
                for path, content in whole.items():
                    path.write_bytes(make_unreadable(content))
                before = {path: path.read_bytes() for path in [*checkpoints, out / "metrics.tsv", out / "config.toml"]}
                refused = run(*command, "--max-steps", 6)
                self.assertEqual((refused.returncode, refused.stdout), (1, ""), refused.stderr)
                self.assertIn(str(out / "checkpoints"), refused.stderr)
                self.assertIn(words, refused.stderr)
                self.assertEqual(sorted((out / "checkpoints").iterdir()), sorted(checkpoints))
                self.assertTrue({path: path.read_bytes() for path in before} == before, "a file was changed")
                for path, content in whole.items():
                    path.write_bytes(content)
        self.assertIn("resumed after step 4", self.train("--devices", 1, "--max-steps", 6, "--out", out).stderr)

    def test_another_number_of_towers_goes_on_from_the_consumed_samples(self):
        out = self.scratch / "towers"
        self.train("--devices", 1, "--max-steps", 2, "--out", out)
        result = self.train("--devices", 2, "--max-steps", 4, "--out", out)
        self.assertIn("resumed after step 2, 8 samples into epoch 1", result.stderr)
        self.assertIn("the run had 1 tower, now it has 2", result.stderr)

    def test_another_placement_goes_on_in_the_same_bits(self):
        straight, moved = self.scratch / "straight", self.scratch / "moved"
        self.train("--devices", 2, "--max-steps", 6, "--out", straight)
        for placement, steps in [("spread", 2), ("mirrored", 4), ("host", 6)]:
            self.train("--devices", 2, "--max-steps", steps, "--parameters", placement, "--out", moved)
        self.assert_same_weights(straight, moved)

    def test_asynchronous_runs_are_resumed_and_watched(self):
        out = self.scratch / "async"
        for steps in (3, 6):
            self.train("--devices", 2, "--update", "async", "--max-steps", steps, "--log-every", 1, "--out", out)
        self.assertIn("resumed after step 3", (out / "train.log").read_text())
        self.assertEqual(self.metrics(out, "train/loss"), [1, 2, 3, 4, 5, 6])
        self.assertTrue(self.metrics(out, "staleness_0") or self.metrics(out, "staleness_1"))
        self.assertEqual(run("eval", out).returncode, 0)

    def test_no_staleness_is_the_synchronous_run(self):
        sync, bounded = self.scratch / "sync", self.scratch / "bounded"
        self.train("--devices", 2, "--max-steps", 4, "--out", sync)
        self.train("--devices", 2, "--max-steps", 4, "--update", "async", "--max-staleness", 0, "--out", bounded)
        self.assert_same_weights(sync, bounded)

    def test_two_runs_in_one_directory_are_refused(self):
        out = self.scratch / "locked"
        process = subprocess.Popen(self.command(out, "--devices", 1, "--max-steps", 1_000_000, "--log-every", 1),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while "step 1/" not in process.stderr.readline():
            pass
        refused = run(*self.command(out, "--devices", 1, "--max-steps", 2)[1:])
        process.kill()
        process.communicate()
        self.assertEqual(refused.returncode, 2)
        self.assertIn("locked", refused.stderr)


class EvalTest(RunTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.out = cls.scratch / "run"
        cls.summary = json.loads(run("train", "lenet5", "--data", cls.data, "--batch-size", 4, "--devices", 2,
                                     "--max-steps", 3, "--json", "--out", cls.out).stdout)

    def test_finds_what_the_training_found(self):
        for towers in (1, 2, 3):
            found = json.loads(run("eval", self.out, "--devices", towers, "--json").stdout)
            self.assertAlmostEqual(found["loss"], self.summary["validation_loss"], places=6)
            self.assertEqual(found["accuracy"], self.summary["validation_accuracy"])
            self.assertEqual((found["weights"], found["step"], found["samples"]), ("averaged", 3, 6))

    def test_the_confusion_matrix_adds_up(self):
        found = json.loads(run("eval", self.out, "--raw", "--json").stdout)
        confusion = found["confusion"]
        self.assertEqual([sum(row) for row in confusion], [1, 1, 1, 1, 1, 1, 0, 0, 0, 0])
        right = [confusion[label][label] for label in range(10)]
        self.assertAlmostEqual(found["accuracy"], sum(right) / 6)
        self.assertEqual(found["class_accuracy"], [float(count) for count in right[:6]] + [None] * 4)

    def test_runs_are_listed_and_drawn(self):
        listed = json.loads(run("runs", self.scratch, "--json").stdout)
        mine = next(one for one in listed if one["run"] == str(self.out))
        self.assertEqual((mine["model"], mine["state"], mine["step"]), ("lenet5", "finished", 3))
        self.assertRegex(mine["best"], r"^loss [\d.]+, accuracy [\d.]+$")
        picture = self.scratch / "curves.svg"
        self.assertEqual(run("plot", self.out, "--out", picture).returncode, 0)
        self.assertIn("validation loss", picture.read_text())
        drawn = run("plot", self.out, self.out, "--metric", "accuracy", "--rows", 5)
        self.assertEqual(len(drawn.stdout.splitlines()), 5 + 2 + 4, drawn.stdout + drawn.stderr)

    def test_tables_for_people(self):
        result = run("eval", self.out, "--best")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"averaged weights after step \d+: accuracy [\d.]+ %, loss [\d.]+ on 6 images")

    def test_safetensors_are_exported_tested_shown_and_tuned(self):
        weights, tuned = self.scratch / "weights.safetensors", self.scratch / "tuned"
        self.assertEqual(run("export", self.out, weights).returncode, 0)
        before = safetensors(weights)
        found = json.loads(run("eval", self.out, "--weights", weights, "--json").stdout)
        self.assertEqual(found["accuracy"], self.summary["validation_accuracy"])
        self.assertAlmostEqual(found["loss"], self.summary["validation_loss"], places=6)
        shown = run("show", weights).stdout.splitlines()
        self.assertRegex(shown[0], rf"weights.safetensors: {len(before)} tensors, [\d,]+ numbers, [\d.]+ MiB")
        self.assertEqual({line.split()[0] for line in shown[3:]}, set(before))
        result = self.train("--devices", 2, "--max-steps", 1, "--ema", 0, "--init-from", weights, "--freeze", "conv*",
                            "--freeze", "*.bias", "--lr-factor", "hidden.*=0", "--out", tuned)
        self.assertIn(f"it begins with the weights of {weights}", result.stderr)
        shown = run("show", tuned).stdout
        for words in (": 1 checkpoint, newest after step 1, ", 'freeze = ["conv*", "*.bias"]', "optimizer: "):
            self.assertIn(words, shown)
        self.assertEqual(run("export", tuned, weights).returncode, 0)
        after = safetensors(weights)
        changed = {name for name in before if after[name] != before[name]}
        self.assertEqual(changed, {name for name in before if not name.startswith(("conv", "hidden.")) and
                                   not name.endswith(".bias")})
        self.assertTrue(changed)

    def test_other_data_and_missing_averages(self):
        other = self.make_data("other", test_batch=(self.data / "data_batch_1.bin").read_bytes())
        self.assertEqual(json.loads(run("eval", self.out, "--data", other, "--json").stdout)["samples"], 4)
        self.train("--devices", 1, "--max-steps", 1, "--ema", 0, "--out", self.scratch / "raw")
        refused = run("eval", self.scratch / "raw", "--ema")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("moving average", refused.stderr)


if __name__ == "__main__":
    unittest.main()
