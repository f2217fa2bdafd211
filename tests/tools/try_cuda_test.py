"""tools/try_cuda: without a card it says why; with a driver and a program that stand in for real ones it goes through
everything and reports what failed."""

import os
import stat
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "try_cuda")

PROGRAM = """#!/bin/sh
if [ "$1" = devices ]; then
  [ "$2" != --devices ] || echo '[{"kind": "cuda", "index": 0, "name": "Card 40", "memory_bytes": 40000}]'
  exit 0
fi
echo "called $*"
[ "$2" != seq2seq ] || { echo "seq2seq broke"; exit 3; }
"""


class TryCudaTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_tool(self, *arguments, **environment):
        return subprocess.run([sys.executable, "-B", TOOL, *arguments], capture_output=True, text=True,
                              cwd=self.folder, env={**os.environ, **environment})

    def script(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)

    def with_driver(self):
        library = os.path.join(self.folder, "libcuda.so.1")
        if not os.path.exists(library):
            os.symlink(os.environ["PAGODA_FAKE_CUDA_DRIVER"], library)
        return {"LD_LIBRARY_PATH": self.folder}

    def test_without_a_driver_it_says_so(self):
        result = self.run_tool()
        if result.returncode == 0:
            self.skipTest("this machine has CUDA cards")
        self.assertEqual(result.returncode, 77)
        self.assertRegex(result.stdout, r"^no CUDA card: .*driver")
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_program_that_sees_no_card(self):
        self.script("build/pagoda", "#!/bin/sh\necho 'pagoda: no CUDA card is visible' >&2\nexit 1\n")
        result = self.run_tool("--build", "build", **self.with_driver())
        self.assertEqual(result.returncode, 77)
        self.assertIn("no CUDA card: this build of Pagoda sees none: pagoda: no CUDA card is visible", result.stdout)
        result = self.run_tool("--build", "elsewhere", **self.with_driver())
        self.assertEqual(result.returncode, 77)
        self.assertIn("run make first", result.stdout)

    def test_it_goes_through_everything_and_reports_failures(self):
        self.script("build/pagoda", PROGRAM)
        for module in ("tower", "reduce", "train"):
            self.script(f"build/tests/{module}_tests", "#!/bin/sh\necho cards: $PAGODA_TEST_CARDS\n")
        build = os.path.join(self.folder, "build")
        result = self.run_tool("--build", build, "--python", "/bin/echo", **self.with_driver())
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"(?m)^ok +tests of reduce on cards")
        self.assertRegex(result.stdout, r"(?m)^left out  tests of pipeline")
        self.assertRegex(result.stdout, r"(?m)^ok +LeNet-5, 200 steps, 1 cards, mirrored")
        self.assertRegex(result.stdout, r"(?m)^FAILED +seq2seq, 100 steps +\(\d+ s, exit code 3\)")
        with open(os.path.join(self.folder, "cuda-report.txt"), encoding="utf-8") as file:
            report = file.read()
        self.assertIn("cards: cuda", report)
        self.assertIn("seq2seq broke", report)
        self.assertIn("ddp_cards.py --ranks 1", report)
        self.assertIn("called train lenet5 --data builtin --devices cuda:0 --memory-fraction 0.25", report)


if __name__ == "__main__":
    unittest.main()
