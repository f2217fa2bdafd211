"""Shows which declarations of a small header tools/check_api_docs asks a sentence for."""

import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "check_api_docs"

HEADER = """#pragma once
namespace pagoda {
/// Has a sentence.
class Documented {
 public:
  explicit Documented(int only);
  ~Documented();
  Documented(const Documented&) = delete;
  Documented(Documented&& other) noexcept;
  bool operator==(const Documented&) const = default;
  /// One.
  virtual int one() const;
  int two() const;
  int three = 3;  ///< has one
  int four = 4;

 private:
  int five_ = 5;
  struct Inner {
    int six;
  };
};
/// Another.
class Derived : public Documented {
 public:
  int one() const override;
};
struct Bare {};
enum class Kind { first };
using Name = int;
/// Does something.
void something();
void other();
namespace detail {
void hidden();
}
}  // namespace pagoda
"""


class CheckApiDocsTest(unittest.TestCase):
    def listed(self, header):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.h").write_text(header)
            done = subprocess.run([SCRIPT, folder], capture_output=True, text=True)
        return done.returncode, sorted(line.split(": ")[1].split(" has")[0] for line in done.stdout.splitlines())

    def test_what_is_public_and_has_no_sentence_is_listed(self):
        code, names = self.listed(HEADER)
        self.assertEqual(names, ["pagoda::Bare", "pagoda::Documented::four", "pagoda::Documented::two", "pagoda::Kind",
                                 "pagoda::Name", "pagoda::other"])
        self.assertEqual(code, 1)

    def test_a_header_with_a_sentence_for_everything_passes(self):
        self.assertEqual(self.listed("namespace pagoda {\n/// Does something.\nvoid something();\n}\n"), (0, []))


if __name__ == "__main__":
    unittest.main()
