"""The models that exported programs are measured with; their forward returns the loss."""

SIZES = {"cnn": 32, "resnet18": 32}


def make(name):
    import torch
    from torch import nn

    class Score(nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, x, y):
            return nn.functional.cross_entropy(self.model(x), y)

    torch.manual_seed(1)
    if name == "cnn":
        return Score(nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(64 * 8 * 8, 128), nn.ReLU(), nn.Linear(128, 10)))
    # torchvision's own library may be built for another LibTorch; its models need none of it.
    make.library = torch.library.Library("torchvision", "DEF")
    for operator in ("nms", "qnms"):
        make.library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import torchvision

    return Score(torchvision.models.get_model(name, weights=None, num_classes=10))


def rows(name, count):
    import torch

    return torch.randn(count, 3, SIZES[name], SIZES[name]), torch.randint(10, (count,))


def export(name, path):
    import torch

    batch = torch.export.Dim("batch")
    program = torch.export.export(make(name).train(), rows(name, 4), dynamic_shapes={"x": {0: batch}, "y": {0: batch}})
    torch.export.save(program, path)


if __name__ == "__main__":
    import sys

    export(sys.argv[1], sys.argv[2])
