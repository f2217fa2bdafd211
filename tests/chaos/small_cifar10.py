"""tools/get_cifar10, which `pagoda data cifar10` becomes, for a small data set: small_cifar10.py JSON ARGUMENTS."""
import importlib.machinery
import importlib.util
import json
import pathlib
import sys

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "get_cifar10"

if __name__ == "__main__":
    loader = importlib.machinery.SourceFileLoader("get_cifar10", str(SCRIPT))
    get_cifar10 = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(get_cifar10)
    fields = json.loads(sys.argv[1]).items()
    description = {name: tuple(value) if isinstance(value, list) else value for name, value in fields}
    sys.exit(get_cifar10.main(sys.argv[2:], get_cifar10.Dataset(**description)))
