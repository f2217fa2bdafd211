"""Measuring and verifying: `pagoda bench` and `pagoda verify`.

    PAGODA_PROGRAM=build/pagoda python3 tests/app/bench_test.py
"""
import json
import unittest

from program import ProgramTest, run


class VerifyTest(ProgramTest):
    ARGUMENTS = ["verify", "lenet5", "--devices", 3, "--batch-size", 2, "--steps", 2]

    def test_text(self):
        result = run(*self.ARGUMENTS)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual([line[:3] for line in result.stdout.splitlines()], ["ok ", "ok "])
        self.assertRegex(result.stdout, r"3 towers with 2 samples each equal one tower with 6: .*after 2 steps")

    def test_every_placement(self):
        for devices, placements in [(3, ["shared", "mirrored", "host", "spread"]),
                                    ("sim:2", ["mirrored", "host", "spread"])]:
            for placement in placements:
                with self.subTest((devices, placement)):
                    result = run("verify", "mlp", "--width", 7, "--devices", devices, "--batch-size", 2, "--steps", 2,
                                 "--parameters", placement)
                    self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_json_of_other_models_and_optimizers(self):
        for model in (["lenet5", "--optimizer", "nesterov"],
                      ["seq2seq", "--vocab-size", 40, "--hidden", 8, "--length", 3, "--softmax", "sampled",
                       "--softmax-samples", 7]):
            result = run("verify", *model, *self.ARGUMENTS[2:], "--json")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            found = json.loads(result.stdout)
            self.assertEqual((found["towers"], found["steps"], found["equal"], found["repeatable"]), (3, 2, True, True))
            self.assertLessEqual(found["largest_difference"], found["tolerance"])

    def test_what_cannot_be_equal_is_refused(self):
        refused = run(*self.ARGUMENTS, "--max-tower-grad-norm", 1)
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn("--max-grad-norm", refused.stderr)


