#!/usr/bin/env python3
"""Writes the C++ blocks of all pages as one source of tests: `cpp_blocks.py OUT.cpp` (CMake calls it)."""
import pathlib
import re
import shlex
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from page_code import all_blocks  # noqa: E402

HEAD = """// Made of the pages' code blocks by tools/docs/cpp_blocks.py.
#include "page_surroundings.h"
"""


def at_line(block):
    return f'#line {block.line + 1} "{block.page}"\n'


def without_includes(code):
    return re.sub(r"^#include .*$", "", code, flags=re.M)


def called_main(block):
    """A block with a main, and a test that calls it."""
    name = f"main_at_{block.line}"
    code = without_includes(block.code).replace("int main(", f"int {name}(")
    arguments = ", ".join(f'"{word}"' for word in ["program", *shlex.split(block.arguments or "")])
    test = (f"TEST(PageCode, Line{block.line}) {{\n  EXPECT_EQ(page_surroundings::call({name}, {{{arguments}}}), 0);\n}}\n"
            if block.arguments is not None else "")
    return at_line(block) + code + "\n" + test


def block_code(block):
    if re.search(r"^int main\(", block.code, re.M):
        return block.given + called_main(block)
    code = at_line(block) + without_includes(block.code)
    if block.declares():
        return f"{block.given}{code}\n"
    function = "static void" if block.not_run else "TEST(PageCode,"
    name = f" compiled_at_{block.line}()" if block.not_run else f" Line{block.line})"
    return f"{function}{name} {{\n{block.given}{code}\n}}\n"


def source():
    parts, pages = [HEAD], {}
    for block in all_blocks("cpp"):
        pages.setdefault(block.page, []).append(block)
    for page, blocks in pages.items():
        name = re.sub(r"\W", "_", page.removesuffix(".md"))
        code = "".join(block_code(block) for block in blocks).replace("TEST(PageCode,", f"TEST({name},")
        parts.append(f"\nnamespace {name} {{\nusing namespace page_surroundings;\n{code}}}  // namespace {name}\n")
    return "".join(parts)


if __name__ == "__main__":
    text, out = source(), pathlib.Path(sys.argv[1])
    if not out.exists() or out.read_text() != text:
        out.write_text(text)
