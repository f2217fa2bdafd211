"""Models cut into stages as a user trains them.

    PAGODA_PROGRAM=build/pagoda python3 tests/app/pipeline_test.py
"""
import json
import re
import unittest

from program import ProgramTest, run

TWO_BY_TWO = ["--stages", 2, "--micro-batches", 2]
TINY_TEXT = ["--tokenizer", "words", "--vocab-size", 60, "--embedding", 8, "--hidden", 8, "--layers", 2,
             "--batch-size", 8, "--max-pairs", 200, "--bleu-pairs", 5, "--valid-every", 0]


class StagesTest(ProgramTest):
    def exported(self, directory):
        file = self.scratch / "weights.pt"
        result = run("export", directory, file, "--raw")
        self.assertEqual(result.returncode, 0, result.stderr)
        return file.read_bytes()

    def test_four_devices_and_two_stages_are_two_towers(self):
        for devices in ("sim:0-3", "4"):
            result = self.train("--devices", devices, *TWO_BY_TWO, "--max-steps", 2, "--json")
            summary = json.loads(result.stdout)
            self.assertEqual((summary["towers"], summary["steps"]), (2, 2))
            self.assertRegex(result.stderr, "LeNet-5 on 2 towers, .*, batch 4 a tower, 8 a step")
            self.assertIn("validation_accuracy", summary)
            self.assertEqual(len(summary["memory_bytes"]), 4)
            self.assertTrue(all(0 < used <= peak for used, peak in zip(summary["memory_bytes"],
                                                                       summary["memory_peak_bytes"])))
            shown = re.search("memory (.*)", result.stderr)[1]
            self.assertEqual(shown.count("peak"), 4, shown)

    def test_cut_and_schedule_change_no_bit(self):
        found = set()
        for number, arguments in enumerate((["--stages", 2, "--devices", 2],
                                            ["--stages", 2, "--devices", 2, "--stage-layers", "3,1"],
                                            ["--stages", 4, "--devices", 4, "--pipeline-schedule", "gpipe"],
                                            ["--stages", 2, "--devices", 2, "--checkpoint-activations"])):
            out = self.scratch / f"cut{number}"
            self.train("--out", out, "--dropout", 0.3, "--micro-batches", 2, "--max-steps", 3, *arguments)
            found.add(self.exported(out))
        self.assertEqual(len(found), 1)

    def test_a_run_goes_on_in_the_same_bits_and_with_other_stages(self):
        whole, part = self.scratch / "whole", self.scratch / "part"
        options = ["--devices", 2, "--dropout", 0.3, "--save-every", 1, "--micro-batches", 2]
        self.train("--out", whole, "--stages", 2, "--max-steps", 4, *options)
        self.train("--out", part, "--stages", 2, "--max-steps", 2, *options)
        self.train("--out", part, "--stages", 2, "--max-steps", 4, *options)
        self.assertTrue(self.exported(whole) == self.exported(part), "a resumed run ends in other bits")
        result = self.train("--out", part, "--stages", 1, "--max-steps", 5, *options)
        self.assertIn("resumed after step 4", result.stderr)

    def test_a_run_in_stages_is_tested_as_any_other(self):
        out = self.scratch / "tested"
        self.train("--out", out, "--devices", 2, *TWO_BY_TWO, "--max-steps", 1)
        result = run("eval", out, "--devices", 1)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_seq2seq(self):
        for devices, place in (("2", "last-stage"), ("sim:0-3", "every-stage")):
            with self.subTest(devices):
                out = self.scratch / f"text{len(devices)}"
                options = [*TINY_TEXT, "--devices", devices, *TWO_BY_TWO, "--output-layer", place, "--out", out,
                           "--json"]
                for steps in (2, 3):
                    result = run("train", "seq2seq", *options, "--max-steps", steps)
                    self.assertEqual(result.returncode, 0, result.stderr)
                self.assertLessEqual({"validation_perplexity", "validation_bleu"}, set(json.loads(result.stdout)))
                result = run("translate", out, stdin="twenty-one\n")
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_bench(self):
        result = run("bench", "pipeline", "--devices", 2, "--width", 16, "--layers", 4, "--batch-size", 8,
                     "--steps", 1, "--rounds", 1, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        found = json.loads(result.stdout)
        self.assertEqual(len(found["layers"]), 4)
        self.assertEqual(len(found["suggested_stage_layers"].split(",")), 2)


class RefusedTest(ProgramTest):
    def refused(self, *arguments, model="lenet5"):
        """The one line on stderr of a command that must be refused and write nothing."""
        out = self.scratch / "nothing"
        data = ["--data", self.data] if model == "lenet5" else TINY_TEXT
        result = run("train", model, *data, *arguments, "--out", out)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertFalse(out.exists())
        return result.stderr

    def test_devices_that_cannot_be_divided(self):
        self.assertIn("3 devices", self.refused("--devices", "sim:0-2", "--stages", 2))

    def test_more_stages_than_layers(self):
        self.assertIn("4 layers", self.refused("--devices", "sim:0-4", "--stages", 5))
        self.assertIn("1 layer has too few for 2 stages", self.refused("--devices", "sim:0-1", "--stages", 2, "--joint-vocabulary", "--tied",
                                               "all", model="seq2seq"))

    def test_stages_that_do_not_cover_the_model(self):
        stages = ["--devices", "sim:0-1", "--stages", 2, "--stage-layers"]
        self.assertIn("3 layers together", self.refused(*stages, "1,2"))
        self.assertIn("stage 1 has 0", self.refused(*stages, "4,0"))
        self.assertIn("1 of 2 stages", self.refused(*stages, "4"))
        self.assertIn("'2;2'", self.refused(*stages, "2;2"))

    def test_batches_that_cannot_be_divided(self):
        self.assertIn("3 micro-batches", self.refused("--devices", "sim:0-1", "--stages", 2, "--micro-batches", 3,
                                                      "--batch-size", 8))

    def test_options_that_need_stages(self):
        self.assertIn("recomputing activations is for", self.refused("--checkpoint-activations"))
        self.assertIn("stages' layers is for", self.refused("--stage-layers", "4"))
        self.assertIn("every stage is for", self.refused("--output-layer", "every-stage"))


if __name__ == "__main__":
    unittest.main()
