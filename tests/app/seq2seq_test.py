"""Sequence to sequence as a user runs it: train, resume, test, translate, average.

    PAGODA_PROGRAM=build/pagoda python3 tests/app/seq2seq_test.py
"""
import array
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading
import unittest

from program import PROGRAM, ProgramTest, run, safetensors

HERE = pathlib.Path(__file__).resolve().parent

TINY = ["--tokenizer", "words", "--vocab-size", 60, "--embedding", 8, "--hidden", 8, "--batch-size", 8,
        "--max-pairs", 200, "--bleu-pairs", 5, "--valid-every", 0, "--devices", 2]


def train(*arguments):
    """A small run; `arguments` take the place of TINY's where they name the same option."""
    kept = [part for name, value in zip(TINY[::2], TINY[1::2]) if name not in arguments for part in (name, value)]
    return run("train", "seq2seq", *kept, *arguments)


class Seq2SeqTest(ProgramTest):
    def trained(self, name, *arguments):
        out = self.scratch / name
        result = train("--max-steps", 4, "--json", "--out", out, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return out, json.loads(result.stdout)

    def trained_once(self):
        """A run that tests share which do not change it, and its summary."""
        if "shared_run" not in Seq2SeqTest.__dict__:
            Seq2SeqTest.shared_run = self.trained("shared")
        return Seq2SeqTest.shared_run

    def exported(self, directory):
        self.assertEqual(run("export", directory, self.scratch / "w.pt", "--raw").returncode, 0)
        return (self.scratch / "w.pt").read_bytes()

    def test_training_needs_no_options(self):
        result = run("train", "seq2seq", "--max-steps", 1, "--json", "--out", self.scratch / "defaults")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["steps"], 1)

    def test_a_run_reports_perplexity_and_bleu_and_goes_on(self):
        out, summary = self.trained("whole", "--dropout", 0.2)
        self.assertLessEqual({"validation_loss", "validation_perplexity", "validation_bleu", "validation_exact"}, set(summary))
        self.assertEqual(sorted(path.name for path in (out / "vocabulary").iterdir()), ["source.txt", "target.txt"])
        part = self.scratch / "part"
        for steps in (2, 4):
            self.assertEqual(train("--dropout", 0.2, "--max-steps", steps, "--out", part).returncode, 0)
        self.assertTrue(self.exported(out) == self.exported(part), "a resumed run ends in other bits")

    def test_eval_finds_what_the_training_found(self):
        out, summary = self.trained_once()
        result = run("eval", out, "--devices", 3, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        found = json.loads(result.stdout)
        self.assertEqual((found["step"], found["weights"], found["samples"]), (4, "raw", 500))
        for name in ("loss", "perplexity", "bleu", "exact"):
            self.assertAlmostEqual(found[name], summary["validation_" + name], places=6)
        self.assertEqual([list(one) for one in found["translations"]], [["source", "translation", "reference"]] * 3)

    def test_eval_on_other_text(self):
        out, _ = self.trained_once()
        result = run("eval", "--valid-pairs", self.written_pairs("other.tsv", 7), out, "--bleu-pairs", 1)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\Araw weights after step 4: perplexity [\d.]+, BLEU [\d.]+, exact [\d.]+ %, "
                                        r"loss [\d.]+ on 7 pairs\n\n0 a b → .* \(b a 0\)\n\Z")
        refused = run("eval", out, "--data", "builtin")
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertRegex(refused.stderr, "--data does not apply .* a run of seq2seq; what applies: .*--valid-pairs")

    def test_a_run_of_an_older_version_goes_on(self):
        """Each folder of old_runs holds a run of 2 steps, and its text; the second time an option did not exist yet."""
        for old in (HERE / "old_runs").iterdir():
            for missing in ("", "row-update"):
                with self.subTest(old.name, missing=missing):
                    place = self.scratch / f"{old.name}{missing}"
                    shutil.copytree(old, place)
                    config = place / "run" / "config.toml"
                    config.write_text("".join(line for line in config.read_text().splitlines(keepends=True)
                                              if not missing or not line.startswith(missing)))
                    result = run("train", "seq2seq", "--pairs", "pairs.tsv", "--tokenizer", "words", "--vocab-size", 30,
                                 "--embedding", 4, "--hidden", 4, "--batch-size", 4, "--bleu-pairs", 2, "--devices", 1,
                                 "--seed", 3, "--max-steps", 4, "--valid-every", 2, "--out", "run", cwd=place)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertIn("resumed after step 2", result.stderr)
                    self.assertEqual(run("translate", place / "run", stdin="1 a b\n").returncode, 0)

    def test_every_kind_of_model_and_text(self):
        for arguments in (["--data", "builtin", "--tokenizer", "sentencepiece", "--vocab-size", 8000,
                           "--subword-sampling", 0.2],
                          ["--softmax", "sampled", "--softmax-samples", 20, "--row-update", "lazy"],
                          ["--cell", "gru", "--layers", 2, "--bidirectional", "--attention", "bahdanau"],
                          ["--input-feeding", "--tied", "output", "--buckets", "5:5,10:10,30:30"],
                          ["--tokenizer", "characters", "--joint-vocabulary", "--tied", "all", "--batch-tokens", 500]):
            with self.subTest(arguments):
                result = train("--max-steps", 1, *arguments)
                self.assertEqual(result.returncode, 0, result.stderr)
                if "sentencepiece" in arguments:
                    self.assertRegex(result.stderr, r"\d+ and \d+ tokens, not 8,000: the text has no more")

    def test_translate_keeps_lines_and_their_order(self):
        out, _ = self.trained_once()
        lines = ["twenty-one", "", "two hundred and one", "seven", "xyzzy"] * 3
        for arguments in (["--beam-size", 1], ["--beam-size", 3, "--devices", 3, "--batch-tokens", 4, "--stats"]):
            result = run("translate", out, *arguments, stdin="\n".join(lines) + "\n")
            self.assertEqual(result.returncode, 0, result.stderr)
            found = result.stdout.split("\n")[:-1]
            self.assertEqual(len(found), len(lines))
            self.assertEqual(found[:5], found[5:10], "the same lines become the same")
            self.assertEqual(found[1], "")
        self.assertRegex(result.stderr, r"start-up \d+\.\d\d s; 15 sentences in .* sentences/s, .* tokens/s, .* words/s\n\Z")

    def translated(self, directory, *arguments, lines=("twenty-one", "", "two hundred and one", "seven")):
        result = run("translate", directory, *arguments, stdin="\n".join(lines) + "\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_translate_in_8_bits_and_by_a_shortlist(self):
        out, _ = self.trained_once()
        plain = self.translated(out, "--beam-size", 2).stdout
        self.assertEqual(self.translated(out, "--beam-size", 2, "--int8").stdout.count("\n"), plain.count("\n"))
        kept = out / "vocabulary" / "shortlist.safetensors"
        first = self.translated(out, "--beam-size", 2, "--shortlist", 200)
        self.assertIn("learning a shortlist from", first.stderr)
        self.assertTrue(kept.exists())
        again = self.translated(out, "--beam-size", 2, "--shortlist", 200)
        self.assertEqual((again.stdout, again.stderr), (first.stdout, ""))
        self.assertEqual(first.stdout, plain, "a list of nearly the whole vocabulary finds the same")
        self.translated(out, "--beam-size", 2, "--shortlist", 5, "--int8", "--devices", 2)
        kept.write_bytes(kept.read_bytes()[:-8])
        damaged = run("translate", out, "--shortlist", 5, stdin="six\n")
        self.assertEqual(damaged.returncode, 1)
        self.assertRegex(damaged.stderr, r"cannot use the shortlist .*shortlist\.safetensors.*; remove it, and it is learnt again")
        kept.unlink()
        refused = run("translate", out, "--int8", "--devices", "sim:1", stdin="six\n")
        self.assertEqual((refused.returncode, "on CPU devices" in refused.stderr), (2, True), refused.stderr)

    def test_weights_of_8_bits_are_exported_and_taken_back(self):
        """Rounded by half a step at most, embeddings too."""
        out, _ = self.trained_once()
        names = ("full", "narrow", "wide")
        full, narrow, wide = files = [self.scratch / f"{name}.safetensors" for name in names]
        for file, options in zip(files, ([], ["--int8"], ["--weights", narrow])):
            said = run("export", out, file, *options)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertEqual("in 8 bits" in said.stdout, file == narrow)
        self.assertLess(narrow.stat().st_size, full.stat().st_size)
        exact, stored, taken = map(safetensors, files)
        self.assertEqual(list(taken), list(exact))
        for name, values in exact.items():
            if name in stored:
                self.assertEqual((stored[name], taken[name]), (values, values), name)
                continue
            scales = array.array("f", stored[name + ".scale"])
            steps = array.array("b", stored[name + ".int8"])
            exact_values, taken_values = array.array("f", values), array.array("f", taken[name])
            width = len(steps) // len(scales)
            for i, step in enumerate(steps):
                scale = scales[i // width]
                self.assertAlmostEqual(taken_values[i], step * scale, delta=1e-6 * scale * abs(step), msg=name)
                self.assertAlmostEqual(taken_values[i], exact_values[i], delta=0.5001 * scale, msg=name)
        self.assertEqual(self.translated(out, "--int8", "--weights", narrow).stdout.count("\n"), 4)

    def test_translate_refuses_what_is_not_utf8(self):
        out, _ = self.trained_once()
        refused = run("translate", out, stdin=b"six\n\xff\n")
        self.assertEqual((refused.returncode, refused.stdout.count(b"\n")), (1, 1), "what comes before is translated")
        self.assertIn(b"stdin, line 2", refused.stderr)

    def test_n_best_comes_with_falling_scores(self):
        out, _ = self.trained_once()
        result = run("translate", out, "--beam-size", 4, "--n-best", 3, stdin="twelve\n")
        rows = [line.split("\t") for line in result.stdout.splitlines() if line]
        self.assertEqual(len(rows), 3)
        scores = [float(score) for score, _ in rows]
        self.assertEqual(scores, sorted(scores, reverse=True))
        self.assertEqual(run("translate", out, "--beam-size", 2, "--n-best", 3).returncode, 2)
        json_lines = run("translate", out, "--beam-size", 4, "--n-best", 3, "--json", stdin="twelve\n\n").stdout
        line, empty = map(json.loads, json_lines.splitlines())
        self.assertEqual(line["source"], "twelve")
        self.assertEqual([(f"{one['score']:.4f}", one["text"]) for one in line["hypotheses"]], [tuple(row) for row in rows])
        self.assertEqual([one["text"] for one in line["hypotheses"]], [" ".join(one["tokens"]) for one in line["hypotheses"]])
        self.assertEqual(empty, {"source": "", "hypotheses": [{"text": "", "score": 0, "tokens": []}]})

    def test_translate_answers_lines_as_they_come(self):
        out, _ = self.trained_once()
        process = subprocess.Popen([PROGRAM, "translate", out], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with process:
            for line in (b"six\n", b"seven\neight\n"):
                process.stdin.write(line)
                process.stdin.flush()
                for _ in range(line.count(b"\n")):
                    self.assertTrue(process.stdout.readline().endswith(b"\n"))
            process.stdin.close()
        self.assertEqual(process.returncode, 0)

    def test_attention_as_json(self):
        out, _ = self.trained_once()
        file = self.scratch / "attention.jsonl"
        result = run("translate", out, "--attention", file, stdin="twenty-one\n\nsix hundred and seven\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        first, empty, last = map(json.loads, file.read_text().splitlines())
        self.assertEqual(empty, {"source": [], "target": [], "weights": []})
        self.assertEqual(last["source"], ["six", "hundred", "and", "seven"])
        for one in (first, last):
            self.assertEqual(len(one["weights"]), len(one["target"]))
            for row in one["weights"]:
                self.assertEqual(len(row), len(one["source"]))
                self.assertAlmostEqual(sum(row), 1, places=5)
        self.assertEqual(run("translate", out, "--attention", "/nonexistent/a", stdin="six\n").returncode, 1)

    def test_a_run_shows_attention_as_a_picture(self):
        out, _ = self.trained_once()
        events = b"".join(path.read_bytes() for path in (out / "events").iterdir())
        self.assertIn(b"attention", events)
        self.assertIn(b"\x89PNG", events)

    def test_label_smoothing_is_for_the_full_softmax(self):
        sampled = ["--softmax", "sampled", "--softmax-samples", 20]
        refused = train("--max-steps", 1, *sampled, "--label-smoothing", 0.1)
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("label smoothing", refused.stderr)

    def test_files_of_pairs(self):
        pairs = [(f"{i} a b", f"b a {i}") for i in range(40)]
        tsv, source, target, conv = (self.scratch / name for name in ("p.tsv", "s.txt", "t.txt", "c.conv"))
        tsv.write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
        source.write_text("".join(f"{a}\n" for a, _ in pairs))
        target.write_text("".join(f"{b}\n" for _, b in pairs))
        conv.write_text("".join(f"E\nM {a}\nM {b}\n" for a, b in pairs))
        for files, pairs in [(["--pairs", tsv], 38), (["--source", source, "--target", target], 38), (["--conv", conv], 38),
                             (["--conv", conv, "--conv", conv], 76), (["--conv", conv, conv], 76)]:
            result = train("--max-steps", 1, *files)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"training: {pairs} pairs", result.stderr)  # a twentieth is held out
            self.assertIn(f"validation: {pairs // 19} pairs", result.stderr)

    def written_pairs(self, name="p.tsv", count=60):
        file = self.scratch / name
        file.write_text("".join(f"{i} a b\tb a {i}\n" for i in range(count)))
        return file

    def test_text_is_read_once(self):
        pipe = self.scratch / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_text, args=(self.written_pairs().read_text(),), daemon=True)
        writer.start()
        result = train("--max-steps", 1, "--pairs", pipe)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("training: 57 pairs", result.stderr)
        self.assertIn("validation: 3 pairs", result.stderr)

    def test_tokens_are_kept_for_a_resume(self):
        pairs = self.written_pairs()
        stderr = {}
        for name in ("kept", "read again", "damaged", "whole"):
            out = self.scratch / f"tokens {name}"
            kept = out / "vocabulary" / "tokens.bin"
            for steps in [2, 4] if name != "whole" else [4]:
                result = train("--dropout", 0.2, "--pairs", pairs, "--max-steps", steps, "--out", out)
                self.assertEqual(result.returncode, 0, result.stderr)
                stderr[name] = result.stderr
                self.assertTrue(kept.exists())
                if steps == 2 and name == "read again":
                    kept.unlink()
                if steps == 2 and name == "damaged":
                    bytes_kept = bytearray(kept.read_bytes())
                    bytes_kept[len(bytes_kept) // 2] ^= 1
                    kept.write_bytes(bytes_kept)
        bits = self.exported(self.scratch / "tokens whole")
        for name in ("kept", "read again", "damaged"):
            self.assertTrue(self.exported(self.scratch / f"tokens {name}") == bits, f"{name}: a resumed run ends in other bits")
        self.assertIn("the text was not read again", stderr["kept"])
        self.assertNotIn("reading the training text", stderr["kept"])
        self.assertIn("training: 57 pairs", stderr["kept"])
        self.assertIn("reading the training text", stderr["read again"])
        self.assertRegex(stderr["damaged"], "tokens.bin is damaged: .*; the text was read again")

    def test_a_run_does_not_go_on_with_other_text(self):
        pairs, out = self.written_pairs(), self.scratch / "stale"
        on_pairs = ["--pairs", pairs, "--max-steps", 1, "--out", out]
        self.assertEqual(train(*on_pairs).returncode, 0)
        os.utime(pairs, (0, 0))
        touched = train(*on_pairs)
        self.assertEqual(touched.returncode, 0, touched.stderr)
        self.assertRegex(touched.stderr, r"is of other text or options \(pairs .*; the text was read again")
        self.written_pairs(count=80)
        tested = run("eval", out)
        self.assertEqual(tested.returncode, 1, tested.stderr)
        self.assertRegex(tested.stderr, r"has changed \(.*p\.tsv .*held out.*--valid-pairs")
        changed = train(*on_pairs)
        self.assertEqual(changed.returncode, 1, changed.stderr)
        self.assertRegex(changed.stderr, r"other data \(\S*p\.tsv \(pairs\): \d+ bytes, CRC-32 \w{8}; now .*--overwrite")
        (out / ".overwriting").touch()  # as a start with --overwrite leaves it that is killed
        overwritten = train(*on_pairs)
        self.assertEqual(overwritten.returncode, 0, overwritten.stderr)
        self.assertIn("training: 76 pairs", overwritten.stderr)
        self.assertIn("train-pairs = 76\n", (out / "data.toml").read_text())

        vocabulary = out / "vocabulary" / "target.txt"
        tokens = vocabulary.read_text().splitlines(keepends=True)
        vocabulary.write_text("".join(tokens[:4] + tokens[:3:-1]))
        for refused in (run("translate", out, stdin="1 a\n"), train(*on_pairs)):
            self.assertEqual(refused.returncode, 1, refused.stderr)
            self.assertRegex(refused.stderr, r"vocabulary has changed .*target\.txt.*CRC-32.*; now ")
        vocabulary.write_text("".join(tokens))
        self.assertEqual(run("translate", out, stdin="1 a\n").returncode, 0)

    def test_average_of_the_last_checkpoints(self):
        out, _ = self.trained("average", "--save-every", 1)
        self.assertEqual(run("average", out, self.scratch / "mean.pt", "--last", 2).returncode, 0)
        one = run("average", out, self.scratch / "one.pt", "--last", 1)
        self.assertEqual(one.returncode, 0, one.stderr)
        self.assertTrue((self.scratch / "one.pt").read_bytes() == self.exported(out))
        refused = run("average", out, self.scratch / "many.pt", "--last", 9)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--keep-last", refused.stderr)

    def test_bad_input(self):
        bad = self.scratch / "bad.tsv"
        bad.write_bytes(b"one\tun\n\xff\tdeux\nthree\ttrois\n" + b"four\tquatre\n" * 40)
        refused = train("--max-steps", 1, "--pairs", bad)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("bad.tsv", refused.stderr)
        self.assertIn("2", refused.stderr)
        self.assertEqual(train("--max-steps", 1, "--pairs", bad, "--on-bad-line", "skip").returncode, 0)
        for arguments, word in [(["--buckets", "5"], "bucket"), (["--source", bad], "target"),
                                (["--tied", "all"], "--joint-vocabulary"), (["--data", "other"], "builtin"),
                                (["--subword-sampling", 0.2, "--tokenizer", "words"], "sentencepiece"),
                                (["--data", "builtin", "--pairs", bad], "--data")]:
            result = train("--max-steps", 1, *arguments)
            self.assertIn(result.returncode, (1, 2), result.stderr)
            self.assertIn(word, result.stderr)
        self.assertEqual(run("translate", "/nonexistent").returncode, 2)

    def test_more_memory_than_there_is(self):
        result = train("--max-steps", 1, "--hidden", 2_000_000)
        self.assertEqual(result.returncode, 1, result.stderr)
        own_lines = re.sub(r"\A==\d+==WARNING: \w+Sanitizer .*\n", "", result.stderr)
        self.assertRegex(own_lines, r"\Apagoda: tower 0 .*out of memory: cannot allocate .* TiB.*\n\Z")


if __name__ == "__main__":
    unittest.main()
