"""The pages as their readers use them: links, commands, Python, names of options and error messages.

    PAGODA_PROGRAM=build/pagoda PAGODA_EXAMPLES=build/examples .venv/bin/python tests/docs/pages_test.py

Each page's commands and Python run in a directory of the page's own, one after another, as written; the comments
before blocks that change that are explained in tools/docs/page_code.py.
"""
import concurrent.futures
import functools
import importlib.util
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/docs"))
import api_pages  # noqa: E402
import page_code  # noqa: E402
import tree  # noqa: E402

PROGRAM = os.path.abspath(os.environ["PAGODA_PROGRAM"])
EXAMPLES = os.path.abspath(os.environ["PAGODA_EXAMPLES"])
SHORTENED = re.compile(r"(^|[ /])(train|bench|verify) |^\./\w+ ")


def joined_lines(code):
    """The commands of a block, without comments and continued lines."""
    lines = code.replace("\\\n", " ").split("\n")
    return [line for line in lines if line.strip() and not line.startswith("#")]


def shortened(block):
    """The commands as they are run: with the arguments of `short` where they train, measure or verify."""
    commands = []
    for line in joined_lines(block.code):
        command = re.sub(r"\s+# .*$", "", line)
        if block.short and SHORTENED.search(command):
            words = re.match(r"([^<>&|]*)(.*)$", command)
            options = [word for word in block.short.split() if word.startswith("--")]
            kept = without_options(words[1], options)
            if "--max-steps" in options:
                kept = without_options(kept, ["--epochs"])
            command = f"{kept} {block.short} {words[2]}"
        commands.append(command)
    return commands


def without_options(words, names):
    """A command without these options and their values."""
    for name in names:
        words = re.sub(rf" {name}( [^-\s]\S*)?", "", words)
    return words


