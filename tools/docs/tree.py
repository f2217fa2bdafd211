"""What of the tree becomes which page of the site, and the Markdown of those pages."""
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Pages that lie elsewhere than in docs/, and where the site has them.
ELSEWHERE = {
    "docs/README.md": "index.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
    "examples/README.md": "examples/index.md",
}


def written_pages():
    """Every page that a person has written: path in the tree to path in the site."""
    pages = {f"docs/{path.relative_to(ROOT / 'docs')}": str(path.relative_to(ROOT / "docs"))
             for path in sorted((ROOT / "docs").rglob("*.md"))}
    return pages | ELSEWHERE


def checked_pages():
    """Those whose links and code are checked: the site's, and what a plain Git host shows first."""
    return sorted(written_pages()) + sorted(
        str(path.relative_to(ROOT)) for path in ROOT.glob("README*.md"))


def example_pages():
    """Programs in examples/ as pages that show them."""
    names = [path.name for path in sorted((ROOT / "examples").iterdir())]
    return {f"examples/{name}": f"examples/{name.replace('.', '_')}.md"
            for name in names if name.endswith((".cpp", ".h", ".py"))}


@functools.cache
def public_headers():
    """As they stand in an #include, without `pagoda/`; but for the one that includes all others."""
    base = ROOT / "include/pagoda"
    return [str(path.relative_to(base)) for path in sorted(base.rglob("*.h")) if path.parent != base]


FENCE = re.compile(r"^ *(`{3,})(.*)$")


def outside_code(text):
    """The lines of a page, each with whether it stands outside of code blocks and HTML comments."""
    fence, comment = None, False
    for line in text.split("\n"):
        match = FENCE.match(line)
        if fence is not None:
            if match and match[1] == fence and not match[2].strip():
                fence = None
            yield line, False
        elif match and not comment:
            fence = match[1]
            yield line, False
        else:
            comment = comment or line.lstrip().startswith("<!--")
            yield line, not comment
            if "-->" in line:
                comment = False


LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")


def links(text):
    """(line number, target) of every link and picture of a page."""
    for number, (line, counts) in enumerate(outside_code(text), 1):
        if counts:
            for match in LINK.finditer(re.sub(r"`[^`]*`", lambda code: " " * len(code[0]), line)):
                yield number, match[3]


def anchor_of(heading):
    """The anchor that Git hosts give a heading."""
    text = re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text):
    return {anchor_of(line.lstrip("#")) for line, counts in outside_code(text)
            if counts and re.match(r"#{1,6} ", line)}


def is_outside(target):
    """Whether a link leaves the tree."""
    return re.match(r"[a-z]+:", target) is not None


def resolved(page, target):
    """The path in the tree that a link on a page leads to, and its anchor."""
    path, _, anchor = target.partition("#")
    if not path:
        return page, anchor
    folder = (ROOT / page).parent
    return str((folder / path).resolve().relative_to(ROOT)), anchor


def broken_links(pages=None):
    """`FILE:LINE: what is wrong` for every link of these pages that leads nowhere."""
    found = []
    for page in pages or checked_pages():
        text = (ROOT / page).read_text()
        for number, target in links(text):
            if is_outside(target):
                continue
            try:
                path, anchor = resolved(page, target)
            except ValueError:
                found.append(f"{page}:{number}: {target} leads out of the tree")
                continue
            if not (ROOT / path).exists():
                found.append(f"{page}:{number}: there is no {path}")
            elif anchor and path.endswith(".md") and anchor not in anchors((ROOT / path).read_text()):
                found.append(f"{page}:{number}: {path} has no heading #{anchor}")
    return found
