"""A ResNet for CIFAR-10: written in Python, trained by `pagoda train program`, evaluated in Python again.

    python examples/python_resnet.py export resnet.pt2
    pagoda data cifar10
    pagoda train program resnet.pt2 --data data/cifar-10-batches-bin --devices all --optimizer adamw --lr 2e-3 \
        --epochs 10 --out runs/resnet                    # killed? the same command goes on
    pagoda eval runs/resnet
    pagoda export runs/resnet weights.pt
    python examples/python_resnet.py evaluate data/cifar-10-batches-bin weights.pt
"""
import pathlib
import sys

import torch
from torch import nn

# Of CIFAR-10's training images, values 0 to 255: Pagoda scales images so.
MEANS = torch.tensor([125.307, 122.950, 113.865]).view(3, 1, 1)
DEVIATIONS = torch.tensor([62.993, 62.089, 66.705]).view(3, 1, 1)


class Group(nn.Module):
    """Two convolutions with a way around them, at half the size."""

    def __init__(self, channels, wider):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, wider, 3, padding=1, bias=False), nn.BatchNorm2d(wider), nn.ReLU(),
            nn.Conv2d(wider, wider, 3, padding=1, bias=False), nn.BatchNorm2d(wider))
        self.around = nn.Conv2d(channels, wider, 1, bias=False)

    def forward(self, x):
        return nn.functional.max_pool2d(torch.relu(self.body(x) + self.around(x)), 2)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.groups = nn.Sequential(Group(3, 16), Group(16, 32), Group(32, 64))
        self.output = nn.Sequential(nn.Flatten(), nn.Dropout(0.1), nn.Linear(64 * 16, 10))

    def forward(self, image, label):
        logits = self.output(self.groups(image))
        right = (logits.argmax(1) == label).double().mean()
        return {"loss": nn.functional.cross_entropy(logits, label), "accuracy": right}


def export(path):
    example = {"image": torch.randn(4, 3, 32, 32), "label": torch.randint(10, (4,))}
    batch = torch.export.Dim("batch")
    program = torch.export.export(ResNet().train(), (), example,
                                  dynamic_shapes={"image": {0: batch}, "label": {0: batch}})
    torch.export.save(program, path)


def accuracy(directory, weights):
    """On the test images."""
    content = bytearray((pathlib.Path(directory) / "test_batch.bin").read_bytes())
    records = torch.frombuffer(content, dtype=torch.uint8).view(-1, 1 + 3 * 32 * 32)
    labels = records[:, 0].long()
    images = (records[:, 1:].float().view(-1, 3, 32, 32) - MEANS) / DEVIATIONS
    model = ResNet().eval()
    model.load_state_dict(torch.load(weights, weights_only=True))
    with torch.no_grad():
        right = sum(model(x, y)["accuracy"].item() * len(y) for x, y in zip(images.split(200), labels.split(200)))
    return right / len(labels)


if __name__ == "__main__":
    if sys.argv[1] == "export":
        torch.manual_seed(1)
        export(sys.argv[2])
    else:
        print(f"accuracy {accuracy(sys.argv[2], sys.argv[3])}")
