# Sphinx's settings; tools/docs/build.py calls it on the folder that it has put together.
import pathlib

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
