"""Programs of a user's own (examples/own_run.cpp, resnet.cpp) have what `pagoda train` has: they are killed, resumed, read
and exported.

    PAGODA_PROGRAM=build/pagoda PAGODA_EXAMPLES=build/examples .venv/bin/python tests/app/own_run_test.py

What needs PyTorch and TensorBoard is skipped where Python does not have them.
"""
import json
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

from program import TIMEOUT_SECONDS, run

OWN_RUN = os.path.join(os.environ["PAGODA_EXAMPLES"], "example_own_run")
RESNET = os.path.join(os.environ["PAGODA_EXAMPLES"], "example_resnet")
KILLS = 3
RUN = ["--devices", 2, "--epochs", 4, "--batch-size", 100, "--save-every", 3, "--log-every", 1, "--ema", 0.9]


def own_run(*arguments):
    return subprocess.run([OWN_RUN, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT_SECONDS)


def kill(command, chance, most_lines):
    """Starts the command, and kills it after some lines of its log."""
    process = subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for _ in range(chance.randrange(2, most_lines)):
        process.stderr.readline()
    process.kill()
    process.communicate()


class ExampleTest(unittest.TestCase):
    def exported(self, directory, *options):
        file = directory.with_suffix(".best.pt" if options else ".pt")
        result = run("export", directory, file, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return file

    def assert_same_weights(self, one, other):
        for options in ([], ["--best"]):
            exports = [self.exported(directory, *options).read_bytes() for directory in (one, other)]
            self.assertEqual(exports[0], exports[1], options)


class OwnRunTest(ExampleTest):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="pagoda-test-")
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        cls.whole = cls.scratch / "whole"
        cls.finished = own_run(*RUN, "--json", "--out", cls.whole)

    def test_it_learns_and_says_so(self):
        self.assertEqual(self.finished.returncode, 0, self.finished.stderr)
        summary = json.loads(self.finished.stdout)
        self.assertEqual(summary["steps"], 4 * 15)  # 3,000 samples in steps of 2 x 100
        self.assertGreater(summary["validation_accuracy"], 0.5)
        log = (self.whole / "train.log").read_text()
        self.assertRegex(log, r"\A\d{4}-\d\d-\d\d \d\d:\d\d:\d\d Pagoda \d+\.\d+\.\d+, LibTorch 2\..* --epochs 4 ")
        self.assertIn('model = "spiral"\n', (self.whole / "config.toml").read_text())

    def test_its_own_flags_stand_beside_those_of_a_run(self):
        help_text = own_run("--help").stdout
        for flag in ("--arms", "--devices", "--early-stopping", "--dump-config"):
            self.assertIn(flag, help_text)
        refused = own_run(*RUN, "--arms", 5, "--out", self.whole)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("arms: 3, now 5", refused.stderr)
        self.assertEqual(len(refused.stderr.splitlines()), 1)
        self.assertTrue(refused.stderr.startswith("spiral: "))

    def test_a_wrong_command_line_is_one_line_and_exit_code_2(self):
        for arguments in (["--arms", "many"], ["--epochs", 0], ["--nonsense"], ["--stages", 2]):
            result = own_run(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    def test_killed_at_any_moment_it_ends_in_the_same_bits(self):
        killed = self.scratch / "killed"
        chance = random.Random(2)
        for _ in range(KILLS):
            kill([OWN_RUN, *RUN, "--out", killed], chance, 25)
        result = own_run(*RUN, "--out", killed)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_same_weights(self.whole, killed)

    def test_python_reads_its_weights(self):
        try:
            import torch
        except ImportError as error:
            self.skipTest(str(error))
        state = torch.load(self.exported(self.whole), weights_only=True)
        self.assertEqual(state["output.weight"].shape, (3, 64))

    def test_tensorboard_reads_its_curves(self):
        try:
            from tensorboard.backend.event_processing import event_accumulator
        except ImportError as error:
            self.skipTest(str(error))
        events = event_accumulator.EventAccumulator(str(self.whole / "events"), {"scalars": 0})
        events.Reload()
        self.assertEqual([event.step for event in events.Scalars("train/loss")], list(range(1, 61)))
        self.assertEqual([event.step for event in events.Scalars("validation/accuracy")], [15, 30, 45, 60])


class ResNetTest(ExampleTest):
    def test_killed_at_any_moment_it_ends_in_the_same_bits(self):
        with tempfile.TemporaryDirectory(prefix="pagoda-test-") as name:
            scratch = pathlib.Path(name)
            chance = random.Random(3)
            for file in [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]:
                images = (bytes([chance.randrange(10)]) + chance.randbytes(3 * 32 * 32) for _ in range(8))
                (scratch / file).write_bytes(b"".join(images))
            command = [RESNET, "--data", scratch, "--devices", 2, "--epochs", 2, "--global-batch-size", 8,
                       "--save-every", 2, "--log-every", 1]
            whole, killed = scratch / "whole", scratch / "killed"
            kill([*command, "--out", killed], chance, 12)
            for directory in (killed, whole):
                result = subprocess.run([*map(str, command), "--out", directory], capture_output=True, text=True,
                                        timeout=TIMEOUT_SECONDS)
                self.assertEqual(result.returncode, 0, result.stderr)
            self.assert_same_weights(whole, killed)


if __name__ == "__main__":
    unittest.main()
