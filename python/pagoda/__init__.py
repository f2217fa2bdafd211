"""Pagoda: the program `pagoda`, and its C++ library for CMake.

    pagoda --help
    cmake -DCMAKE_PREFIX_PATH="$(python -m pagoda --cmake-prefix)" …      # find_package(Pagoda)

The program is started in place of Python; it finds LibTorch in the package torch beside it.
"""
import importlib.util
import os
import pathlib
import sys

PREFIX = pathlib.Path(__file__).resolve().parent
PROGRAM = PREFIX / "bin" / "pagoda"


def torch_folder():
    """The folder of the package torch, which is not imported."""
    found = importlib.util.find_spec("torch")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("pagoda: the package torch is missing; install it: pip install torch==2.13.0")
    return pathlib.Path(found.submodule_search_locations[0])


def cmake_prefix():
    """What CMAKE_PREFIX_PATH must hold for find_package(Pagoda)."""
    return f"{PREFIX};{torch_folder()}"


def main():
    """Becomes the program."""
    torch = torch_folder()
    if torch.parent != PREFIX.parent:  # such as in the system's packages below a virtual environment
        paths = [str(torch / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
        os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, paths))
    os.execv(PROGRAM, ["pagoda", *sys.argv[1:]])
