"""`pagoda devices` and the device flags, as a user runs them.

    PAGODA_PROGRAM=build/pagoda python3 tests/app/devices_test.py
"""
import json
import unittest

from program import ProgramTest, run

GIBIBYTE = 1 << 30


def listed(*arguments, **environment):
    result = run("devices", "--json", *arguments, **environment)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


class ListTest(unittest.TestCase):
    def test_a_table_for_people(self):
        for arguments in ((), ("--devices", "sim:2")):
            lines = run("devices", *arguments).stdout.splitlines()
            self.assertEqual(lines[0].split(), ["device", "original", "cores", "memory", "free", "limit", "name"])
            self.assertGreaterEqual(len(lines), 2)
            for line in lines[1:]:
                self.assertRegex(line, r"^(cpu|cuda|sim):\d+ +\d+ +[\d,-]+ +[\d.]+ GiB +[\d.]+ GiB +- ")

    def test_the_doctor_names_what_is_wrong_and_what_mends_it(self):
        result = run("doctor", "--json", TMPDIR="/no/such/directory")
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        wrong = {finding["subject"]: finding for finding in json.loads(result.stdout) if finding["health"] == "wrong"}
        self.assertIn("/no/such/directory", wrong["temporary files"]["text"])
        self.assertIn("export TMPDIR=", wrong["temporary files"]["remedy"])

    def test_json_for_machines(self):
        for arguments, count in [((), None), (("--devices", "cpu:0"), 1), (("--devices", "3"), 3),
                                 (("--devices", "sim:4"), 4), (("--devices", "sim:1-2"), 2)]:
            devices = listed(*arguments)
            self.assertEqual(len(devices), count or len(devices))
            for device in devices:
                self.assertEqual(set(device), {"kind", "index", "original", "name", "cores", "pinned", "memory_bytes",
                                               "free_bytes", "limit_bytes", "capability"})
                self.assertIn(device["kind"], ["cpu", "cuda", "sim"])
                self.assertGreater(device["memory_bytes"], 0)
                self.assertIsNone(device["limit_bytes"])
                self.assertEqual(device["kind"] == "cpu", len(device["cores"]) > 0)

    def test_towers_that_share_cores_are_warned_about(self):
        for count in (1, 3):
            with self.subTest(count):
                result = run("devices", "--devices", count, "--json")
                cores = [core for device in json.loads(result.stdout) for core in device["cores"]]
                shared = len(cores) != len(set(cores))
                self.assertEqual(result.returncode, 0)
                self.assertEqual(result.stderr.startswith("pagoda: warning: "), shared, result.stderr)


class PinTest(unittest.TestCase):
    def test_pinning_is_chosen(self):
        for pin, pinned in (("on", True), ("off", False)):
            devices = listed("--devices", 2, "--pin", pin)
            self.assertEqual([device["pinned"] for device in devices], [pinned] * 2)
        self.assertEqual(listed("--devices", "sim:1", "--pin", "on")[0]["pinned"], None)
        self.assertEqual(run("devices", "--pin", "maybe").returncode, 2)

    def test_openmp_may_bind_its_own_threads(self):
        def without_memory(devices):
            return [{name: value for name, value in device.items() if name != "free_bytes"} for device in devices]
        expected = without_memory(listed("--devices", "cpu"))
        for name, value in (("OMP_PROC_BIND", "true"), ("OMP_PROC_BIND", "spread"), ("OMP_PLACES", "cores")):
            self.assertEqual(without_memory(listed("--devices", "cpu", **{name: value})), expected, f"{name}={value}")


