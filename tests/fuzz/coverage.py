#!/usr/bin/env python3
"""Which lines of the readers the stored inputs reach, with the program that `make fuzz-coverage` has built.

    tests/fuzz/coverage.py [--build build-fuzz-coverage] [--inputs build-fuzz/corpus] [--missing]

Besides corpus/ and found/ it takes the inputs that fuzzing has gathered so far, where there are any.
Exits with 1 below 90 % of all lines.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LEAST_PERCENT = 90

# The sources that read: what somebody else wrote passes through them.
SOURCES = [
    "src/base/byte_size.cpp", "src/base/file_tensor.cpp", "src/base/json_value.cpp",
    "src/base/mapped_file.cpp", "src/base/safetensors.cpp", "src/base/toml.cpp", "src/base/toml_limits.cpp", "src/base/utf8.cpp",
    "src/base/zip_archive.cpp", "src/checkpoint/checkpoint.cpp", "src/checkpoint/pickle_file.cpp",
    "src/checkpoint/pickle_item.cpp", "src/checkpoint/pickle_reader.cpp", "src/checkpoint/pickle_stack.cpp",
    "src/checkpoint/safetensors_file.cpp",
    "src/checkpoint/state_dict.cpp", "src/checkpoint/stored_tensors.cpp", "src/cli/config_file.cpp",
    "src/cli/number_checks.cpp", "src/cli/option_values.cpp", "src/data/file_checksums.cpp",
    "src/data/image_records.cpp", "src/data/npy_file.cpp", "src/data/tensor_table.cpp", "src/device/cgroup.cpp", "src/device/device_mask.cpp",
    "src/device/device_text.cpp", "src/events/event_proto.cpp", "src/events/record_file.cpp",
    "src/program/argument_reader.cpp", "src/program/graph_reader.cpp", "src/program/program_archive.cpp",
    "src/program/size_expression.cpp", "src/program/type_codes.cpp", "src/run/interval.cpp", "src/run/layer_list.cpp", "src/run/rate_factor.cpp", "src/text/character_class.cpp",
    "src/text/character_tokenizer.cpp", "src/text/chinese_spaces.cpp", "src/text/jieba_tokenizer.cpp",
    "src/text/line_reader.cpp", "src/text/pair_reader.cpp", "src/text/sentencepiece_tokenizer.cpp",
    "src/text/token_file.cpp", "src/text/unpacked_file.cpp", "src/text/vocabulary.cpp", "apps/pagoda/serve/translate_request.cpp",
    "src/text/word_tokenizer.cpp", "src/train/data_record.cpp", "src/train/run_config.cpp",
    "src/train/run_directory.cpp", "src/train/run_metrics.cpp",
]


def measured(program, inputs, profile):
    """llvm-cov's record of a run over all inputs, as JSON."""
    subprocess.run([program, *inputs], check=True, env=dict(os.environ, LLVM_PROFILE_FILE=f"{profile}.raw"))
    subprocess.run(["llvm-profdata-16", "merge", "-sparse", f"{profile}.raw", "-o", profile], check=True)
    command = ["llvm-cov-16", "export", program, f"-instr-profile={profile}", *(ROOT / name for name in SOURCES)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["data"][0]


def missing_lines(file):
    """Numbers of the lines where a region begins that was never entered."""
    lines = set()
    for line, _, count, has_count, is_entry, _ in file["segments"]:
        if has_count and count == 0 and is_entry:
            lines.add(line)
    return sorted(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build-fuzz-coverage")
    parser.add_argument("--inputs", type=Path, default=ROOT / "build-fuzz" / "corpus")
    parser.add_argument("--missing", action="store_true", help="name the lines that are not reached")
    options = parser.parse_args()
    inputs = [folder for folder in [HERE / "corpus", HERE / "found", options.inputs] if folder.is_dir()]
    with tempfile.TemporaryDirectory(prefix="pagoda-coverage-") as scratch:
        report = measured(options.build.resolve() / "tests" / "fuzz" / "fuzz_inputs", inputs, f"{scratch}/profile")
    count = covered = 0
    for file in sorted(report["files"], key=lambda each: each["filename"]):
        lines = file["summary"]["lines"]
        count, covered = count + lines["count"], covered + lines["covered"]
        name = Path(file["filename"]).resolve().relative_to(ROOT)
        print(f"{lines['percent']:6.1f} %  {lines['covered']:4} of {lines['count']:4} lines  {name}")
        if options.missing and missing_lines(file):
            print(" " * 10 + "missing from " + ", ".join(map(str, missing_lines(file))))
    percent = 100 * covered / count
    print(f"{percent:6.1f} %  {covered:4} of {count:4} lines of the readers, {len(report['files'])} files")
    return 0 if percent >= LEAST_PERCENT else 1


if __name__ == "__main__":
    sys.exit(main())
