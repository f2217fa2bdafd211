"""A model made in Python, trained by the program, resumed, exported, and evaluated in Python again.

    PAGODA_PROGRAM=build/pagoda .venv/bin/python tests/app/program_test.py

Ends with code 77 (skipped) where Python has no torch.
"""
import json
import pathlib
import sys
import tempfile
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

DTYPES = {"F32": torch.float32, "I64": torch.int64}


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


def rows(count, seed):
    """Images whose class is where they are bright."""
    generator = torch.Generator().manual_seed(seed)
    label = torch.randint(3, (count,), generator=generator)
    image = torch.randn(count, 1, 6, 6, generator=generator)
    image[torch.arange(count), 0, :, 2 * label] += 2
    return {"image": image, "label": label}


def read_safetensors(path):
    content = pathlib.Path(path).read_bytes()
    size = int.from_bytes(content[:8], "little")
    tensors = {}
    for name, entry in json.loads(content[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            data = bytearray(content[8 + size + begin:8 + size + end])
            tensors[name] = torch.frombuffer(data, dtype=DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors


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
        torch.manual_seed(1)
        batch = torch.export.Dim("batch")
        exported = torch.export.export(Classifier().train(), (), rows(4, 0),
                                       dynamic_shapes={"image": {0: batch}, "label": {0: batch}})
        torch.export.save(exported, cls.folder / "model.pt2")
        for name, count, seed in (("train", 200, 1), ("valid", 100, 2)):
            numpy.savez(cls.folder / f"{name}.npz", **{n: t.numpy() for n, t in rows(count, seed).items()})

    def train(self, out, steps, *more):
        return run("train", "program", self.folder / "model.pt2", "--data", self.folder / "train.npz", "--valid",
                   self.folder / "valid.npz", "--devices", 2, "--batch-size", 16, "--optimizer", "adam", "--lr", "0.01",
                   "--max-steps", steps, "--out", self.folder / out, "--json", *more)

    def test_a_run_resumes_and_python_evaluates_what_it_exports_alike(self):
        self.train("whole", 21)
        self.train("cut", 9)
        self.train("cut", 21)
        for name in ("whole", "cut"):
            run("export", self.folder / name, self.folder / f"{name}.safetensors")
        weights = read_safetensors(self.folder / "whole.safetensors")
        for name, tensor in read_safetensors(self.folder / "cut.safetensors").items():
            self.assertTrue(torch.equal(tensor, weights[name]), name)

        model = Classifier()
        model.load_state_dict(weights)  # strict: all names and shapes fit
        with torch.no_grad():
            expected = model.eval()(**rows(100, 2))
        found = json.loads(run("eval", self.folder / "whole", "--json").stdout)
        self.assertEqual(found["accuracy"], expected["accuracy"].item())
        self.assertAlmostEqual(found["loss"], expected["loss"].item(), places=6)
        self.assertGreater(found["accuracy"], 0.8)

    def test_it_can_be_cut_into_stages(self):
        self.train("staged", 2, "--stages", 2, "--cut", "layers.5")

    def test_what_does_not_fit_is_told_in_one_line(self):
        numpy.savez(self.folder / "narrow.npz", image=numpy.zeros((5, 1, 6, 7), "float32"), label=numpy.zeros(5, "int64"))
        done = run("train", "program", self.folder / "model.pt2", "--data", self.folder / "narrow.npz", "--valid",
                   self.folder / "valid.npz", code=2)
        self.assertIn("input image: size 7 in dimension 3, the program was exported for 6", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_show_says_what_a_program_takes_and_calls(self):
        shown = run("show", self.folder / "model.pt2").stdout
        for part in ("input image: float32 [s", "output accuracy: float64 []", "aten::conv2d", "layers.0.weight",
                     "evaluation: the same program"):
            self.assertIn(part, shown)


if __name__ == "__main__":
    unittest.main()
