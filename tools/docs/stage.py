"""Puts the site's source together from the tree: pages with links that hold there, and generated ones."""
import posixpath
import re
import shutil

import api_pages
import program_pages
from tree import LINK, ROOT, broken_links, example_pages, is_outside, outside_code, resolved, written_pages


def toctree(entries, caption=None):
    """Entries for the list of contents beside each page."""
    options = [f":caption: {caption}"] if caption else []
    return "\n".join(["", "```{toctree}", *options, ":hidden:", "", *entries, "```", ""])


class Stage:
    """The folder that Sphinx reads."""

    def __init__(self, folder):
        self.folder = folder
        self.pages = written_pages() | example_pages()
        self.header_pages = api_pages.pages_of_headers()

    def site_path(self, path):
        """Where the site has something of the tree; nothing if it is only in the tree."""
        if path in self.pages:
            return self.pages[path]
        header = path.removeprefix("include/pagoda/")
        if header in self.header_pages:
            return f"api/{self.header_pages[header]}.rst"
        return path.removeprefix("docs/") if path.startswith("docs/pictures/") else None

    def link(self, page, match):
        picture, words, target = match.groups()
        if is_outside(target):
            return match[0]
        path, anchor = resolved(page, target)
        there = self.site_path(path)
        if there is None:
            return words
        here = self.pages[page]
        relative = posixpath.relpath(there, posixpath.dirname(here) or ".") if path != page else ""
        return f"{picture}[{words}]({relative}{'#' + anchor if anchor else ''})"

    def write(self, path, text):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def page(self, path):
        """A written page with its links turned to the site's pages."""
        lines = []
        for line, counts in outside_code((ROOT / path).read_text()):
            lines.append(LINK.sub(lambda match: self.link(path, match), line) if counts else line)
        return "\n".join(lines)

    def index(self):
        """docs/README.md, whose lists are the site's contents."""
        text, trees = self.page("docs/README.md"), []
        text = text.replace("- [The library by task]", "- [The program's options](program/index.md)\n- [The library by task]")
        for section in text.split("\n## ")[1:]:
            entries = re.findall(r"^- \[[^\]]*\]\(([^)#]+)\.(?:md|rst)\)", section, re.M)
            caption = section.split("\n")[0]
            if entries:
                trees.append(toctree(entries, caption=caption))
        return text + "".join(trees)

    def api(self, groups):
        """docs/api.md with its tasks and headers as links."""
        rows = [row for group in groups.values() for row in group]
        lines = []
        for line in self.page("docs/api.md").split("\n"):
            row = next((row for row in rows if line.startswith("| ")
                        and api_pages.plain(line.split("|")[1]) == row.title), None)
            if row:
                first, rest = line.split("|")[1].strip(), "|".join(line.split("|")[2:])
                line = f"| [{first}](api/{row.page}.rst) |" + re.sub(
                    r"`([a-z_]+/[a-z_0-9]+\.h)`",
                    lambda m: f"[`{m[1]}`](api/{self.header_pages[m[1]]}.rst)", rest)
            lines.append(line)
        return "\n".join(lines) + toctree([f"api/{row.page}" for row in rows])

    def example(self, path):
        language = "python" if path.endswith(".py") else "cpp"
        return f"# {path}\n\n````{language}\n{(ROOT / path).read_text()}````\n"


def stage(folder, program):
    """Fills the folder anew."""
    broken = broken_links()
    if broken:
        raise SystemExit("\n".join(broken))
    missing = api_pages.headers_without_task()
    if missing:
        raise SystemExit(f"docs/api.md names no task for {', '.join(missing)}")
    shutil.rmtree(folder, ignore_errors=True)
    made = Stage(folder)
    for path, there in made.pages.items():
        if path.endswith(".md"):
            made.write(there, made.page(path))
        else:
            made.write(there, made.example(path))
    made.write("index.md", made.index())
    made.write("api.md", made.api(api_pages.write_task_pages(folder / "api")))
    program_pages.write_program_pages(program, folder / "program")
    for part in ("examples", "program"):  # the index of each names all others in its contents
        names = sorted(page.stem for page in (folder / part).glob("*.md") if page.stem != "index")
        with open(folder / part / "index.md", "a") as index:
            index.write(toctree(names))
    shutil.copytree(ROOT / "docs/pictures", folder / "pictures", ignore=shutil.ignore_patterns("*.py", "*.json"))
    shutil.copytree(ROOT / "docs/site", folder, dirs_exist_ok=True)
