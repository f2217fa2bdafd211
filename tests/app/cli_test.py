"""The command line: help, results, and what is said of bad input.

    PAGODA_PROGRAM=build/pagoda python3 tests/app/cli_test.py
"""
import json
import math
import re
import subprocess
import unittest

from program import PROGRAM, ProgramTest, image_records, run, run_on_terminal

# One of each kind; commands_test.cpp looks at the options of all.
COMMANDS = [[], ["devices"], ["train", "seq2seq"], ["bench"], ["bench", "lenet5"]]


class HelpTest(ProgramTest):
    def test_every_level_explains_itself(self):
        for command in COMMANDS:
            with self.subTest(command):
                result = run(*command, "--help", TMPDIR="/nonexistent")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertIn(" ".join(["Usage: pagoda", *command]), result.stdout)

    def test_defaults_are_shown(self):
        shown = run("train", "lenet5", "--help").stdout
        for default in ["--data TEXT=builtin", "--devices TEXT=all", "--batch-size INT=64", "=adam",
                        "--lr,--learning-rate FLOAT=0.001", "--lr-decay FLOAT=0.99", "(default: 64)",
                        "--l2 FLOAT=0.0001", "--ema FLOAT=0.99", "--seed UINT=1", "--log-every INT=20"]:
            with self.subTest(default):
                self.assertIn(default, shown)


class TrainTest(ProgramTest):
    def test_json_log_has_an_object_a_line(self):
        for towers in (1, 3):
            with self.subTest(towers):
                result = self.train("--devices", towers, "--max-steps", 4, "--log-every", 1, "--log-format", "json",
                                    "--lr", 0.01, "--lr-decay", 0.5, "--lr-decay-steps", 2)
                lines = [json.loads(line) for line in result.stderr.splitlines() if "tower_losses" in line]
                self.assertEqual([line["step"] for line in lines], [1, 2, 3, 4])
                for i, line in enumerate(lines):
                    self.assertLessEqual({"step", "loss", "accuracy", "learning_rate", "samples_per_second",
                                          "tower_losses"}, set(line))
                    self.assertEqual(len(line["tower_losses"]), towers)
                    self.assertAlmostEqual(line["learning_rate"], 0.01 * 0.5 ** (i / 2), places=12)
                    self.assertTrue(0 <= line["accuracy"] <= 1)
                    self.assertGreater(line["samples_per_second"], 0)
                # All towers had the same number of samples in the first step.
                self.assertAlmostEqual(lines[0]["loss"], sum(lines[0]["tower_losses"]) / towers, places=6)

    def test_a_cosine_without_a_length_ends_with_the_run(self):
        result = self.train("--devices", 2, "--max-steps", 5, "--log-every", 1, "--log-format", "json", "--lr", 0.01,
                            "--schedule", "cosine", "--lr-warmup", 1)
        rates = [line["learning_rate"] for line in map(json.loads, result.stderr.splitlines()) if "tower_losses" in line]
        for i, rate in enumerate(rates):
            expected = 0.01 if i == 0 else 0.01 * (1 + math.cos(math.pi * (i - 1) / 4)) / 2
            self.assertAlmostEqual(rate, expected, places=12)

    def test_text_log_has_date_and_numbers(self):
        result = self.train("--devices", 2, "--max-steps", 5, "--log-every", 2)
        lines = [line for line in result.stderr.splitlines() if " epoch " in line and "loss" in line and "towers," not in line]
        self.assertEqual([re.search(r"step (\d+)/5", line)[1] for line in lines], ["2", "4", "5"])
        for line in lines:
            self.assertRegex(line, r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d epoch \d, step \d/5: loss [\d.]+, accuracy "
                                   r"[\d.]+, learning rate [\d.e-]+, gradient norm [\d.e+]+, [\d,]+ samples/s, "
                                   r"\d\d:\d\d left, tower losses( [\d.]+){2}$")
        self.assertIn("2 towers, 5 steps", result.stdout)

    def test_asynchronous_updates_are_logged_with_their_staleness(self):
        for devices in (2, "sim:2"):
            for bound in ([], ["--max-staleness", 1]):
                with self.subTest((devices, bound)):
                    result = self.train("--devices", devices, "--update", "async", "--max-steps", 4, "--log-every", 1,
                                        "--log-format", "json", *bound)
                    lines = [json.loads(line) for line in result.stderr.splitlines() if "staleness" in line]
                    self.assertEqual([line["step"] for line in lines], [1, 2, 3, 4])
                    for staleness in (one for line in lines for one in line["staleness"] if one is not None):
                        self.assertTrue(0 <= staleness <= (1 if bound else 8), staleness)
                    self.assertIn("2 towers, 4 steps, 28 samples", result.stdout)
        text = self.train("--devices", 2, "--update", "async", "--max-steps", 2, "--log-every", 1).stderr
        self.assertRegex(text, r"tower losses( \S+){2}, staleness( [\d.-]+){2}")

    def test_summary_is_one_json_object_on_stdout(self):
        for arguments, samples in [(["--batch-size", 2, "--max-steps", 3], 3 * 2 * 2),
                                   (["--batch-size", 2, "--accumulate", 2, "--max-steps", 2], 2 * 2 * 4),
                                   (["--global-batch-size", 6, "--max-steps", 2], 2 * 6),
                                   (["--batch-size", 3, "--epochs", 2], 2 * 20)]:
            with self.subTest(arguments):
                result = run("train", "lenet5", "--data", self.data, "--devices", 2, "--json", *arguments)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(result.stdout.count("\n"), 1)
                summary = json.loads(result.stdout)
                self.assertEqual((summary["towers"], summary["samples"]), (2, samples))
                self.assertLessEqual({"steps", "seconds", "samples_per_second", "loss", "validation_loss", "validation_accuracy"},
                                     set(summary))

    def test_builtin_data_need_no_files(self):
        result = run("train", "lenet5", "--devices", 1, "--max-steps", 1, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["samples"], 64)