class MaskTest(unittest.TestCase):
    def test_masks_hide_and_renumber(self):
        for mask, originals in {"1": [1], "0,1": [0, 1], '"0,1"': [0, 1], "0,2,3": [0, 2, 3], "3,1": [3, 1],
                                "0,junk,1": [0]}.items():
            with self.subTest(mask):
                devices = listed("--devices", "sim:4", PAGODA_VISIBLE_DEVICES=mask)
                self.assertEqual([device["original"] for device in devices], originals)
                self.assertEqual([device["index"] for device in devices], list(range(len(originals))))

    def test_a_mask_that_hides_all(self):
        for mask in ("", "-1", "junk", "0,0"):
            with self.subTest(mask):
                result = run("devices", "--devices", "sim:4", PAGODA_VISIBLE_DEVICES=mask)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn("PAGODA_VISIBLE_DEVICES", result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_a_masked_card_is_not_there(self):
        result = run("devices", "--devices", "sim:0,sim:1", PAGODA_VISIBLE_DEVICES="1")
        self.assertEqual(result.returncode, 2)
        self.assertIn("sim:1 is not there: 1 simulated card is visible", result.stderr)


class MemoryTest(unittest.TestCase):
    def test_limits(self):
        for flags, limit in {("--memory-fraction", "0.5"): 2 * GIBIBYTE, ("--memory-limit", "1GiB"): GIBIBYTE,
                             ("--memory-limit", "500MB"): 500_000_000,
                             ("--memory-growth", "off"): 4 * GIBIBYTE}.items():
            with self.subTest(flags):
                devices = listed("--devices", "sim:2", *flags)
                self.assertEqual([device["limit_bytes"] for device in devices], [limit, limit])

    def test_limits_that_cannot_be(self):
        for flags, word in {("--memory-fraction", "0"): "above 0", ("--memory-fraction", "1.5"): "1.5",
                            ("--memory-fraction", "x"): "x", ("--memory-limit", "0"): "'0'",
                            ("--memory-limit", "2 parsecs"): "2 parsecs", ("--memory-limit", "5GiB"): "4.0 GiB",
                            ("--memory-growth", "maybe"): "maybe",
                            ("--memory-limit", "1GiB", "--memory-fraction", "0.5"): "--memory-"}.items():
            with self.subTest(flags):
                result = run("devices", "--devices", "sim:2", *flags)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertIn(word, result.stderr)
                self.assertEqual(result.stdout, "")


class TrainingTest(ProgramTest):
    def steps(self, *arguments, **environment):
        return run("train", "lenet5", "--data", self.data, "--max-steps", 2, "--batch-size", 4, "--log-every", 1,
                   "--valid-every", 0, *arguments, **environment)

    def test_cards_learn_what_cpu_towers_learn(self):
        losses = [json.loads(self.steps("--devices", devices, "--json").stdout)["loss"]
                  for devices in ("3", "sim:3")]
        self.assertEqual(*losses)

    def test_memory_is_in_the_log_the_metrics_and_the_summary(self):
        for devices in ("cpu:0,cpu:1", "sim:2"):
            with self.subTest(devices):
                out = self.scratch / f"run-{devices}"
                result = self.steps("--devices", devices, "--memory-limit", "500MiB", "--out", out)
                shown = (r"memory (cpu|sim):0 [\d.]+ MiB \(peak [\d.]+ MiB\) of 500.0 MiB, "
                         r"(cpu|sim):1 [\d.]+ MiB \(peak [\d.]+ MiB\) of 500.0 MiB$")
                self.assertRegex(result.stdout.rstrip(), shown)
                self.assertRegex((out / "train.log").read_text(), rf"(?m){shown}")
                names = {line.split("\t")[1] for line in (out / "metrics.tsv").read_text().splitlines()}
                self.assertLessEqual({f"memory/tower_{tower}{what}" for tower in (0, 1) for what in ("", "_peak")},
                                     names)
        summary = json.loads(self.steps("--devices", "2", "--json").stdout)
        for in_use, peak in zip(summary["memory_bytes"], summary["memory_peak_bytes"]):
            self.assertLess(0, in_use)
            self.assertLess(in_use, peak)

    def test_past_the_limit_is_one_line(self):
        for devices in ("cpu:0,cpu:1", "sim:2"):
            with self.subTest(devices):
                result = self.steps("--devices", devices, "--memory-limit", "4MiB")
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertRegex(result.stderr.splitlines()[-1],
                                 r"tower 0 \((cpu|sim):0\).*limit 4.0 MiB, in use .*, asked for ")

    def test_placement_is_logged_once_for_each_operator_and_tower(self):
        lines = [line.split("placement: ")[1]
                 for line in self.steps("--devices", "sim:2", "--log-placement").stderr.splitlines()
                 if "placement: " in line]
        self.assertEqual(len(lines), len(set(lines)))
        for tower in (0, 1):
            self.assertTrue(any(line.startswith(f"tower {tower}: aten::") and line.endswith(f"-> sim:{tower}")
                                for line in lines), lines)

    def test_soft_placement_stands_in_for_missing_devices(self):
        wanted = ("--devices", "sim:0,sim:1,sim:2")
        strict = self.steps(*wanted, PAGODA_VISIBLE_DEVICES="0,1")
        self.assertEqual(strict.returncode, 2, strict.stderr)
        self.assertIn("sim:2 is not there", strict.stderr)
        soft = self.steps(*wanted, "--soft-placement", "on", PAGODA_VISIBLE_DEVICES="0,1")
        self.assertEqual(soft.returncode, 0, soft.stderr)
        self.assertIn("device sim:2 is not there; sim:0 stands in", soft.stderr)
        self.assertIn("2 towers", soft.stdout)


class BadDeviceTest(unittest.TestCase):
    def test_one_line_and_code_2(self):
        for text, word in {"sim": "sim:4", "sim:": "'sim:'", "sim:17": "16", "sim:0,sim:0": "twice",
                           "sim:x": "'sim:x'", "sim:3-1": "'sim:3-1'", "sim:0,gpu:1": "'gpu:1'",
                           "sim:0-99": "sim:99"}.items():
            with self.subTest(text):
                result = run("devices", "--devices", text)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertIn(word, result.stderr)


if __name__ == "__main__":
    unittest.main()
