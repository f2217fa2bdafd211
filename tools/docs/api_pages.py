"""The API reference: a page for each task of docs/api.md, with what the headers say about themselves."""
import fnmatch
import functools
import re

from tree import ROOT, public_headers

# Words with which our headers begin a paragraph about one question.
QUESTIONS = r"(Threads, owns, functions|Threads, owns|Threads, functions|Threads|Owns|Borrows|Shares|Fails|Placements|Returns|Atomicity|Example|Exit codes)"

# What Breathe shows of a header: nothing private.
SECTIONS = ("briefdescription detaileddescription innerclass enum typedef var func public-attrib public-type public-func "
            "public-static-attrib public-static-func")


class Task:
    """A row of docs/api.md: what to do, and which headers serve it."""

    def __init__(self, group, title, headers, names):
        self.group, self.title, self.headers, self.names = group, title, headers, names
        self.page = re.sub(r"[^a-z0-9]+", "-", f"{title.lower()}").strip("-")[:60].strip("-")


def plain(cell):
    """A table's cell as a title."""
    text = re.sub(r"`([^`]*)`", r"\1", cell).strip()
    return text[:1].upper() + text[1:]


def tasks():
    """The rows of docs/api.md in their order."""
    found, group = [], ""
    for line in (ROOT / "docs/api.md").read_text().split("\n"):
        if line.startswith("## "):
            group = line[3:]
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or cells[0] in ("to", "for") or set(cells[0]) <= set("- "):
            continue
        patterns = [name for name in re.findall(r"`([^`]+)`", cells[1]) if name.endswith(".h")]
        headers = [header for pattern in patterns
                   for header in fnmatch.filter(public_headers(), pattern)]
        found.append(Task(group, plain(cells[0]), headers, cells[2] if len(cells) > 2 else ""))
    return found


@functools.cache
def pages_of_headers():
    """Where each header is shown: at the first task that names it; a pattern is a task's last word."""
    rows, shown = tasks(), {}
    for header in public_headers():
        naming = [row for row in rows if header in row.headers]
        if naming:
            shown[header] = naming[0].page
    return shown


def headers_without_task():
    return sorted(set(public_headers()) - set(pages_of_headers()))


def underlined(text, mark):
    return f"{text}\n{mark * len(text)}\n"


def task_page(row, shown):
    """The page of one task, as reStructuredText."""
    own = [header for header in row.headers if shown[header] == row.page]
    other = [header for header in row.headers if shown[header] != row.page]
    parts = [underlined(row.title, "=")]
    for header in dict.fromkeys(own):
        anchor = header.replace("/", "-").replace(".", "-").replace("_", "-")
        parts.append(f".. _header-{anchor}:\n\n" + underlined(f"{header}", "-"))
        parts.append(f".. code-block:: cpp\n\n   #include <pagoda/{header}>\n")
        parts.append(f".. doxygenfile:: pagoda/{header}\n   :sections: {SECTIONS}\n")
    if other:
        parts.append(underlined("Also used here", "-"))
        parts += [f"- :doc:`{header} <{shown[header]}>`" for header in dict.fromkeys(other)]
    return "\n".join(parts) + "\n"


def write_task_pages(folder):
    """Writes the pages; gives for each group its pages in order."""
    shown, groups = pages_of_headers(), {}
    folder.mkdir(parents=True, exist_ok=True)
    for row in tasks():
        (folder / f"{row.page}.rst").write_text(task_page(row, shown))
        groups.setdefault(row.group, []).append(row)
    return groups


def escaped(words):
    """Words of a comment in which < begins no tag, but for code in backticks."""
    return re.sub(r"`[^`]*`|<(?=[A-Za-z/])", lambda m: m[0] if m[0][0] == "`" else r"\<", words)


def for_doxygen(header_text):
    """A header whose comments doxygen lays out as we mean them: code is code, questions are paragraphs."""
    lines, result, in_code = header_text.split("\n"), [], False
    for line in lines:
        match = re.match(r"^( *)///(?!<)( ?)(.*)$", line)
        if not match:
            if in_code:
                result.append(f"{in_code}/// @endverbatim")
                in_code = False
            code, mark, words = line.partition("///< ")
            result.append(code + mark + escaped(words))
            continue
        indent, _, words = match.groups()
        is_code = words.startswith("    ")
        if is_code and not in_code:
            result += [f"{indent}///", f"{indent}/// @verbatim embed:rst:leading-slashes", f"{indent}/// .. code-block:: cpp", f"{indent}///"]
            in_code = indent if indent else " "
        elif in_code and not is_code and words.strip():
            result.append(f"{indent}/// @endverbatim")
            in_code = False
        if in_code:
            result.append(f"{indent}///    {words[4:]}".rstrip())
            continue
        words = re.sub(r"(?<=[.;:)]) (Fails|Threads|Owns|Borrows): ", r"\n\1: ", words)
        for part in words.split("\n"):
            question = re.match(QUESTIONS + r"(,[^:]*)?:( |$)", part)
            if question:
                result.append(f"{indent}///")
                part = f"**{question[0].strip()}** {part[question.end():]}"
            result.append(f"{indent}/// {escaped(part)}")
    return "\n".join(result)


def write_headers(folder):
    for header in public_headers():
        copy = folder / "pagoda" / header
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(for_doxygen((ROOT / "include/pagoda" / header).read_text()))


def prepare_for_breathe(xml):
    """Breathe finds a file by its name in the index, where doxygen leaves the folder out; and it would show the namespace
    of each file again and again instead of what the file has in it."""
    index = xml / "index.xml"
    text = index.read_text()
    for file in set(re.findall(r'<compound refid="([^"]+)" kind="file">', text)):
        content = (xml / f"{file}.xml").read_text()
        location = re.findall(r'<location file="([^"]+)"/>', content)[-1]
        text = re.sub(rf'(<compound refid="{file}" kind="file"><name>)[^<]*', rf"\g<1>{location}", text)
        (xml / f"{file}.xml").write_text(re.sub(r" *<innernamespace .*?</innernamespace>\n", "", content))
    index.write_text(text)
    for file in xml.glob("*.xml"):  # Sphinx does not know designated initializers
        content = file.read_text()
        plain_lists = re.sub(r"<initializer>= \{\..*?</initializer>", lambda m: re.sub(r"\.\w+ = ", "", m[0]), content)
        if plain_lists != content:
            file.write_text(plain_lists)
