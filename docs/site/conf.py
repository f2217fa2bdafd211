# Sphinx's settings; tools/docs/build.py calls it on the folder that it has put together.
import functools
import pathlib
import posixpath
import re

BUILD = pathlib.Path(__file__).resolve().parents[1]

project = "Pagoda"
author = "the authors of Pagoda"
copyright = author
extensions = ["breathe", "myst_parser"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_heading_anchors = 4

breathe_projects = {"pagoda": str(BUILD / "xml")}
breathe_default_project = "pagoda"
breathe_default_members = ("members", "undoc-members")
breathe_show_include = False

html_theme = "furo"
html_title = "Pagoda"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"sidebar_hide_name": False}
pygments_style = "tango"
pygments_dark_style = "github-dark"
highlight_language = "text"
toc_object_entries = False


@functools.cache
def contents(builder):
    """The list of all pages as the first page has it."""
    return builder._get_local_toctree(builder.config.root_doc, collapse=False, titles_only=True, maxdepth=-1, includehidden=True)


def contents_for(app, page):
    """The same with the links of another page, which is marked, and so is the one above it. Sphinx would make the list
    anew for each page, which takes longer than everything else that it writes."""
    marked = {page} | {above for above, below in app.env.toctree_includes.items() if page in below}

    def entry(match):
        level, target = match.groups()
        name = target.removesuffix(".html")
        link = "#" if name == page else posixpath.relpath(target, posixpath.dirname(page) or ".")
        return (f'<li class="{level}{" current" if name in marked else ""}">'
                f'<a class="{"current " if name == page else ""}reference internal" href="{link}"')

    return re.sub(r'<li class="(toctree-l\d)"><a class="reference internal" href="([^"#]+)"', entry, contents(app.builder))


def give_contents(app, pagename, templatename, context, doctree):
    context["toctree"] = lambda **_: contents_for(app, pagename)


def setup(app):
    app.connect("html-page-context", give_contents, priority=100)  # before the theme's own
