"""The program's reference, from what it says with --help."""
import concurrent.futures
import os
import re
import subprocess


class Command:
    """One command as its help describes it."""

    def __init__(self, words, text):
        self.words = words
        self.about = text.split("\nUsage:")[0].strip()
        self.usage = re.search(r"Usage: (.*)", text)[1]
        self.sections = sections_of(text)

    def subcommands(self):
        return [row.names[0] for title, rows in self.sections if title == "Subcommands" for row in rows]


class Row:
    """An option, positional or subcommand: `names value=default Excludes: others`, and what it is."""

    def __init__(self, left, about):
        self.about = about
        left, _, self.excludes = left.partition(" Excludes: ")
        left, _, self.needs = left.partition(" Needs: ")
        names, _, self.value = left.partition(" ")
        self.names = names.split(",")

    def choices(self):
        match = re.search(r"\{([^}]*)\}", self.value)
        return match[1].split(",") if match else []

    def default(self):
        match = re.search(r"(?:^|[^>])=([^ ]*)", re.sub(r"\{[^}]*\}", "", self.value))
        return match[1] if match else ""

    def kind(self):
        return re.split(r"[:=\[ ]", self.value)[0]


def sections_of(text):
    """[(title, [Row, …]), …]. Rows begin at column 2; what they are about at column 34, or on the next line."""
    sections = []
    for line in text.split("\n"):
        if re.match(r"\S.*:$", line):
            sections.append((line[:-1], []))
        elif not sections:
            continue
        elif re.match(r"  \S", line):
            match = re.match(r"  (.{30,31}?) +(\S.*)$", line) if len(line) > 34 and line[33] == " " else None
            left, about = (line[2:34].strip(), line[34:].strip()) if match else (line.strip(), "")
            sections[-1][1].append(Row(left, about))
        elif line.strip() and sections[-1][1]:
            row = sections[-1][1][-1]
            row.about = f"{row.about} {line.strip()}".strip()
    return sections


def help_of(program, words):
    environment = dict(os.environ, COLUMNS="10000", NO_COLOR="1")
    return subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True,
                          env=environment).stdout


def commands_of(program):
    """Every command and subcommand, in the order of the help: {("train", "lenet5"): Command, …}."""
    found, layer = {}, [()]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        while layer:
            texts = pool.map(lambda words: help_of(program, words), layer)
            made = [Command(words, text) for words, text in zip(layer, texts)]
            found |= {command.words: command for command in made}
            layer = [(*command.words, name) for command in made for name in command.subcommands()]
    return found


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def row_text(row):
    names = ", ".join(f"`{name}`" for name in row.names)
    value = " \\| ".join(f"`{choice}`" for choice in row.choices()) or row.kind().lower()
    default = f"`{row.default()}`" if row.default() else ""
    about = cell(row.about)
    if row.excludes:
        about += f" (not with {', '.join(f'`{name}`' for name in row.excludes.split())})"
    return f"| {names} | {value} | {default} | {about} |"


def command_page(command):
    title = " ".join(("pagoda", *command.words))
    heading = title if command.words else "The program's options"
    parts = [f"# {heading}", "", f"{command.about}.".replace("..", "."), "", "```text", command.usage, "```"]
    for name, rows in command.sections:
        if name == "Subcommands":
            parts += ["", "| command | what it does |", "|---|---|"]
            parts += [f"| [{title} {row.names[0]}]({'-'.join((*command.words, row.names[0]))}.md) | {cell(row.about)} |"
                      for row in rows]
        elif rows:
            parts += ["", f"## {name}", "", "| option | value | default | meaning |", "|---|---|---|---|"]
            parts += [row_text(row) for row in rows]
    return "\n".join(parts) + "\n"


def write_program_pages(program, folder):
    """A page for each command."""
    folder.mkdir(parents=True, exist_ok=True)
    for words, command in sorted(commands_of(program).items()):
        name = "-".join(words) or "index"
        (folder / f"{name}.md").write_text(command_page(command))
