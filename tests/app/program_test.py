"""A model made in Python, trained by the program, resumed, exported, and evaluated in Python again.

    PAGODA_PROGRAM=build/pagoda .venv/bin/python tests/app/program_test.py

Ends with code 77 (skipped) where Python has no torch.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

try:
    import numpy
    import torch
    from torch import nn
except ImportError:
    print("skipped: this Python has no torch")
    sys.exit(77)

import program  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))
import python_resnet  # noqa: E402


class Classifier(nn.Module):
    """Returns its loss, and the accuracy as a metric."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Flatten(), nn.Dropout(0.1),
                                    nn.Linear(96, 3))

    def forward(self, image, label):
        logits = self.layers(image)
        right = (logits.argmax(1) == label).double().mean()
        return {"loss": nn.functional.cross_entropy(logits, label), "accuracy": right}


class LanguageModel(nn.Module):
    """Predicts the byte that follows each of 16."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(256, 24)
        self.layer = nn.GRU(24, 32, batch_first=True)
        self.output = nn.Linear(32, 256)

    def forward(self, tokens, following):
        logits = self.output(self.layer(self.embedding(tokens))[0])
        return nn.functional.cross_entropy(logits.flatten(0, 1), following.flatten())


def rows(count, seed):
    """Images whose class is where they are bright."""
    generator = torch.Generator().manual_seed(seed)
    label = torch.randint(3, (count,), generator=generator)
    image = torch.randn(count, 1, 6, 6, generator=generator)
    image[torch.arange(count), 0, :, 2 * label] += 2
    return {"image": image, "label": label}


def export_classifier(file, seed):
    torch.manual_seed(seed)
    batch = torch.export.Dim("batch")
    exported = torch.export.export(Classifier().train(), (), rows(4, 0), dynamic_shapes={"image": {0: batch}, "label": {0: batch}})
    torch.export.save(exported, file)


def write_images(file, count):
    """Records of CIFAR-10 with random content."""
    labels = torch.randint(10, (count, 1), dtype=torch.uint8)
    pixels = torch.randint(256, (count, 3 * 32 * 32), dtype=torch.uint8)
    file.write_bytes(bytes(torch.cat([labels, pixels], 1).flatten().tolist()))


def run(*arguments, code=0):
    done = program.run(*arguments)
    assert done.returncode == code, f"{arguments}: exit code {done.returncode}\n{done.stderr}"
    return done


class ProgramTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        warnings.filterwarnings("ignore")
        scratch = tempfile.TemporaryDirectory(prefix="pagoda-test-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        export_classifier(cls.folder / "model.pt2", seed=1)
        for name, count, seed in (("train", 200, 1), ("valid", 100, 2)):
            numpy.savez(cls.folder / f"{name}.npz", **{n: t.numpy() for n, t in rows(count, seed).items()})
        python_resnet.export(cls.folder / "resnet.pt2")
        for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
            write_images(cls.folder / f"{name}.bin", 57)

    def train(self, out, steps, *more):
        return run(*self.command(out, steps, *more))

    def command(self, out, steps, *more):
        return ("train", "program", self.folder / "resnet.pt2", "--data", self.folder, "--devices", 2, "--batch-size", 16,
                "--optimizer", "adam", "--lr", "0.01", "--max-steps", steps, "--save-every", 4, "--out", self.folder / out,
                *more)

    def kill_after_first_checkpoint(self, out, steps):
        process = subprocess.Popen([program.PROGRAM, *map(str, self.command(out, steps))], stderr=subprocess.DEVNULL)
        while process.poll() is None and not list((self.folder / out).glob("checkpoints/step-*.pt")):
            time.sleep(0.01)
        process.kill()
        process.wait()

    def test_a_killed_run_resumes_and_python_evaluates_what_it_exports_alike(self):
        self.train("whole", 40)
        self.kill_after_first_checkpoint("killed", 40)
        self.train("killed", 40)
        weights = {}
        for name in ("whole", "killed"):
            run("export", self.folder / name, self.folder / f"{name}.pt")
            weights[name] = torch.load(self.folder / f"{name}.pt", weights_only=True)
        for name, tensor in weights["whole"].items():
            self.assertTrue(torch.equal(tensor, weights["killed"][name]), name)
        found = json.loads(run("eval", self.folder / "killed", "--json").stdout)
        expected = python_resnet.accuracy(self.folder, self.folder / "killed.pt")
        self.assertAlmostEqual(found["accuracy"], expected, places=12)

    def test_a_run_does_not_go_on_with_other_rows_or_another_program(self):
        data, model = self.folder / "rows.npz", self.folder / "other.pt2"
        command = ("train", "program", model, "--data", data, "--valid", data, "--devices", 1, "--batch-size", 16,
                   "--out", self.folder / "changed")
        shutil.copy(self.folder / "train.npz", data)
        shutil.copy(self.folder / "model.pt2", model)
        run(*command, "--max-steps", 2)
        other_model = self.folder / "other-seed.pt2"
        export_classifier(other_model, seed=2)
        for changed, other in ((data, self.folder / "valid.npz"), (model, other_model)):
            kept = changed.read_bytes()
            shutil.copy(other, changed)
            refused = run(*command, "--max-steps", 4, code=1).stderr
            self.assertRegex(refused, rf"other data \(\S*{changed.name} \(\w+\): [\d,]+ bytes, CRC-32 \w{{8}}; now ")
            changed.write_bytes(kept)
        self.assertIn("resumed after step 2", run(*command, "--max-steps", 4).stderr)

    def test_rows_of_named_tensors_train_it_in_stages_too(self):
        run("train", "program", self.folder / "model.pt2", "--data", self.folder / "train.npz", "--valid",
            self.folder / "valid.npz", "--devices", 2, "--stages", 2, "--cut", "layers.5", "--batch-size", 16,
            "--max-steps", 30, "--lr", "0.01", "--out", self.folder / "staged")
        found = json.loads(run("eval", self.folder / "staged", "--json").stdout)
        self.assertGreater(found["accuracy"], 0.6)

    def test_a_program_of_fixed_sizes_is_trained_on_text(self):
        """Exported for 4 rows of 16 bytes: other feeds are left out, and said so."""
        window = torch.zeros(4, 16, dtype=torch.int64)
        model = LanguageModel().train()
        torch.export.save(torch.export.export(model, (window, window.clone())), self.folder / "bytes.pt2")
        text = "".join(f"{i} and {i + 1} is {2 * i + 1}\n" for i in range(100))
        (self.folder / "text.txt").write_text(text)
        command = ("train", "program", self.folder / "bytes.pt2", "--data", self.folder / "text.txt", "--valid",
                   self.folder / "text.txt", "--text", "bytes", "--optimizer", "adam", "--devices", 2)
        self.assertIn("was exported for 4 rows at a time, not 64; give --batch-size 4", run(*command, code=2).stderr)
        log = run(*command, "--batch-size", 4, "--epochs", 2, "--lr", "0.01", "--out", self.folder / "bytes").stderr
        windows = (len(text) - 1) // 16
        self.assertNotEqual(windows % 8, 0)
        self.assertIn(f"until step {2 * (windows // 8)}", log)
        self.assertIn(f"{windows % 4} of {windows} rows to validate on are left out", log)
        found = json.loads(run("eval", self.folder / "bytes", "--json").stdout)["loss"]
        run("export", self.folder / "bytes", self.folder / "bytes.pt")
        model.load_state_dict(torch.load(self.folder / "bytes.pt", weights_only=True))
        numbers = torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8).long()
        used = windows // 4 * 4 * 16
        with torch.no_grad():
            expected = model(numbers[:used].view(-1, 16), numbers[1:used + 1].view(-1, 16)).item()
        self.assertAlmostEqual(found, expected, places=4)
        self.assertLess(found, 3.5)

    def test_what_does_not_fit_is_told_in_one_line(self):
        self.assertIn("give --cut MODULE", run(*self.command("none", 1, "--stages", 2), code=2).stderr)
        self.assertIn("pagoda bench", run("train", "program", self.folder / "resnet.pt2", "--data", self.folder,
                                          "--devices", "auto", code=2).stderr)
        numpy.savez(self.folder / "narrow.npz", image=numpy.zeros((5, 1, 6, 7), "float32"), label=numpy.zeros(5, "int64"))
        done = run("train", "program", self.folder / "model.pt2", "--data", self.folder / "narrow.npz", "--valid",
                   self.folder / "valid.npz", code=2)
        self.assertIn("input image: size 7 in dimension 3, the program was exported for 6", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        nothing = torch.zeros(0, 16, dtype=torch.int64)
        torch.export.save(torch.export.export(LanguageModel(), (nothing, nothing.clone())), self.folder / "nothing.pt2")
        (self.folder / "letters.txt").write_text("letters " * 10)
        done = run("train", "program", self.folder / "nothing.pt2", "--data", self.folder / "letters.txt", "--valid",
                   self.folder / "letters.txt", "--text", "bytes", code=1)
        self.assertIn("exported for batches of 0 rows", done.stderr)

    def test_show_says_what_a_program_takes_and_calls(self):
        shown = run("show", self.folder / "model.pt2").stdout
        for part in ("input image: float32 [s", "output accuracy: float64 []", "aten::conv2d", "layers.0.weight",
                     "evaluation: the same program"):
            self.assertIn(part, shown)


if __name__ == "__main__":
    unittest.main()
