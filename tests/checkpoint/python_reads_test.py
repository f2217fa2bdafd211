"""PyTorch and plain LibTorch read what `pagoda export` wrote, and compute the same with it.

    PAGODA_PROGRAM=build/pagoda PAGODA_LOAD_EXPORT=build/examples/example_load_export \
        .venv/bin/python tests/checkpoint/python_reads_test.py

Ends with code 77 (skipped) where Python has no torch.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import torch
    from torch import nn
except ImportError:
    print("skipped: this Python has no torch")
    sys.exit(77)

PROGRAM = os.environ["PAGODA_PROGRAM"]
LOAD_EXPORT = os.environ["PAGODA_LOAD_EXPORT"]
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))
from load_export import LeNet5, read_images  # noqa: E402


def write_data(directory):
    """CIFAR-10 files with random records."""
    generator = torch.Generator().manual_seed(1)
    for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
        labels = torch.randint(10, (57, 1), generator=generator, dtype=torch.uint8)
        pixels = torch.randint(256, (57, 3 * 32 * 32), generator=generator, dtype=torch.uint8)
        (directory / f"{name}.bin").write_bytes(bytes(torch.cat([labels, pixels], 1).flatten().tolist()))


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout


class PythonReadsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="pagoda-test-")
        cls.addClassCleanup(scratch.cleanup)
        cls.data = pathlib.Path(scratch.name)
        write_data(cls.data)
        cls.run_directory = cls.data / "run"
        output_of(PROGRAM, "train", "lenet5", "--data", cls.data, "--devices", "2", "--batch-size", "16",
                  "--max-steps", "8", "--out", cls.run_directory)

    def evaluated(self, weights):
        return json.loads(output_of(PROGRAM, "eval", self.run_directory, weights, "--json"))

    def exported(self, weights):
        file = self.data / f"model{weights}.pt"
        output_of(PROGRAM, "export", self.run_directory, file, weights)
        return file

    def test_weights_are_plain_and_compute_the_same(self):
        for weights in ("--raw", "--ema"):
            with self.subTest(weights):
                tensors = torch.load(self.exported(weights), weights_only=True)
                self.assertIs(type(tensors), dict)
                for name, tensor in tensors.items():
                    self.assertIs(tensor.dtype, torch.float32, name)
                    self.assertTrue(tensor.is_contiguous(), name)
                    self.assertFalse(tensor.requires_grad, name)
                model = LeNet5()
                model.load_state_dict(tensors)  # strict: all names and shapes fit
                images, labels = read_images(self.data / "test_batch.bin")
                with torch.no_grad():
                    loss = nn.functional.cross_entropy(model.double()(images.double()), labels).item()
                self.assertAlmostEqual(self.evaluated(weights)["loss"], loss, delta=1e-5 * loss)

    def test_safetensors_have_the_same_tensors(self):
        try:
            from safetensors.torch import load_file
        except ImportError:
            self.skipTest("this Python has no safetensors")
        file = self.data / "model.safetensors"
        output_of(PROGRAM, "export", self.run_directory, file, "--raw")
        expected, found = torch.load(self.exported("--raw"), weights_only=True), load_file(file)
        self.assertEqual(set(found), set(expected))
        for name, tensor in expected.items():
            self.assertTrue(torch.equal(found[name], tensor), name)

    def test_the_examples_find_the_accuracy_that_eval_finds(self):
        for weights in ("--raw", "--ema"):
            with self.subTest(weights):
                expected = f"accuracy {self.evaluated(weights)['accuracy']:.6f}\n"
                file = self.exported(weights)
                self.assertEqual(output_of(LOAD_EXPORT, file, self.data), expected)
                self.assertEqual(output_of(sys.executable, EXAMPLES / "load_export.py", file, self.data), expected)

    def test_raw_and_averaged_weights_differ(self):
        self.assertNotEqual(self.evaluated("--raw")["loss"], self.evaluated("--ema")["loss"])


if __name__ == "__main__":
    unittest.main()
