"""PyTorch reads what `pagoda train` wrote, and computes the same with it.

    PAGODA_PROGRAM=build/pagoda .venv/bin/python tests/checkpoint/python_reads_test.py

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


class LeNet5(nn.Module):
    """Written as a PyTorch user would, with the names of src/models/lenet5.cpp."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 5, padding=2)
        self.conv2 = nn.Conv2d(32, 64, 5, padding=2)
        self.hidden = nn.Linear(7 * 7 * 64, 512)
        self.logits = nn.Linear(512, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(self.conv1(x).relu(), 2)
        x = nn.functional.max_pool2d(self.conv2(x).relu(), 2)
        return self.logits(self.hidden(x.flatten(1)).relu())


def write_data(directory):
    """CIFAR-10 files with random records; returns the test images as the model sees them, and labels."""
    generator = torch.Generator().manual_seed(1)
    for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
        labels = torch.randint(10, (7, 1), generator=generator, dtype=torch.uint8)
        pixels = torch.randint(256, (7, 3 * 32 * 32), generator=generator, dtype=torch.uint8)
        (directory / f"{name}.bin").write_bytes(bytes(torch.cat([labels, pixels], 1).flatten().tolist()))
    centre = pixels.reshape(7, 3, 32, 32)[:, :, 2:30, 2:30].double()
    mean = centre.mean((1, 2, 3), keepdim=True)
    deviation = centre.std((1, 2, 3), unbiased=False, keepdim=True)
    return (centre - mean) / deviation, labels.flatten().long()


class PythonReadsTest(unittest.TestCase):
    def test_weights_are_plain_and_compute_the_same(self):
        for arguments, file in [([], "model-ema.pt"), (["--ema", "0"], "model.pt")]:
            with self.subTest(file), tempfile.TemporaryDirectory(prefix="pagoda-test-") as scratch:
                directory = pathlib.Path(scratch)
                images, labels = write_data(directory)
                result = subprocess.run(
                    [PROGRAM, "train", "lenet5", "--data", scratch, "--devices", "2", "--batch-size", "4",
                     "--max-steps", "2", "--out", directory / "out", "--json", *arguments],
                    capture_output=True, text=True, timeout=300)
                self.assertEqual(result.returncode, 0, result.stderr)
                summary = json.loads(result.stdout)

                weights = torch.load(directory / "out" / file, weights_only=True)
                self.assertIs(type(weights), dict)
                for name, tensor in weights.items():
                    self.assertIs(tensor.dtype, torch.float32, name)
                    self.assertTrue(tensor.is_contiguous(), name)
                    self.assertFalse(tensor.requires_grad, name)
                model = LeNet5().double()
                model.load_state_dict(weights)  # strict: all names and shapes fit
                with torch.no_grad():
                    logits = model(images)
                # The loss over 7 images of 10 logits each: what the program computed with the same weights.
                loss = nn.functional.cross_entropy(logits, labels).item()
                self.assertAlmostEqual(summary["test_loss"], loss, delta=1e-5 * loss)
                accuracy = (logits.argmax(1) == labels).double().mean().item()
                self.assertAlmostEqual(summary["test_accuracy"], accuracy, places=12)


if __name__ == "__main__":
    unittest.main()
