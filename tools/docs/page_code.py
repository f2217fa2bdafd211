"""Code blocks of the pages, as the tests compile and run them.

HTML comments directly before a block say how; the page shows nothing of them:

    <!-- given
    code that stands before the block: in its function, or before it where the block declares something
    -->
    <!-- compiled only: REASON -->       of a C++ block: it is not called
    <!-- not run: REASON -->             of commands, and of Python
    <!-- short: --max-steps 2 -->        of commands: appended to those that train, measure or verify
    <!-- arguments: --max-steps 2 -->    of a C++ block with a `main`: what it is called with

A C++ block is a function of its own in a namespace of its page; one that declares types or functions stands in that
namespace, so that later blocks of the page can use them. cpp_blocks.py writes all of them into one source.
"""
import dataclasses
import re
import textwrap

from tree import FENCE, ROOT, checked_pages

LANGUAGES = ("cpp", "sh", "python")


@dataclasses.dataclass
class Block:
    page: str
    line: int            # of the fence
    language: str
    code: str
    given: str = ""
    not_run: str = ""    # why
    short: str = ""
    arguments: str | None = None

    def declares(self):
        return self.language == "cpp" and re.search(
            r"^(struct|class|template|TORCH_MODULE|int main\(|[\w:]+(<.*>)? \w+\(.*\) \{$)", self.code, re.M) is not None

    def where(self):
        return f"{self.page}:{self.line}"


def note(block, comment):
    """Adds what a comment before a block says."""
    word, _, rest = comment.partition("\n" if comment.startswith("given") else ":")
    word, rest = word.strip(), rest.strip("\n")
    if word == "given":
        block.given += rest + "\n"
    elif word in ("compiled only", "not run"):
        block.not_run = rest.strip()
    elif word in ("short", "arguments"):
        setattr(block, word, rest.strip())
    else:
        raise ValueError(f"{block.where()}: a comment before a block that is none of given, compiled only, not run, short, "
                         f"arguments: {word}")


def blocks_of(page, text):
    """The blocks of a page in the languages that are tested."""
    lines, found, comments, index = text.split("\n"), [], [], 0
    while index < len(lines):
        line = lines[index]
        fence = FENCE.match(line)
        if line.lstrip().startswith("<!--"):
            end = next(i for i in range(index, len(lines)) if "-->" in lines[i])
            comments.append(textwrap.dedent("\n".join(lines[index:end + 1]))[4:].split("-->")[0].strip(" "))
            index = end + 1
            continue
        if fence:
            end = next(i for i in range(index + 1, len(lines)) if lines[i].strip() == fence[1])
            language = fence[2].strip()
            if language in LANGUAGES:
                block = Block(page, index + 1, language, textwrap.dedent("\n".join(lines[index + 1:end])))
                for comment in comments:
                    note(block, comment)
                found.append(block)
            index = end
        if line.strip():
            comments = []
        index += 1
    return found


def all_blocks(language=None):
    """README.zh.md has the code of README.md; tests/tools/readme_test.py sees to that."""
    pages = [page for page in checked_pages() if not page.startswith("benchmarks/") and page != "README.zh.md"]
    return [block for page in pages for block in blocks_of(page, (ROOT / page).read_text())
            if language in (None, block.language)]