class ProgressBarTest(ProgramTest):
    ARGUMENTS = ["train", "lenet5", "--batch-size", 4, "--devices", 1, "--max-steps", 3]

    def test_a_bar_on_a_terminal_only(self):
        code, shown = run_on_terminal(*self.ARGUMENTS, "--data", self.data)
        self.assertEqual(code, 0, shown)
        self.assertRegex(shown, r"100%\|█+\| 3/3 \[\d\d:\d\d<\d\d:\d\d, [\d,]+ samples/s, loss ")
        self.assertNotIn("%|", run(*self.ARGUMENTS, "--data", self.data).stderr)

    def bars(self, shown):
        """What was drawn of the bar, drawing by drawing."""
        return re.findall(r"\r([^\r\n]*%[^\r\n]*)\x1b\[K", shown)

    def test_the_bar_stays_on_one_line_of_any_terminal(self):
        for columns in (40, 20, 7, 3):
            with self.subTest(columns):
                code, shown = run_on_terminal(*self.ARGUMENTS, "--data", self.data, columns=columns)
                self.assertEqual(code, 0, shown)
                bars = self.bars(shown) if columns > 4 else re.findall(r"\r( *\d+)\x1b\[K", shown)
                self.assertTrue(bars, shown)
                for bar in bars:
                    self.assertLess(len(bar), columns, bar)

    def test_the_bar_goes_with_the_width_of_the_window(self):
        code, shown = run_on_terminal(*self.ARGUMENTS, "--data", self.data, columns=40, resized_to=110)
        self.assertEqual(code, 0, shown)
        self.assertGreater(len(self.bars(shown)[-1]), 40, shown)

    def test_no_bar_between_json_lines(self):
        code, shown = run_on_terminal(*self.ARGUMENTS, "--data", self.data, "--log-format", "json", "--log-every", 1)
        self.assertEqual(code, 0, shown)
        steps = [line for line in map(json.loads, shown.splitlines()) if "loss" in line]
        self.assertEqual([line["step"] for line in steps], [1, 2, 3])


