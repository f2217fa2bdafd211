"""What the soak would find: growth after the warm-up, and nothing before it."""
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from watched import FEWEST_SAMPLES, GROWTH, holdings, judge


class FoundLines:
    def __init__(self):
        self.lines = []

    def add(self, line):
        self.lines.append(line)


def found_in(samples):
    found = FoundLines()
    judge("it", samples, found)
    return found.lines


def sample(kilobytes=1000, descriptors=5, threads=3):
    return {"kilobytes": kilobytes, "descriptors": descriptors, "threads": threads}


class JudgeTest(unittest.TestCase):
    COUNT = 4 * FEWEST_SAMPLES

    def test_a_warm_up_and_short_peaks_are_no_growth(self):
        samples = [sample(kilobytes=1000 * min(i, FEWEST_SAMPLES)) for i in range(self.COUNT)]
        samples[-3] = sample(kilobytes=10**6)
        self.assertEqual(found_in(samples), [])

    def test_each_kind_of_leak_is_found(self):
        for what, allowed in GROWTH.items():
            samples = [sample() | {what: 1000 + i * (allowed + 1)} for i in range(self.COUNT)]
            self.assertIn(f"it: {what} grew", "\n".join(found_in(samples)))
            self.assertEqual(len(found_in(samples)), 1)

    def test_a_process_holds_its_descriptors(self):
        with subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            held = holdings(process.pid)
            process.kill()
        self.assertGreaterEqual(held["descriptors"], 3)
        self.assertEqual(held["threads"], 1)
        self.assertIsNone(holdings(process.pid))


if __name__ == "__main__":
    unittest.main()
