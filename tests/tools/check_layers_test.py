"""Builds small source trees and shows that tools/check_layers finds what is wrong in them."""

import importlib.util
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "check_layers"


def load_script():
    sys.dont_write_bytecode = True
    loader = SourceFileLoader("check_layers", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


check_layers = load_script()


class CheckLayersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path, text=""):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def expect_ok(self):
        self.assertEqual(check_layers.check(self.root), [])

    def expect_one(self, *parts):
        """Exactly one violation, which contains all the parts."""
        violations = check_layers.check(self.root)
        self.assertEqual(len(violations), 1, violations)
        for part in parts:
            self.assertIn(part, violations[0])

    # Arrows

    def test_direct_and_transitive_arrows_are_allowed(self):
        self.write(
            "include/pagoda/train/step.h",
            '#include <pagoda/reduce/combine.h>\n#include "device/placement.h"\n'
            "#include <pagoda/train/loop.h>\n#include <vector>\n#include <torch/types.h>\n",
        )
        self.expect_ok()

    def test_forbidden_arrow_names_line_and_what_is_allowed(self):
        text = "#pragma once\n\n#include <pagoda/tower/tower.h>\n"
        self.write("include/pagoda/optim/adam.h", text)
        self.expect_one(
            "include/pagoda/optim/adam.h:3: optim includes pagoda/tower/tower.h",
            "optim may include itself and base, params",
        )

    def test_arrows_that_the_style_forbids_by_name(self):
        pairs = [
            ("models", "tower"), ("models", "reduce"), ("optim", "tower"), ("reduce", "optim"),
            ("checkpoint", "train"), ("train", "models"), ("train", "text"), ("base", "apps"),
        ]  # fmt: skip
        for module, target in pairs:
            with self.subTest(module=module, target=target):
                self.write(f"src/{module}/part.h", f'#include "{target}/other.h"\n')
                self.expect_one(f"src/{module}/part.h:1: {module} includes {target}/other.h")
                (self.root / f"src/{module}/part.h").unlink()

    def test_every_spelling_of_an_include_is_seen(self):
        for spelling in [
            "#include <pagoda/train/loop.h>",
            '#include "pagoda/train/loop.h"',
            '#include "train/loop.h"',
            '#include "../train/loop.h"',
            '  #  include "train/loop.h"  // the loop',
        ]:
            with self.subTest(spelling):
                self.write("src/base/log.h", spelling + "\n")
                self.expect_one("src/base/log.h:1: base includes", "train/loop.h")

    def test_an_include_in_a_comment_is_none(self):
        self.write("include/pagoda/base/log.h", "/// #include <pagoda/train/loop.h>\n")
        self.expect_ok()

    def test_the_program_may_include_every_module(self):
        self.write("apps/pagoda/run/train.h", "#include <pagoda/models/lenet5.h>\n")
        self.expect_ok()

    def refuse(self, path, line, *words):
        """The file with this include is one violation; it is removed again."""
        self.write(path, f"#pragma once\n{line}\n")
        self.expect_one(f"{path}:2: ", *words)
        (self.root / path).unlink()

    def test_folders_of_the_program_have_arrows_too(self):
        self.write(
            "apps/pagoda/bench/report.h",
            '#include "bench/race.h"\n#include "run/train.h"\n#include "draw/picture.h"\n#include "same.h"\n',
        )
        self.expect_ok()
        for folder, target in [("model", "bench"), ("draw", "bench"), ("run", "model"), ("bench", "commands")]:
            with self.subTest(folder=folder, target=target):
                self.refuse(f"apps/pagoda/{folder}/part.h", f'#include "{target}/other.h"',
                            f"{folder} includes {target}/other.h")

    def register(self, *models):
        self.write(check_layers.REGISTRY.as_posix(),
                   "".join(f'#include "{model}/{model}_model.h"\n' for model in models))
        self.write("tests/app/registry/known_models_test.cpp")

    def test_a_folder_in_the_registry_is_a_model(self):
        self.write("apps/pagoda/spiral/spiral_model.h", '#include "model/known_model.h"\n#include "run/stored_run.h"\n')
        self.expect_one("apps/pagoda/spiral/spiral_model.h:1: belongs to no folder")
        self.register("spiral")
        self.expect_ok()

    def test_models_know_neither_each_other_nor_what_lies_above_them(self):
        self.register("spiral", "circle")
        for target in ["circle", "bench", "registry", "commands"]:
            with self.subTest(target):
                self.refuse("apps/pagoda/spiral/part.h", f'#include "{target}/other.h"', f"spiral includes {target}")

    def test_only_the_registry_and_named_commands_include_a_model(self):
        self.register("spiral", "seq2seq")
        self.write("apps/pagoda/commands/translate_command.cpp", '#include "seq2seq/translator.h"\n')
        self.write("tests/app/commands/translate_command_test.cpp")
        self.expect_ok()
        for path, model in [("commands/part.h", "spiral"), ("commands/part.h", "seq2seq"), ("bench/part.h", "spiral"),
                            ("model/part.h", "spiral"), ("registry/part.h", "commands")]:
            with self.subTest(path=path, model=model):
                self.refuse(f"apps/pagoda/{path}", f'#include "{model}/part.h"', f"includes {model}/part.h")

    def test_a_model_uses_nothing_that_is_not_public(self):
        self.register("spiral")
        self.write("src/train/step_engine.h")
        self.write("apps/pagoda/spiral/net.h")
        for line in ['#include "train/step_engine.h"', "#include <train/step_engine.h>",
                     '#include "../../../src/train/step_engine.h"']:
            with self.subTest(line):
                path = "apps/pagoda/spiral/part.h"
                self.write(path, f"#pragma once\n{line}\n")
                self.assertTrue(any("is not public" in found for found in check_layers.check(self.root)))
                (self.root / path).unlink()
        self.refuse("apps/pagoda/spiral/part.h", "pagoda::detail::refuse_stages();", "pagoda::detail is not public")
        self.write("apps/pagoda/spiral/part.h", '#include <pagoda/train/loop.h>\n#include "net.h"\n#include "spiral/net.h"\n'
                                                '#include "../spiral/net.h"\n')
        self.expect_ok()

    def test_a_folder_of_the_program_is_no_module_of_the_same_name(self):
        self.write("apps/pagoda/draw/part.h", '#include <pagoda/run/run.h>\n')
        self.expect_ok()
        self.write("apps/pagoda/draw/part.h", '#include "run/stored_run.h"\n')
        self.expect_one("apps/pagoda/draw/part.h:1: draw includes run/stored_run.h; draw may include itself and nothing else")

    def test_the_program_has_main_above_its_folders_and_nothing_else(self):
        self.write("apps/pagoda/main.cpp", '#include "commands/commands.h"\n#include "run/stored_run.h"\n')
        self.expect_ok()
        for path in ["apps/pagoda/train.h", "apps/pagoda/engine/train.h"]:
            with self.subTest(path):
                self.write(path)
                self.expect_one(f"{path}:1: belongs to no folder")
                (self.root / path).unlink()

    def test_umbrella_header_may_include_everything_and_no_module_includes_it(self):
        self.write("include/pagoda/pagoda.h", "#include <pagoda/train/loop.h>\n")
        self.expect_ok()
        self.write("include/pagoda/train/save.h", "#include <pagoda/pagoda.h>\n")
        self.expect_one("include/pagoda/train/save.h:1: train includes pagoda/pagoda.h")

    def test_file_outside_of_the_modules(self):
        for path in ["include/pagoda/version.h", "src/version.h", "src/engine/version.h"]:
            with self.subTest(path):
                self.write(path)
                self.expect_one(f"{path}:1: belongs to no module")
                (self.root / path).unlink()

    def test_the_tables_have_no_cycle(self):
        for arrows in (check_layers.ARROWS, check_layers.PROGRAM_ARROWS):
            self.assertEqual(set(check_layers.reachable(arrows)), set(arrows))

    def test_cycle_in_the_table(self):
        arrows = {"base": [], "data": ["text"], "text": ["data"]}
        either = "cycle: (data -> text -> data|text -> data -> text)"
        with self.assertRaisesRegex(ValueError, either):
            check_layers.reachable(arrows)

    def test_unknown_name_in_the_table(self):
        with self.assertRaisesRegex(ValueError, "leads to bass, which has no row"):
            check_layers.reachable({"data": ["bass"]})

    # LibTorch

    def test_whole_libtorch_only_in_sources(self):
        self.write("src/base/log.h", "#include <torch/torch.h>\n")
        self.expect_ok()
        for path in ["include/pagoda/base/log.h", "include/pagoda/pagoda.h"]:
            with self.subTest(path):
                self.write(path, "#include <torch/torch.h>\n")
                self.expect_one(f"{path}:1: public header includes torch/torch.h")
                (self.root / path).unlink()

    # Cycles among files

    def test_files_that_include_each_other(self):
        self.write("include/pagoda/base/a.h", '#include "base/b.h"\n')
        self.write("src/base/b.h", "#include <pagoda/base/c.h>\n")
        self.write("include/pagoda/base/c.h", "#include <vector>\n")
        self.expect_ok()
        self.write("include/pagoda/base/c.h", "#include <pagoda/base/a.h>\n")
        self.expect_one("includes itself:", "include/pagoda/base/a.h", "src/base/b.h")

    # Names

    def test_drawer_names(self):
        for path in [
            "src/base/utils.h", "src/base/string_util.h", "src/base/common.h", "src/base/misc.h",
            "tests/support/helpers.h", "src/tower/tower_manager.h", "src/data/reader_new.h",
            "tools/format_v2.py", "examples/common/train.h",
        ]:  # fmt: skip
            with self.subTest(path):
                self.write(path)
                self.expect_one(f"{path}:1:", "is a drawer name")
                (self.root / path).unlink()

    def test_words_that_only_contain_a_drawer_name(self):
        self.write("src/data/commonest.h")
        self.write("src/data/new_line.h")
        self.expect_ok()

    # Tests

    def test_source_without_a_test(self):
        self.write("src/reduce/bucket.cpp")
        self.expect_one("src/reduce/bucket.cpp:1: no tests/reduce/bucket_test.cpp")
        self.write("tests/reduce/bucket_test.cpp")
        self.expect_ok()

    def test_source_of_the_program_without_a_test(self):
        self.write("apps/pagoda/bench/ways.cpp")
        self.expect_one("apps/pagoda/bench/ways.cpp:1: no tests/app/bench/ways_test.cpp")
        self.write("tests/app/bench/ways_test.cpp")
        self.expect_ok()

    def test_exception_for_a_folder(self):
        self.write("apps/pagoda/commands/eval.cpp")
        self.write("apps/pagoda/bench/ways.cpp")
        self.write(check_layers.EXCEPTIONS, "apps/pagoda/commands/: run by cli_test.py\n")
        self.expect_one("apps/pagoda/bench/ways.cpp:1: no tests/app/bench/ways_test.cpp")
        self.write("tests/app/bench/ways_test.cpp")
        self.expect_ok()
        self.write("tests/app/commands/eval_test.cpp")
        self.expect_one(f"{check_layers.EXCEPTIONS}:1: apps/pagoda/commands/", "remove the line")

    def test_exception_with_a_reason(self):
        self.write("src/reduce/stub.cpp")
        self.write(check_layers.EXCEPTIONS, "# a comment\n\nsrc/reduce/stub.cpp: needs a GPU\n")
        self.expect_ok()

    def test_exception_without_a_reason(self):
        self.write("src/reduce/stub.cpp")
        self.write(check_layers.EXCEPTIONS, "src/reduce/stub.cpp:\n")
        self.expect_one(f"{check_layers.EXCEPTIONS}:1: no reason")

    def test_exception_that_is_no_longer_needed(self):
        self.write(check_layers.EXCEPTIONS, "src/reduce/bucket.cpp: soon\n")
        self.expect_one(f"{check_layers.EXCEPTIONS}:1: src/reduce/bucket.cpp", "remove the line")
        self.write("src/reduce/bucket.cpp")
        self.write("tests/reduce/bucket_test.cpp")
        self.expect_one(f"{check_layers.EXCEPTIONS}:1: src/reduce/bucket.cpp", "remove the line")

    # The program

    def run_script(self):
        command = [sys.executable, SCRIPT, "--root", self.root]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_ok_is_one_line_and_exit_0(self):
        self.write("include/pagoda/base/log.h")
        self.write("apps/pagoda/main.cpp")
        result = self.run_script()
        self.assertEqual((result.returncode, result.stdout), (0, "layers: 2 files, ok\n"))

    def test_each_violation_is_one_line_and_exit_1(self):
        self.write("src/base/log.cpp", '#include "train/loop.h"\n')
        result = self.run_script()
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stdout.splitlines()), 2)  # the arrow, and no test
        self.assertEqual(result.stderr, "")

    def test_a_tree_without_sources_is_an_error(self):
        self.assertEqual(self.run_script().returncode, 1)


if __name__ == "__main__":
    unittest.main()