class BadInputTest(ProgramTest):
    """One line that says what is wrong, and the exit code: 2 for the command line, 1 for all else."""

    def check(self, code, words, *arguments):
        with self.subTest(arguments):
            result = run(*arguments)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertEqual(result.stdout, "")
            lines = [line for line in result.stderr.splitlines()
                     if not line.startswith(("pagoda: warning: ", "{"))]  # or a log line
            self.assertEqual(len(lines), 1, result.stderr)
            self.assertTrue(lines[0].startswith("pagoda: "), lines[0])
            self.assertLess(len(lines[0]), 300, lines[0])
            for word in words:
                self.assertIn(word, lines[0])

    def check_train(self, code, words, *arguments):
        self.check(code, words, "train", "lenet5", "--max-steps", 2, "--log-format", "json", "--log-every", 1000,
                   *arguments)

    def test_misspelt_words_have_an_alternative(self):
        self.check(2, ["'trian'", "did you mean train? See pagoda --help"], "trian")
        self.check(2, ["'lenet6'", "did you mean lenet5? See pagoda train --help"], "train", "lenet6")
        self.check(2, ["'gpt'", "(there are ", "lenet5", "seq2seq"], "train", "gpt")
        self.check(2, ["'--bach-size=3'", "did you mean --batch-size?"], "train", "lenet5", "--bach-size=3")

    def test_version_and_help(self):
        self.assertRegex(run("--version").stdout, r"^Pagoda [0-9.]+, LibTorch [0-9.]+, \w+ build, \S+\n$")
        self.assertEqual(run("help", "train", "lenet5").stdout, run("train", "lenet5", "--help").stdout)
        narrow = run("train", "lenet5", "--help", COLUMNS="80").stdout
        self.assertLessEqual(max(len(line) for line in narrow.splitlines() if not line.startswith("  --")), 80)

    def test_devices(self):
        for text, words in {"gpu": ["'gpu'", "cpu:0"], "cpu:0,cpu:0": ["cpu:0", "twice"], "cpu:x": ["'cpu:x'"],
                            "cpu:0,": ["''"], "tpu:1": ["'tpu:1'"], "0": ["0 devices"], "-1": ["'-1'"],
                            "cpu:99999": ["cpu:99999 is not there"], "1.5": ["'1.5'"]}.items():
            self.check(2, words, "devices", "--devices", text)
        for command in (["train", "lenet5"], ["bench", "lenet5"], ["verify", "lenet5"], ["demo"]):
            self.check(2, ["'gpu'"], *command, "--devices", "gpu")
        for number in ("0", "-1", "x"):
            self.check(2, [number], "devices", "--cores-per-tower", number)

    def test_placements(self):
        for command in (["train", "lenet5"], ["train", "seq2seq"], ["bench", "lenet5"], ["bench", "run"],
                        ["verify", "lenet5"]):
            self.check(2, ["--parameters", "everywhere", "spread"], *command, "--parameters", "everywhere")
        for command in (["train", "lenet5", "--max-steps", 1], ["bench", "lenet5"], ["verify", "lenet5"]):
            self.check(2, ["shared with sim:0", "mirrored, host or spread"], *command, "--devices", "sim:2",
                       "--parameters", "shared")

    def test_updates(self):
        for model in ("lenet5", "seq2seq"):
            self.check(2, ["--update", "later", "async"], "train", model, "--update", "later")
            self.check(2, ["--max-staleness", "whole number"], "train", model, "--max-staleness", "-1")
        self.check_train(2, ["staleness (3)", "asynchronous"], "--max-staleness", "3")
        self.check_train(2, ["shared", "place them host"], "--update", "async", "--parameters", "shared")

    def test_counts(self):
        options = {("train", "lenet5"): ["--global-batch-size", "--accumulate", "--epochs", "--max-steps",
                                         "--log-every", "--keep-last"],
                   ("bench", "lenet5"): ["--batch-size", "--steps", "--rounds"],
                   ("verify", "lenet5"): ["--batch-size", "--steps"],
                   ("demo",): ["--batch-size", "--epochs"]}
        cases = [(command, option, "0") for command in options for option in options[command]]
        cases += [(("train", "lenet5"), "--batch-size", value)
                  for value in ("0", "-1", "1.5", "many", "99999999999999999999")]
        for command, option, value in cases:
            self.check(2, [option, f"'{value}'", "whole number", " ".join(["see pagoda", *command, "--help"])],
                       *command, option, value)

    def test_seeds(self):
        for value in ("-1", "99999999999999999999"):
            self.check(2, ["--seed", f"'{value}'"], "train", "lenet5", "--seed", value)

    def test_numbers(self):
        data = ["--data", self.data, "--devices", 1]
        for option in ("--lr", "--l2", "--ema", "--lr-decay", "--max-grad-norm", "--max-tower-grad-norm", "--dropout"):
            self.check_train(2, [option, "nan", "finite"], *data, option, "nan")
        for value, words in {"-1": ["learning rate", "-1"], "inf": ["--lr", "inf"], "abc": ["--lr", "abc"],
                             "": ["empty"]}.items():
            self.check_train(2, words, *data, "--lr", value)
        for value in ("nan", "0", "2", "-1"):
            self.check_train(2, ["factor", value], *data, "--lr-stall-factor", value)
        self.check_train(2, ["--lr-decay-steps", "0"], *data, "--lr-decay-steps", 0)
        self.check_train(2, ["global batch", "5", "2"], "--devices", 2, "--global-batch-size", 5)

    def test_command_line(self):
        for arguments, words in [([], ["subcommand", "pagoda --help"]),
                                 (["train"], ["subcommand", "pagoda train --help"]),
                                 (["tain", "lenet5"], ["'tain'", "pagoda --help"]),
                                 (["train", "lenet6"], ["'lenet6'", "pagoda train --help"]),
                                 (["devices", "surplus"], ["'surplus'", "pagoda devices --help"]),
                                 (["--bogus"], ["'--bogus'", "pagoda --help"]),
                                 (["train", "lenet5", "--bogus", "3"], ["'--bogus'", "pagoda train lenet5 --help"]),
                                 (["train", "lenet5", "--batch-size"], ["--batch-size"]),
                                 (["train", "lenet5", "--optimizer", "adom"], ["--optimizer", "adom", "adam"]),
                                 (["train", "lenet5", "--schedule", "x"], ["--schedule", "cosine"]),
                                 (["train", "lenet5", "--log-format", "xml"], ["--log-format", "json"]),
                                 (["train", "lenet5", "--preset", "x"], ["'x'", "tutorial", "best"]),
                                 (["train", "lenet5", "--valid-every", "1x"], ["'1x'", "2e"]),
                                 (["train", "lenet5", "--save-every", "-1"], ["'-1'", "2e"]),
                                 (["train", "lenet5", "--max-time", "0"], ["--max-time", "'0'"]),
                                 (["train", "lenet5", "--trace", "t", "--trace-steps", "3:2"], ["'3:2'", "11:15"]),
                                 (["eval", "/nonexistent"], ["/nonexistent", "holds no run"]),
                                 (["export", "/tmp", "m.pt"], ["/tmp", "holds no run"]),
                                 (["train", "lenet5", "--lr-factor", "head.*"], ["'head.*'", "head.*=10"]),
                                 (["train", "lenet5", "--freeze", "conf*", "--devices", "1"], ["'conf*'", "near it are 'conv"]),
                                 (["train", "lenet5", "--epochs", "1", "--max-steps", "1"], ["--epochs", "--max-steps"])]:
            self.check(2, words, *arguments)

    def test_places_that_cannot_be_written(self):
        occupied = self.scratch / "file"
        occupied.write_text("not a directory")
        for out in (occupied, occupied / "below", "/dev/null/x"):
            self.check_train(1, [str(out)], "--data", self.data, "--out", out)
        self.assertEqual(occupied.read_text(), "not a directory")

    def test_an_archive_of_data_is_read(self):
        result = run("data", "cifar10", "--dir", self.scratch / "cifar", "--archive", self.scratch / "missing.tar.gz")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("missing.tar.gz: no such file", result.stderr)
        both = run("data", "cifar10", "--archive", "a.tar.gz", "--source", "npm")
        self.assertEqual(both.returncode, 2, both.stderr)

    def test_data_that_cannot_be_used(self):
        self.check_train(1, ["/nonexistent", "--data"], "--data", "/nonexistent")
        self.check_train(1, ["/dev/null", "--data"], "--data", "/dev/null")
        for name, content, words in [("missing", None, ["No such file"]),
                                     ("empty", b"", ["empty"]),
                                     ("cut", image_records(4)[:-1], ["offset 9219"]),
                                     ("label", image_records(4, lambda i: 10 if i == 2 else 0), ["offset 6146", "10"])]:
            for file in ("data_batch_3", "test_batch"):
                directory = self.make_data(f"{name}-{file}", **{file: content})
                self.check_train(1, [str(directory / f"{file}.bin"), *words], "--data", directory)

    def test_a_loss_that_is_not_finite(self):
        self.check_train(1, ["tower 0", "step 1", "the loss is", "nan"], "--data", self.data, "--devices", 1, "--lr", 1e30)

    def test_a_full_disk_behind_stdout(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([PROGRAM, "devices"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "pagoda: cannot write the result to stdout: No space left on device\n")


if __name__ == "__main__":
    unittest.main()
