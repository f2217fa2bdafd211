"""Several processes train one model: by hand, and under torchrun and mpirun where they are installed; killed, stopped and
resumed.

    PAGODA_PROGRAM=build/pagoda .venv/bin/python tests/app/world_test.py
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from program import PROGRAM, TIMEOUT_SECONDS, run

RUN = ["train", "lenet5", "--batch-size", 4, "--max-steps", 24, "--save-every", 4, "--valid-every", 12,
       "--log-every", 1, "--ema", 0.9]


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def start(rank, *arguments, size=2, port):
    place = ["--devices", 1, "--rank", rank, "--world-size", size, "--master", f"127.0.0.1:{port}", "--join-timeout", 60]
    return subprocess.Popen([PROGRAM, *map(str, [*arguments, *place])], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


class Ended:
    def __init__(self, process):
        self.stdout, self.stderr = process.communicate(timeout=TIMEOUT_SECONDS)
        self.code = process.returncode


def run_world(*arguments, size=2):
    """What each rank ends with."""
    port = free_port()
    return [Ended(process) for process in [start(rank, *arguments, size=size, port=port) for rank in range(size)]]


class WorldTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="pagoda-test-")
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        cls.whole = cls.scratch / "whole"
        cls.ranks = run_world(*RUN, "--json", "--out", cls.whole)

    def weights(self, directory, *options):
        file = self.scratch / "weights.pt"
        result = run("export", directory, file, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return file.read_bytes()

    def assert_same_weights(self, directory):
        for options in ([], ["--best"], ["--raw"]):
            self.assertEqual(self.weights(directory, *options), self.weights(self.whole, *options), options)

    def test_rank_0_speaks_for_all(self):
        first, second = self.ranks
        self.assertEqual(first.code, 0, first.stderr)
        summary = json.loads(first.stdout)
        self.assertEqual((summary["towers"], summary["steps"], summary["samples"]), (2, 24, 24 * 8))
        self.assertIn("2 processes; this is rank 0 (", first.stderr)
        self.assertEqual((second.code, second.stdout, second.stderr), (0, "", ""))

    def test_it_is_the_run_of_one_process_with_both_towers(self):
        alone = self.scratch / "alone"
        result = run(*RUN, "--devices", 2, "--json", "--out", alone)
        self.assertEqual(result.returncode, 0, result.stderr)
        numbers = [json.loads(text) for text in (result.stdout, self.ranks[0].stdout)]
        for name in ("loss", "validation_loss", "validation_accuracy"):
            self.assertAlmostEqual(numbers[0][name], numbers[1][name], places=4, msg=name)

    def test_eval_divides_the_samples_and_rank_0_says_what_one_process_says(self):
        alone = run("eval", self.whole, "--json", "--devices", 1)
        first, second = run_world("eval", self.whole, "--json")
        self.assertEqual((first.code, second.code), (0, 0), first.stderr + second.stderr)
        self.assertEqual((second.stdout, second.stderr), ("", ""))
        expected, found = json.loads(alone.stdout), json.loads(first.stdout)
        self.assertAlmostEqual(found.pop("loss"), expected.pop("loss"), places=12)
        self.assertEqual(found, expected)

    def test_a_killed_rank_is_named_and_a_new_start_ends_in_the_same_bits(self):
        out = self.scratch / "killed"
        for victim in (1, 0):
            port = free_port()
            ranks = [start(rank, *RUN, "--out", out, port=port) for rank in range(2)]
            for line in ranks[0].stderr:
                if ", step " in line:
                    break
            ranks[victim].kill()
            ended = [Ended(process) for process in ranks]
            self.assertEqual(ended[victim].code, -signal.SIGKILL)
            other = ended[1 - victim]
            self.assertEqual(other.code, 1, other.stderr)
            self.assertRegex(other.stderr.splitlines()[-1], f"^pagoda: .*rank {victim} \\(.*(gone|ended)")
        for rank in run_world(*RUN, "--out", out):
            self.assertEqual(rank.code, 0, rank.stderr)
        self.assert_same_weights(out)

    def test_a_frozen_rank_is_named_after_the_timeout(self):
        port = free_port()
        ranks = [start(rank, *RUN, "--max-time", 600, "--step-timeout", 2, port=port) for rank in range(2)]
        for line in ranks[0].stderr:
            if ", step " in line:
                break
        ranks[1].send_signal(signal.SIGSTOP)
        frozen = Ended(ranks[0])
        ranks[1].send_signal(signal.SIGCONT)
        thawed = Ended(ranks[1])
        if frozen.code != 0:  # the last step may have been done
            self.assertEqual(frozen.code, 1, frozen.stderr)
            self.assertRegex(frozen.stderr.splitlines()[-1], r"^pagoda: rank 1 \(.*\) is gone or does not answer$")
            self.assertEqual(thawed.code, 1, thawed.stderr)

    def test_a_failure_of_one_rank_is_that_of_all(self):
        port = free_port()
        missing = self.scratch / "missing"
        ranks = [Ended(process) for process in [start(0, *RUN, port=port), start(1, *RUN, "--data", missing, port=port)]]
        for rank in ranks:
            self.assertEqual(rank.code, 1, rank.stderr)
            self.assertRegex(rank.stderr, r"^pagoda: rank 1 \(.*\): cannot read data from .*missing: no such directory.*\n$")

    def test_a_signal_at_one_rank_saves_and_ends_all(self):
        out = self.scratch / "stopped"
        port = free_port()
        ranks = [start(rank, *RUN, "--out", out, port=port) for rank in range(2)]
        for line in ranks[0].stderr:
            if ", step " in line:
                break
        ranks[1].send_signal(signal.SIGTERM)
        for process in ranks:
            ended = Ended(process)
            self.assertIn(ended.code, (143, 0), ended.stderr)  # it may have been at its last step
        for rank in run_world(*RUN, "--out", out):
            self.assertEqual(rank.code, 0, rank.stderr)
        self.assert_same_weights(out)

    def test_who_does_not_come_or_is_not_there_is_one_line(self):
        port = free_port()
        place = ["--world-size", 2, "--master", f"127.0.0.1:{port}", "--join-timeout", 1]
        for rank, expected in ((0, "rank 0 of 2 waited 1 s"), (1, "rank 1 cannot reach rank 0 at 127.0.0.1")):
            result = run(*RUN, "--devices", 1, "--rank", rank, *place)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(expected, result.stderr)

    def test_half_a_place_is_wrong_usage(self):
        result = run(*RUN, "--rank", 1)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("--rank, --world-size and --master belong together", result.stderr)

    def test_torchrun_starts_and_restarts_it(self):
        torchrun = pathlib.Path(sys.executable).with_name("torchrun")
        if not torchrun.exists():
            self.skipTest("no torchrun")
        out = self.scratch / "torchrun"
        command = [torchrun, "--no-python", "--nproc-per-node", 2, "--max-restarts", 1, "--master-port", free_port(),
                   PROGRAM, *RUN, "--devices", 1, "--out", out]
        process = subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            if ", step 6/" in line:
                break
        subprocess.run(["pkill", "-KILL", "-n", "-f", f"{PROGRAM} train.*{out}"], check=True)
        ended = Ended(process)
        self.assertEqual(ended.code, 0, ended.stderr)
        self.assertRegex((out / "train.log").read_text(), r"resumed after step (4|8|12|16|20),")
        self.assert_same_weights(out)

    def test_bench_chooses_for_all_and_says_what_the_link_costs(self):
        choice = self.scratch / "choice.toml"
        first, second = run_world("bench", "mlp", "--width", 8, "--batch-size", 2, "--steps", 1, "--choose", "--budget", 8,
                                  "--json", "--choice-file", choice)
        self.assertEqual((first.code, second.code), (0, 0), first.stderr + second.stderr)
        self.assertEqual((second.stdout, second.stderr), ("", ""))
        rows = json.loads(first.stdout)
        self.assertEqual({(row["wire"], row["sync_every"]) for row in rows},
                         {("fp32", 1), ("bf16", 1), ("fp16", 1), ("fp32", 10), ("fp32", 50)})
        for row in rows:
            self.assertEqual(row["same_numbers"], (row["wire"], row["sync_every"]) == ("fp32", 1), row)
            self.assertGreater(row["bytes_sent_a_step"], 0, row)
            self.assertGreater(row["milliseconds_waited_a_step"], 0, row)
        sent = {(row["wire"], row["sync_every"]): row["bytes_sent_a_step"] for row in rows}
        self.assertLess(sent["fp32", 50], sent["fp32", 10])
        self.assertIn(f"The fastest: {rows[0]['way']}.", first.stderr)
        self.assertIn('devices = "1"\n', choice.read_text())
        self.assertIn('wire = "fp32"\nsync-every = 1\n', choice.read_text())

    def test_mpirun_starts_it_and_cores_that_it_binds_processes_to_are_not_divided_again(self):
        if not shutil.which("mpirun"):
            self.skipTest("no mpirun")
        command = ["mpirun", "-n", 2, "--bind-to", "core", "--oversubscribe", PROGRAM, *RUN, "--json"]
        result = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
                                env=os.environ | {f"OMPI_ALLOW_RUN_AS_ROOT{more}": "1" for more in ("", "_CONFIRM")})
        self.assertEqual(result.returncode, 0, result.stderr)
        numbers = [json.loads(text) for text in (result.stdout, self.ranks[0].stdout)]
        self.assertEqual(numbers[0]["towers"], 2)
        self.assertAlmostEqual(numbers[0]["validation_loss"], numbers[1]["validation_loss"], places=4)


if __name__ == "__main__":
    unittest.main()
