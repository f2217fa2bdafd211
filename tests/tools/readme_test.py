"""README.zh.md says what README.md says: the same headings, code, commands and links, in the same order.

    python3 tests/tools/readme_test.py
"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMENT = re.compile(r"\s+(#|//) .*$", re.M)


class Page:
    def __init__(self, text):
        text = re.sub(r"<!--.*?-->\n", "", text, flags=re.S)  # which say how code is tested
        self.blocks = [COMMENT.sub("", block) for block in re.findall(r"^```.*?^```$", text, re.M | re.S)]
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
        self.headings = [len(marks) for marks in re.findall(r"^(#+) ", prose, re.M)]
        self.commands = re.findall(r"`([^`\n]+)`", prose)
        self.links = [link for link in re.findall(r"\]\(([^)]+)\)", prose) if not link.startswith("README")]
        self.rows = [row.count("|") for row in prose.splitlines() if row.startswith("|")]
        self.points = len(re.findall(r"^- ", prose, re.M))


class ReadmeTest(unittest.TestCase):
    def setUp(self):
        self.english, self.chinese = (Page((ROOT / name).read_text()) for name in ("README.md", "README.zh.md"))

    def test_both_have_the_same_headings_tables_and_points(self):
        for part in ("headings", "rows", "points"):
            with self.subTest(part):
                self.assertEqual(getattr(self.chinese, part), getattr(self.english, part))

    def test_both_have_the_same_code_but_for_comments(self):
        self.assertEqual(self.chinese.blocks, self.english.blocks)

    def test_both_name_the_same_commands_and_link_to_the_same_pages(self):
        for part in ("commands", "links"):
            with self.subTest(part):
                self.assertEqual(sorted(getattr(self.chinese, part)), sorted(getattr(self.english, part)))

    def test_links_lead_somewhere(self):
        for link in self.english.links:
            if not link.startswith("http"):
                with self.subTest(link):
                    self.assertTrue((ROOT / link.split("#")[0]).exists())


if __name__ == "__main__":
    unittest.main()
