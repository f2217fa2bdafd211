#!/usr/bin/env python3
"""Builds the documentation site: `make docs`, and the test docs_site, call it with the Python of .venv.

    build.py [--program build/pagoda] [--out build-docs]

The pages are in OUT/html. Whatever Sphinx or doxygen warns of, and a link that leads nowhere, is an error. Ends with code 77
(skipped) where Python has no Sphinx.
"""
import argparse
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import api_pages  # noqa: E402
from stage import stage  # noqa: E402
from tree import ROOT  # noqa: E402


def version():
    return re.search(r"project\(Pagoda VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def run(*command, **options):
    if subprocess.run(command, **options).returncode != 0:
        sys.exit(f"{command[0]} failed; what it said stands above")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(ROOT / "build/pagoda"))
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build-docs")
    options = parser.parse_args()
    missing = [name for name in ("sphinx", "breathe", "furo", "myst_parser") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: this Python lacks {', '.join(missing)}; tools/setup docs installs them")
        sys.exit(77)
    out = options.out.resolve()
    for part in ("include", "xml", "html"):  # nothing of what is no longer in the tree
        shutil.rmtree(out / part, ignore_errors=True)
    api_pages.write_headers(out / "include")
    run("doxygen", str(ROOT / "docs/site/Doxyfile"), cwd=out)
    api_pages.prepare_for_breathe(out / "xml")
    stage(out / "source", options.program)
    run(sys.executable, "-m", "sphinx", "-b", "html", "-E", "-W", "--keep-going", "-q",
        "-D", f"release={version()}", "-d", str(out / "doctrees"), str(out / "source"), str(out / "html"))
    print(f"the site is {out / 'html/index.html'}")


if __name__ == "__main__":
    main()
