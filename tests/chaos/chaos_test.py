"""The machine finds what it is there to find: writers with known faults, and one without.

    PAGODA_PROGRAM=build/pagoda PAGODA_CHAOS_LIBRARY=build/tests/libchaos_calls.so python3 tests/chaos/chaos_test.py
"""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from chaos import Bench, Choice, MACHINES, recorded, undisturbed
from crash_states import FileSystem, crash_states
from scenarios import Scenario

NEW = "b'new' * 1000"
# Each replaces model.pt; the first does it as it must be done.
CAREFUL = f"""
import os, sys
try:
    for name in os.listdir():
        if name.startswith('model.pt.'): os.unlink(name)
    with open(f'model.pt.{{os.getpid()}}', 'wb', buffering=0) as file:
        rest = {NEW}
        while rest: rest = rest[file.write(rest):]
        os.fsync(file.fileno())
    os.rename(file.name, 'model.pt')
    directory = os.open('.', os.O_RDONLY)
    os.fsync(directory)
except OSError as error:
    sys.exit(f'pagoda: {{error}}')
"""
FAULTS = {  # what is another in it, and what is found then
    "in place": (("f'model.pt.{os.getpid()}'", "'model.pt'"), "kill", "model.pt holds neither"),
    "a file without fsync": (("os.fsync(file.fileno())", "pass"), "power", "model.pt holds neither"),
    "a directory without fsync": (("os.fsync(directory)", "pass"), "power", "model.pt is not the new file"),
    "not swept": (("os.unlink(name)", "pass"), "kill", "is left over"),
    "a part is enough": (("while rest:", "if rest:"), "fail", "model.pt holds neither"),
    "a flush's error ignored": (
        ("os.fsync(directory)", "exec('try: os.fsync(directory)\\nexcept OSError: pass')"), "fail", "though a flush failed"),
    "silent": (("sys.exit(f'pagoda: {error}')", "pass"), "fail", "ended with 0, but"),
    "aborts": (("sys.exit(f'pagoda: {error}')", "os.abort()"), "fail", "ended by SIGABRT"),
    "many words": (("sys.exit(f'pagoda: {error}')", "raise"), "fail", "not one line on stderr"),
}


def writer(name, code):
    return Scenario(name, ("-S", "-c", code), files_before={"model.pt": b"old"}, program="python", replaced="model.pt")


def writers(_):
    found = {"careful": writer("careful", CAREFUL)}
    for name, (change, _, _) in FAULTS.items():
        found[name] = writer(name, CAREFUL.replace(*change))
    return found


class MachineTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="pagoda-test-")
        cls.addClassCleanup(scratch.cleanup)
        cls.bench = Bench(pathlib.Path(scratch.name), jobs=2, scenarios=writers)
        cls.addClassCleanup(cls.bench.close)

    def problems(self, name, machine):
        judged = self.bench.run(self.bench.scenarios[name], [machine], Choice(is_distinct=True))
        self.assertGreaterEqual(len(judged), 5)
        return [f"{point.text}: {problem}" for point, problem in judged if problem]

    def test_nothing_is_wrong_with_a_careful_writer(self):
        for machine in MACHINES:
            self.assertEqual(self.problems("careful", machine), [], machine)

    def test_every_fault_is_found(self):
        for name, (change, machine, words) in FAULTS.items():
            with self.subTest(name):
                self.assertIn(change[0], CAREFUL)
                self.assertIn(words, "\n".join(self.problems(name, machine)))

    def test_a_real_kill_leaves_what_the_model_says(self):
        scenario, workplace = self.bench.scenarios["careful"], self.bench.free.get()
        self.addCleanup(self.bench.free.put, workplace)
        start, _ = undisturbed(workplace, scenario)
        system, records = recorded(workplace, scenario, start)
        for record, states in crash_states(system, records, ("kill",)):
            if record is None or not states:  # nothing has changed since the one before
                continue
            modelled = [content and content() for _, content in sorted(states["kill"].items())]
            workplace.fill(start)
            self.assertEqual(workplace.run(scenario, kill=record.number).code, -9)
            self.assertEqual([content and content() for _, content in sorted(workplace.held().items())], modelled)


class ModelTest(unittest.TestCase):
    """What of a file with 4 synced and 6 other bytes, moved since its directory was synced, is left."""

    def test_the_variants_differ(self):
        with tempfile.TemporaryDirectory(prefix="pagoda-test-") as root:
            pathlib.Path(root, "kept").write_bytes(b"abcd")
            system = FileSystem(root)
            file = system.top.names.pop("kept")
            file.data += b"efghij"
            system.top.names["moved"] = file
            left = {variant: {path: content() for path, content in system.state(variant)[0].items()}
                    for variant in ("kill", "cut", "zeros", "half", "undone")}
        self.assertEqual(left, {"kill": {"moved": b"abcdefghij"}, "cut": {"moved": b"abcd"},
                                "zeros": {"moved": b"abcd" + bytes(6)}, "half": {"moved": b"abcdefg"},
                                "undone": {"kept": b"abcd"}})


if __name__ == "__main__":
    unittest.main()
