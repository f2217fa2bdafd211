"""Who takes part in compare_decoding.py: commands, and the settings that a peer is given a choice of.

A peer has `stages`, lists of settings to try, the usual one first, the later ones with the best of the earlier; `name` says
a setting, and `contestant` makes of it what alternate.py runs.
"""

import contextlib
import itertools
import json
import pathlib
import shlex
import sys
import tempfile

import alternate


def add_flags(parser):
    parser.add_argument("--pagoda-flags", default="", help="more flags of pagoda translate, such as '--batch-tokens 2048'")
    parser.add_argument("--marian-model", help="directory that marian_model.py filled")


def pagoda(options, precision, beam):
    """Two towers, and otherwise the program's defaults."""
    command = [options.pagoda, "translate"]
    flags = ["--devices", "cpu:0,cpu:1", *shlex.split(options.pagoda_flags)]
    if precision == "int8":
        if not alternate.has_flag(command, "--int8"):
            sys.exit(f"{options.pagoda} translate has no --int8")
        flags.append("--int8")
    return alternate.peer("pagoda_decoding.py", "--sentences", options.sentences, "--beam-size", beam, "--", *command,
                          options.run, *flags)


def has_avx512():
    return "avx512bw" in pathlib.Path("/proc/cpuinfo").read_text().split()


class CTranslate2(contextlib.AbstractContextManager):
    """Threads and libraries first, then batches."""

    def __init__(self, options):
        import ctranslate2_model

        self.options = options
        self.directory = tempfile.TemporaryDirectory()
        ctranslate2_model.convert(options.pagoda, options.run, self.directory.name)

    def __exit__(self, *_):
        self.directory.cleanup()

    def stages(self):
        # By itself it takes oneDNN and AVX2 on processors that are not Intel's.
        libraries = [{}, {"CT2_USE_MKL": "1"}]
        if has_avx512():
            libraries += [library | {"CT2_FORCE_CPU_ISA": "AVX512"} for library in libraries]
        yield [{"inter": inter, "intra": 2 // inter, "environment": library}
               for inter, library in itertools.product([2, 1], libraries)]
        yield [{"batch": (size, kind)} for kind, sizes in [("examples", [64, 16, 32, 128, 256]),
                                                           ("tokens", [512, 1024, 2048, 4096])] for size in sizes]

    def name(self, setting):
        size, kind = setting.get("batch", (64, "examples"))
        return " ".join([f"{setting['inter']} x {setting['intra']} threads, batches of {size} {kind}",
                         *(f"{name}={value}" for name, value in setting["environment"].items())])

    def contestant(self, setting, precision, beam, request):
        environment = [f"{name}={value}" for name, value in setting["environment"].items()]
        size, kind = setting.get("batch", (64, "examples"))
        command = alternate.peer("ctranslate2_decoding.py", "--sentences", self.options.sentences, "--beam-size", beam,
                                 "--run", self.options.run, "--model", self.directory.name,
                                 "--compute-type", {"fp32": "float32"}.get(precision, precision),
                                 "--inter-threads", setting["inter"], "--intra-threads", setting["intra"])
        return ["env", *environment, *command], json.dumps(request | {"max_batch_size": size, "batch_type": kind})


class Marian(contextlib.AbstractContextManager):
    """Two threads, which work on different batches; how large these are."""

    def __init__(self, options):
        self.options = options
        if not options.marian_model or not (pathlib.Path(options.marian_model) / "model.npz").exists():
            sys.exit("--marian-model must be a directory that benchmarks/peers/marian_model.py filled")
        if options.precision != ["fp32"]:
            sys.exit("Marian is compared in fp32 alone; leave --precision out")

    def __exit__(self, *_):
        pass

    def stages(self):
        yield [{"mini-batch": size} for size in [64, 8, 16, 32, 128, 256]]

    def name(self, setting):
        return f"2 threads, mini-batches of {setting['mini-batch']}"

    def contestant(self, setting, precision, beam, request):
        command = alternate.peer("marian_decoding.py", "--sentences", self.options.sentences, "--beam-size", beam,
                                 "--model", self.options.marian_model, "--mini-batch", setting["mini-batch"])
        return command, json.dumps(request)


PEERS = {"ctranslate2": CTranslate2, "marian": Marian}