class BenchTest(ProgramTest):
    TINY = ["bench", "lenet5", "--devices", 2, "--batch-size", 2, "--steps", 1]
    FIELDS = {"towers", "samples_per_second", "unsynchronised_samples_per_second", "threads_samples_per_second",
              "async_samples_per_second", "efficiency", "async_efficiency", "peak_memory_bytes"}

    def test_json_has_a_row_for_each_number_of_towers(self):
        result = run(*self.TINY, "--rounds", 2, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = json.loads(result.stdout)
        self.assertEqual([row["towers"] for row in rows], [1, 2])
        for row in rows:
            self.assertEqual(set(row), self.FIELDS)
            self.assertTrue(all(value > 0 for value in row.values()), row)

    def seq2seq(self, devices, vocab_size, *arguments):
        result = run("bench", "seq2seq", "--devices", devices, "--batch-size", 2, "--steps", 1, "--rounds", 1, "--hidden", 8,
                     "--length", 3, "--vocab-size", vocab_size, "--json", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_seq2seq_with_both_softmaxes(self):
        for softmax in (["full"], ["sampled", "--softmax-samples", 7], ["sampled", "--softmax-samples", 7, "--row-update", "lazy"]):
            rows = self.seq2seq(2, 40, "--layers", 1, "--softmax", *softmax)
            self.assertEqual([set(row) for row in rows], [self.FIELDS] * 2)
            self.assertTrue(all(value > 0 for row in rows for value in row.values()), rows)

    def test_memory_grows_with_the_model(self):
        small, large = (self.seq2seq(1, size)[0] for size in (1000, 1_000_000))
        grown = large["peak_memory_bytes"] - small["peak_memory_bytes"]
        self.assertGreater(grown, 3 * 4 * 999_000 * (3 * 8 + 1), "parameters and Adam's moments")

    def test_table(self):
        lines = run(*self.TINY, "--rounds", 1).stdout.splitlines()
        self.assertEqual(lines[0].split()[:2], ["towers", "samples/s"])
        self.assertEqual([line.split()[0] for line in lines[1:3]], ["1", "2"])

    def test_run_tells_what_a_run_adds_to_its_steps(self):
        tiny = ["bench", "run", "--devices", 2, "--batch-size", 2, "--steps", 4, "--save-every", 2, "--dir", self.scratch]
        before = list(self.scratch.iterdir())
        found = json.loads(run(*tiny, "--json").stdout)
        self.assertEqual(set(found), {"distorted_images_per_second", "samples_per_second", "step_seconds",
                                      "data_wait_part", "checkpoint_stall_seconds", "checkpoint_stall_steps",
                                      "checkpoint_bytes"})
        self.assertGreater(found["checkpoint_bytes"], 4 * 4 * 1_600_000, "parameters, average and two moments")
        self.assertTrue(0 <= found["data_wait_part"] <= 1)
        self.assertEqual(list(self.scratch.iterdir()), before)
        self.assertEqual(len(run(*tiny).stdout.splitlines()), 4)

    def test_serve_answers_line_by_line(self):
        modes = ["full", "unsynchronised", "async", "threads", "full"]
        result = run(*self.TINY, "--serve", stdin="".join(mode + "\n" for mode in modes))
        self.assertEqual(result.returncode, 0, result.stderr)
        answers = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([answer["mode"] for answer in answers], modes)
        self.assertTrue(all(answer["samples_per_second"] > 0 for answer in answers))

    def test_serve_refuses_an_unknown_mode(self):
        result = run(*self.TINY, "--serve", stdin="fast\n")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("'fast'", result.stderr)


class ChoiceTest(ProgramTest):
    CHOOSE = ["bench", "lenet5", "--devices", "sim:2", "--steps", 1, "--choose"]

    def chosen(self, *arguments, budgets=(4, 20, 60), **environment):
        """A race that ends well: with little time, and with more where the machine is slow or busy."""
        for budget in budgets:
            result = run(*arguments, "--budget", budget, **environment)
            if "give more time" not in result.stderr:
                break
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    @staticmethod
    def parts_of(way):
        """Cards and stages of "2 cards, 2 stages"; one stage where it says something else."""
        cards, how = way.split(", ")[:2]
        return int(cards.split()[0]), int(how.split()[0]) if "stage" in how else 1

    def test_the_winner_is_the_first_and_a_configuration(self):
        choice, chart = self.scratch / "choice.toml", self.scratch / "chart.svg"
        result = self.chosen(*self.CHOOSE, "--batch-size", 1, "--json", "--choice-file", choice, "--chart", chart)
        rows = json.loads(result.stdout)
        ways = {row["way"] for row in rows if not row["way"].endswith("16")}  # those are for CPUs that are fast in them
        self.assertEqual(ways, {"1 card, host", "2 cards, mirrored", "2 cards, host",
                                "2 cards, spread", "2 cards, async", "2 cards, 2 stages"})
        self.assertEqual(rows[0]["relative"], 1)
        for row in rows:
            self.assertLessEqual(row["low"], row["samples_per_second"])
            self.assertGreaterEqual(row["high"], row["samples_per_second"])
            self.assertGreaterEqual(row["rounds"], 5)
        self.assertIn("</svg>", chart.read_text())
        devices, stages = self.parts_of(rows[0]["way"])
        self.assertIn('devices = "%s"\n' % ("sim:0-0" if devices == 1 else "sim:0,sim:1"), choice.read_text())
        self.assertEqual("stages = 2\n" in choice.read_text(), stages == 2)
        summary = json.loads(self.train("--config", choice, "--max-steps", 1, "--json").stdout)
        self.assertEqual(summary["towers"], devices // stages)

    def test_devices_auto_takes_what_was_chosen(self):
        auto = ("train", "lenet5", "--data", self.data, "--max-steps", 1, "--devices", "auto")
        missing = run(*auto, XDG_CACHE_HOME=str(self.scratch / "none"))
        self.assertEqual(missing.returncode, 2)
        self.assertIn("run pagoda bench lenet5 --choose", missing.stderr)
        cache = str(self.scratch / "cache")
        only_way = ["bench", "lenet5", "--devices", "sim:1", "--batch-size", 1, "--steps", 1, "--choose"]
        self.chosen(*only_way, budgets=(1, 10, 60), XDG_CACHE_HOME=cache)
        chosen = run(*auto, XDG_CACHE_HOME=cache)
        self.assertEqual(chosen.returncode, 0, chosen.stderr)
        file = self.scratch / "cache" / "pagoda" / "lenet5.toml"
        file.write_text("# for 1000 cores of another\n" + file.read_text().split("\n", 1)[1])
        other = run(*auto, XDG_CACHE_HOME=cache)
        self.assertEqual(other.returncode, 2)
        self.assertIn("another machine", other.stderr)

    def test_what_is_said_is_what_was_found(self):
        result = self.chosen("bench", "mlp", "--layers", 1, "--width", 2, "--global-batch-size", 12, "--devices", "sim:4",
                             "--steps", 1, "--choose", "--json", "--choice-file", self.scratch / "one.toml")
        winner = json.loads(result.stdout)[0]["way"]
        self.assertIn("One device is the fastest" if winner.startswith("1 card, host") else f"The fastest: {winner}.", result.stderr)
        self.assertNotIn("pagoda train", result.stderr, "there is no such model to train")

    def test_bad_input_measures_nothing(self):
        for arguments, words in ((["--budget", 0], "0"), (["--budget", 0.001], "budget"),
                                 (["--chart", "chart.gif"], "neither in .svg nor in .png"),
                                 (["--global-batch-size", 3], "cannot be divided among 2")):
            result = run(*self.CHOOSE, *arguments, XDG_CACHE_HOME=str(self.scratch / "unused"))
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(words, result.stderr)
            self.assertFalse((self.scratch / "unused").exists())


if __name__ == "__main__":
    unittest.main()
