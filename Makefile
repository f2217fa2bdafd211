# Short names for what setup, CMake and CTest do; `make help` lists them.

JOBS   ?= $(shell nproc)
PREFIX ?= /usr/local
HOURS  ?= 1
VERSION = $(shell sed -nE 's/^project\(Pagoda VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)

.PHONY: build test test-python-models demo install package wheel check-wheel deb archive asan tsan chaos soak machines fuzz fuzz-coverage fuzz-mutations check-cuda docs format clean setup help

build: setup          ## set up and build; the program is build/pagoda (default)
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS)

test: build           ## build and run all tests
	@tools/setup docs
	ctest --preset release

test-python-models: setup  ## export models of torchvision, timm and transformers, train them here, compare; ARGUMENTS=resnet18
	@tools/setup models
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target program_tests
	.venv-models/bin/python -B tests/program/large_models.py $(ARGUMENTS)

# Builds the program alone, without tests and examples.
demo: setup           ## build the program, then train LeNet-5 on one tower and on all
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target pagoda_program
	build/pagoda demo

# Builds nothing, so that `sudo make install` leaves no files of root in the clone.
install:              ## install what `make` has built into PREFIX (/usr/local)
	@test -x build/pagoda || { echo 'nothing to install yet: run make first' >&2; exit 1; }
	cmake --install build --prefix "$(PREFIX)"

# The program and what is installed with it, without tests and examples.
package: setup
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target pagoda_program pagoda_manual

# The compiler is named as CMake would, so that ccache knows what `make` has compiled.
wheel: setup          ## a wheel with program and library for pip, in dist/; takes LibTorch from the package torch
	@rm -f dist/pagoda-*.whl
	CXX=$${CXX:-c++} $(PYTHON) -m pip wheel . --no-deps --wheel-dir dist

check-wheel:          ## install that wheel into a fresh environment; train, evaluate, translate, build an example with it
	tools/check_wheel

deb: package          ## a Debian package, in dist/; CMAKE_PREFIX_PATH names the LibTorch that it is for
	@tools/setup deb
	cpack --config build/CPackConfig.cmake -B dist
	@rm -rf dist/_CPack_Packages

archive:              ## the sources of HEAD as dist/pagoda-VERSION.tar.gz, which builds without git
	@mkdir -p dist
	git archive --prefix=pagoda-$(VERSION)/ -o dist/pagoda-$(VERSION).tar.gz HEAD

asan tsan: setup      ## build in build-asan or build-tsan with that sanitizer, run its tests
	cmake --preset $@
	cmake --build --preset $@ --parallel $(JOBS)
	ctest --preset $@

chaos: build          ## crash and fail small runs at every point (takes a while); ARGUMENTS='--scenario train'
	PAGODA_PROGRAM=build/pagoda PAGODA_CHAOS_LIBRARY=build/tests/libchaos_calls.so python3 tests/chaos/chaos.py $(ARGUMENTS)

soak: build           ## train, kill, resume, translate, … in a random order for HOURS; ARGUMENTS='--seed 7'
	PAGODA_PROGRAM=build/pagoda PAGODA_LIFETIMES=build/tests/lifetimes python3 tests/soak/soak.py --hours $(HOURS) $(ARGUMENTS)

PYTHON ?= $(firstword $(wildcard .venv/bin/python) python3)
KILLS  ?= 50
machines: build       ## network namespaces as machines (root), then KILLS kills of ranks under torchrun; ARGUMENTS='--seed 7'
	PAGODA_PROGRAM=build/pagoda $(PYTHON) -B tests/machines/machines_test.py
	PAGODA_PROGRAM=build/pagoda $(PYTHON) -B tests/machines/kills.py --kills $(KILLS) $(ARGUMENTS)

SECONDS ?= 60
fuzz: setup           ## fuzz every reader of input for SECONDS of computing each, in build-fuzz; READER=config
	@tools/setup fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz --parallel $(JOBS)
	tests/fuzz/fuzz.py --seconds $(SECONDS) $(if $(READER),--reader $(READER))

fuzz-coverage: setup  ## which lines of the readers the stored and gathered inputs reach
	@tools/setup fuzz
	cmake --preset fuzz-coverage
	cmake --build --preset fuzz-coverage --parallel $(JOBS)
	tests/fuzz/coverage.py $(ARGUMENTS)

MUTATIONS ?= 100000
fuzz-mutations: setup ## read MUTATIONS mutated files of all kinds: no crash, no hang, no silently other value
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target fuzz_inputs
	build/tests/fuzz/fuzz_inputs --mutations $(MUTATIONS) --findings build/fuzz-findings tests/fuzz/corpus tests/fuzz/found

check-cuda:           ## compile and link with the CUDA build of LibTorch, in build-cuda
	@JOBS=$(JOBS) tools/check_cuda

# The program tells its options to the reference.
docs: setup           ## build the documentation site: build-docs/html/index.html
	@tools/setup docs
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target pagoda_program
	.venv/bin/python -B tools/docs/build.py

format:               ## format all C++ files in place
	git ls-files -z --cached --others --exclude-standard '*.h' '*.cpp' | xargs -0r clang-format -i

clean:                ## remove all build folders; .venv stays
	rm -rf build build-debug build-asan build-tsan build-cuda build-docs build-fuzz build-fuzz-coverage build-wheel dist

setup:                ## install what is missing
	@tools/setup

help:                 ## show this list
	@sed -nE 's/^([a-z][a-z -]*):[^#]*## (.*)/  \1\t\2/p' Makefile | expand -t 18
	@echo 'Variables: JOBS=$(JOBS), PREFIX=$(PREFIX), HOURS=$(HOURS), SECONDS=$(SECONDS), CMAKE_PREFIX_PATH or Torch_DIR (own LibTorch)'
