"""What `pagoda export RUN model.pt` wrote, in plain PyTorch:

    .venv/bin/python examples/load_export.py model.pt DIR

prints the accuracy on DIR/test_batch.bin. examples/load_export.cpp is the same in C++.
"""
import pathlib
import sys

import torch
from torch import nn


class LeNet5(nn.Module):
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


def read_images(path):
    """Records of 1 label and 3 x 32 x 32 pixels; the model sees the centre, standardised."""
    records = torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8).reshape(-1, 3073)
    images = records[:, 1:].reshape(-1, 3, 32, 32)[:, :, 2:30, 2:30].float()
    mean = images.mean((1, 2, 3), keepdim=True)
    deviation = images.std((1, 2, 3), unbiased=False, keepdim=True)
    return (images - mean) / deviation, records[:, 0].long()


def main(model_file, directory):
    model = LeNet5().eval()
    model.load_state_dict(torch.load(model_file, weights_only=True))
    images, labels = read_images(pathlib.Path(directory) / "test_batch.bin")
    with torch.no_grad():
        guesses = torch.cat([model(part).argmax(1) for part in images.split(500)])
    print(f"accuracy {(guesses == labels).double().mean():.6f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