class PageDirectory:
    """Where the commands of one page run."""

    def __init__(self):
        self.python = None
        self.folder = tempfile.TemporaryDirectory(prefix="pagoda-page-")
        self.path = pathlib.Path(self.folder.name)
        (self.path / "build").mkdir()
        (self.path / "bin").mkdir()
        for place in ("build/pagoda", "bin/pagoda"):
            (self.path / place).symlink_to(PROGRAM)
        (self.path / "bin/python").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        (self.path / "bin/python").chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.endswith("_VISIBLE_DEVICES")}
        self.environment = kept | {
            "PATH": f"{self.path / 'bin'}:{os.environ['PATH']}", "HOME": str(self.path), "PAGODA_EXAMPLES": EXAMPLES,
            "PAGODA_TREE": str(ROOT), "XDG_CACHE_HOME": str(self.path / ".cache")}

    def run_shell(self, block):
        script = "set -e -o pipefail\n" + block.given + "\n".join(shortened(block))
        done = subprocess.run(["bash", "-c", script], cwd=self.path, env=self.environment, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        return f"exit code {done.returncode} of {script}\n{done.stdout[-2000:]}" if done.returncode else ""

    def run_python(self, block):
        if self.python is None:
            self.python = subprocess.Popen([sys.executable, "-B", "-c", PYTHON_SESSION], cwd=self.path, env=self.environment,
                                           text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.python.stdin.write(json.dumps(block.given + block.code) + "\n")
        self.python.stdin.flush()
        answer = next(line for line in self.python.stdout if line.startswith("\0"))
        return json.loads(answer[1:])

    def close(self):
        if self.python is not None:
            self.python.communicate(timeout=60)
        self.folder.cleanup()


# Runs the blocks of a page, one a line, as one program would.
PYTHON_SESSION = """
import json, sys, traceback
names = {"__name__": "page"}
for line in sys.stdin:
    try:
        exec(json.loads(line), names)
        answer = ""
    except BaseException:
        answer = traceback.format_exc()
    print("\\0" + json.dumps(answer), flush=True)
"""


def run_page(page, blocks):
    """What went wrong on a page; it ends with its first failure."""
    directory = PageDirectory()
    try:
        for block in blocks:
            failure = directory.run_shell(block) if block.language == "sh" else directory.run_python(block)
            if failure:
                return f"{block.where()}: {failure}"
    finally:
        directory.close()
    return ""


class CommandsTest(unittest.TestCase):
    def test_every_command_and_all_python_of_the_pages_runs(self):
        pages = {}
        for block in page_code.all_blocks():
            if block.language != "cpp" and not block.not_run:
                if block.language == "python" and importlib.util.find_spec("torch") is None:
                    continue
                pages.setdefault(block.page, []).append(block)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            failures = [failure for failure in pool.map(lambda item: run_page(*item), pages.items()) if failure]
        self.assertEqual(failures, [], "\n" + "\n".join(failures))


@functools.cache
def known_options():
    """Of each command: {("train", "lenet5"): {"--devices", …}, …}."""
    described = subprocess.run([PROGRAM, "man", "--json"], capture_output=True, text=True, check=True).stdout
    found, waiting = {}, [json.loads(described)]
    while waiting:
        command = waiting.pop()
        waiting += command["commands"]
        found[tuple(command["name"].split()[1:])] = {name for option in command["options"] for name in option["names"]}
    return found


def command_in(line):
    """The words of the program's command that a line calls, and its options; nothing for other lines."""
    match = re.search(r"(?:^|[ /`])pagoda ((?:[a-z0-9]+ ?)+)", line)
    if not match:
        return None
    words = tuple(match[1].split())
    while words and words not in known_options():
        words = words[:-1]
    return (words, set(re.findall(r"(?<=[ `])--[a-z][a-z0-9-]*", line[match.start():].split("| ")[0]))) if words else None


class OptionsTest(unittest.TestCase):
    def test_options_of_commands_are_there_also_of_those_that_are_not_run(self):
        wrong = []
        for block in page_code.all_blocks("sh"):
            for line in joined_lines(block.code):
                called = command_in(line)
                if called:
                    missing = called[1] - known_options()[called[0]]
                    wrong += [f"{block.where()}: pagoda {' '.join(called[0])} has no {option}" for option in sorted(missing)]
        self.assertEqual(wrong, [])

    def test_options_that_pages_speak_of_are_options_of_some_command(self):
        known = set().union(*known_options().values())
        foreign = {"--max-restarts", "--nnodes", "--no-python", "--nproc-per-node", "--rdzv-backend", "--rdzv-endpoint",
                   "--signal"}
        wrong = []
        pages = [page for page in tree.written_pages() if page.startswith("docs/") and not page.startswith("docs/coming_from")]
        for page in pages:
            for number, (line, counts) in enumerate(tree.outside_code((ROOT / page).read_text()), 1):
                for option in re.findall(r"`[^`]*?(--[a-z][a-z0-9-]+)", line if counts else ""):
                    if option not in known | foreign | OF_SCRIPTS:
                        wrong.append(f"{page}:{number}: {option}")
        self.assertEqual(wrong, [])


# Options of programs other than ours that the pages speak of.
OF_SCRIPTS = {"--only", "--hours", "--scenario", "--check", "--copy", "--arms", "--logdir", "--python", "--machine",
              "--distinct", "--preset", "--seed", "--cmake-prefix"}


class LinksTest(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        self.assertEqual(tree.broken_links(), [])

    def test_a_link_that_leads_nowhere_is_found(self):
        self.assertEqual(list(tree.links("a [b](c.md) `[d](e)`\n```\n[f](g)\n```\n")), [(1, "c.md")])
        self.assertIn("stop-and-resume", tree.anchors((ROOT / "docs/training.md").read_text()))

    def test_every_page_is_in_the_table_of_contents(self):
        contents = (ROOT / "docs/README.md").read_text()
        listed = {tree.resolved("docs/README.md", target)[0] for _, target in tree.links(contents) if not tree.is_outside(target)}
        self.assertEqual(set(tree.written_pages()) - {"docs/README.md"} - listed, set())

    def test_every_public_header_has_a_task(self):
        self.assertEqual(api_pages.headers_without_task(), [])


class CodeTest(unittest.TestCase):
    def test_pages_have_no_code_that_no_test_sees(self):
        """Indented code has no language: everything is fenced, in a language that is tested or shows output."""
        allowed = {"cpp", "sh", "python", "cmake", "toml", "text", "json"}
        wrong = []
        for page in tree.checked_pages():
            if not page.startswith("docs/"):
                continue
            fence = None
            for number, (line, counts) in enumerate(tree.outside_code((ROOT / page).read_text()), 1):
                match = tree.FENCE.match(line)
                if match and not counts:
                    if fence is None and match[2].strip() not in allowed:
                        wrong.append(f"{page}:{number}: a block of {match[2].strip() or 'no language'}")
                    fence = None if fence else match[1]
        self.assertEqual(wrong, [])

    def test_comments_before_blocks_say_how_they_are_tested(self):
        page = "<!-- given\nint a = 1;\n-->\n<!-- compiled only: why -->\n```cpp\nuse(a);\n```\n\n<!-- short: --b 2 -->\n```sh\npagoda train x\n```\n"
        code, commands = page_code.blocks_of("p.md", page)
        self.assertEqual((code.given, code.not_run, code.code), ("int a = 1;\n", "why", "use(a);"))
        self.assertEqual(shortened(commands), ["pagoda train x --b 2 "])
        with self.assertRaisesRegex(ValueError, "p.md:2.*surely"):
            page_code.blocks_of("p.md", "<!-- surely -->\n```sh\nls\n```\n")

    def test_blocks_that_declare_are_told_apart(self):
        declares = [page_code.Block("p", 1, "cpp", code).declares() for code in (
            "struct A {};", "int main() {\n}", "a::B c(D& e) {\n}", "for (auto& a : b) {\n}", "a::B c(d, {.e = 1});")]
        self.assertEqual(declares, [True, True, True, False, False])


class PicturesTest(unittest.TestCase):
    def test_pictures_are_what_their_script_draws(self):
        sys.path.insert(0, str(ROOT / "docs/pictures"))
        import draw
        stored = draw.FOLDER
        with tempfile.TemporaryDirectory(prefix="pagoda-pictures-") as folder:
            draw.FOLDER = pathlib.Path(folder)
            draw.draw_all()
            drawn = {file.name: file.read_text() for file in draw.FOLDER.iterdir()}
        self.assertIn("attention.svg", drawn)
        self.assertEqual([name for name, text in drawn.items() if text != (stored / name).read_text()], [])


class MessagesTest(unittest.TestCase):
    def test_messages_of_the_troubleshooting_page_are_those_of_the_sources(self):
        sources = "".join(path.read_text() for folder in ("src", "apps", "include", "tools")
                          for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".cpp", ".h") or path.name == "setup")
        sources = re.sub(r'"\s*\n\s*"', "", sources)
        missing = []
        for line in (ROOT / "docs/troubleshooting.md").read_text().split("\n"):
            message = re.match(r"\| `([^`]+)` \|", line)
            for part in re.split(r"…", message[1]) if message else []:
                if len(part.strip(" ;:,()'")) > 12 and part.strip(" ;:,()'") not in sources:
                    missing.append(part)
        self.assertEqual(missing, [])


if __name__ == "__main__":
    unittest.main()
