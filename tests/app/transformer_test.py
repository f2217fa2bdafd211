"""A Transformer as a user runs it: by its preset's name, resumed, tested, translated in every way, averaged, served.

    PAGODA_PROGRAM=build/pagoda python3 tests/app/transformer_test.py
"""
import http.client
import json
import subprocess
import unittest

from program import PROGRAM, TIMEOUT_SECONDS, ProgramTest, run

LINES = ["twenty-one", "", "two hundred and one", "seven"]
SMALL = ["--preset", "multi30k-transformer", "--data", "builtin", "--tokenizer", "words", "--vocab-size", 400, "--hidden", 16,
         "--layers", 2, "--heads", 2, "--ffn", 24, "--batch-tokens", 400, "--max-pairs", 400, "--bleu-pairs", 5, "--lr-warmup", 1,
         "--lr-decay-steps", 9, "--valid-every", 0, "--save-every", 1, "--devices", 2]


class TransformerTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.out = cls.scratch / "run"
        trained = cls.trained(cls.out, 4)
        cls.summary = json.loads(trained.stdout)

    @classmethod
    def trained(cls, out, steps):
        result = run("train", "seq2seq", *SMALL, "--max-steps", steps, "--json", "--out", out)
        assert result.returncode == 0, result.stderr
        return result

    def exported(self, run_directory, *arguments):
        file = self.scratch / "weights.safetensors"
        result = run("export", run_directory, file, "--raw", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return file.read_bytes()

    def translated(self, *arguments):
        result = run("translate", self.out, *arguments, stdin="".join(line + "\n" for line in LINES))
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_the_preset_is_what_its_name_says(self):
        config = (self.out / "config.toml").read_text()
        for line in ('architecture = "transformer"', 'tied = "all"', "dropout = 0.3", 'schedule = "cosine"', "ema = 0.999"):
            self.assertIn(line, config)

    def test_a_resumed_run_ends_in_the_same_bits(self):
        part = self.scratch / "part"
        self.trained(part, 2)
        self.assertIn("resumed after step 2", self.trained(part, 4).stderr)
        self.assertTrue(self.exported(part) == self.exported(self.out), "a resumed run ends in other bits")

    def test_eval_finds_what_the_training_found(self):
        result = run("eval", self.out, "--devices", 3, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        found = json.loads(result.stdout)
        for name in ("loss", "perplexity", "bleu", "exact"):
            self.assertAlmostEqual(found[name], self.summary["validation_" + name], places=5)

    def hypotheses(self, *arguments):
        """The best of each line that is not empty."""
        lines = [json.loads(line)["hypotheses"][0] for line in self.translated("--json", *arguments).splitlines()]
        return [hypothesis for hypothesis, line in zip(lines, LINES, strict=True) if line]

    def scores(self, *arguments):
        return [hypothesis["score"] for hypothesis in self.hypotheses(*arguments)]

    def test_a_beam_of_one_is_greedy_and_wider_ones_find_better_scores(self):
        greedy = self.hypotheses("--beam-size", 1)
        printed = [line for line in self.translated("--beam-size", 1).splitlines() if line]
        self.assertEqual(printed, [hypothesis["text"] for hypothesis in greedy])
        for wider, narrower in zip(self.scores("--beam-size", 5), self.scores("--beam-size", 1), strict=True):
            self.assertGreaterEqual(wider, narrower - 1e-4)

    def test_length_penalty_greatest_length_and_repetitions(self):
        tokens = [hypothesis["tokens"] for hypothesis in self.hypotheses("--max-length-factor", 0)]
        self.assertEqual(max(map(len, tokens)), 10, "the model knows no end yet, so that all are cut")
        self.assertTrue(any(len(set(line)) < len(line) for line in tokens), "and it repeats itself")
        for hypothesis in self.hypotheses("--no-repeat-ngram", 1):
            self.assertEqual(len(set(hypothesis["tokens"])), len(hypothesis["tokens"]))
        # log p / length^penalty
        for none, one, two in zip(*(self.scores("--beam-size", 1, "--length-penalty", power) for power in (0, 1, 2)), strict=True):
            self.assertLess(none, one)
            self.assertAlmostEqual(one * one / (none * two), 1, delta=0.01)

    def test_eight_bits_and_a_shortlist(self):
        exact = self.scores()
        for arguments in (["--int8"], ["--shortlist", 5], ["--int8", "--shortlist", 5]):
            self.assertNotEqual(self.scores(*arguments), exact, arguments)
        for narrow, wide in zip(self.scores("--int8"), exact, strict=True):
            self.assertAlmostEqual(narrow, wide, delta=0.1)
        full, narrow = self.exported(self.out), self.exported(self.out, "--int8")
        self.assertLess(len(narrow), len(full))

    def test_attention(self):
        file = self.scratch / "attention.jsonl"
        self.translated("--attention", file)
        for line, one in zip(LINES, map(json.loads, file.read_text().splitlines()), strict=True):
            self.assertEqual(one["source"], line.split())
            self.assertEqual(len(one["weights"]), len(one["target"]))
            for row in one["weights"]:
                self.assertAlmostEqual(sum(row), 1, places=4)
        events = b"".join(path.read_bytes() for path in (self.out / "events").iterdir())
        self.assertIn(b"\x89PNG", events, "the run shows a picture of it")

    def test_average(self):
        mean = self.scratch / "mean.pt"
        result = run("average", self.out, mean, "--last", 2)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.translated("--weights", mean).count("\n"), len(LINES))

    def test_serve_in_eight_bits_by_a_shortlist_answers_as_translate(self):
        fast = ["--int8", "--shortlist", 50]
        expected = [json.loads(line)["hypotheses"][0]["text"] for line in self.translated("--json", *fast).splitlines()]
        server = subprocess.Popen([PROGRAM, "serve", self.out, "--port", "0", *map(str, fast)], stdout=subprocess.PIPE, text=True)
        try:
            connection = http.client.HTTPConnection(server.stdout.readline().strip().rpartition("/")[2], timeout=TIMEOUT_SECONDS)
            connection.request("POST", "/translate", json.dumps({"text": LINES}))
            answer = json.loads(connection.getresponse().read())
            connection.close()
        finally:
            server.terminate()
            server.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual([one["hypotheses"][0]["text"] for one in answer["translations"]], expected)


if __name__ == "__main__":
    unittest.main()
