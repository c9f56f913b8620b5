# The short names for the jobs of this project; CMake does the building, in build/.

PREFIX ?= /usr/local
DESTDIR ?=
ONLY ?=
FUZZ_SECONDS ?= 60
PYTHON ?= /usr/bin/python3
SITE ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

export ONLY FUZZ_SECONDS PYTHON JOBS

help:
	@echo "make demo              build gram and show it at work"
	@echo "make test              builds the release and runs its tests"
	@echo "make test-sanitizers   the same tests under the address and undefined-behaviour sanitizers"
	@echo "make test-threads      several threads at once under the thread sanitizer"
	@echo "make test-python       the Python package alone, with Debian's NumPy and scikit-learn"
	@echo "make test-long         large statistical runs, long fuzzing, big n"
	@echo "make cluster           builds build/cluster/bin/gram, for several machines: MPI and ScaLAPACK"
	@echo "make test-cluster      that command by 1 to 4 ranks on this machine"
	@echo "make bench [ONLY=name] benchmarks against peers, in one run on this machine"
	@echo "make fuzz              libFuzzer over every target, FUZZ_SECONDS=$(FUZZ_SECONDS) each"
	@echo "make lint              formatting and static analysis"
	@echo "make analyze           clang's analyzer and gcc -fanalyzer; findings must have an answer"
	@echo "make format            formats the C files in place"
	@echo "make gallery           draws the pictures of docs/gallery.md anew, by its own commands"
	@echo "make pages             opens the gallery in headless Chromium: no error, no request to any host"
	@echo "make exports           writes src/exports.txt anew: libgram's public symbols"
	@echo "make python            builds the Python package and installs it for $(PYTHON), or into SITE=FOLDER"
	@echo "make wheel             builds a wheel that brings libgram, the command and their BLAS, into build/wheel"
	@echo "make stubs             writes the package's .pyi files anew: after a change of methods or options"
	@echo "make install           PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)"
	@echo "make dist              a source archive of what is committed, the same bits every time, into build/dist"
	@echo "make deb               Debian packages of what is committed, into build/deb"
	@echo "make clean             removes build/"
	@echo "demo, install, test*, cluster, bench, fuzz, lint and analyze first call scripts/setup for what this machine lacks."

build:
	@scripts/configure release
	@cmake --build --preset release -j $(JOBS)

demo:
	@scripts/setup demo
	@$(MAKE) --no-print-directory build
	@GRAM=build/release/bin/gram scripts/demo

test:
	@scripts/setup test
	@tests/run

test-sanitizers:
	@scripts/setup test
	@tests/run sanitizers

test-threads:
	@scripts/setup test
	@tests/run threads

test-python:
	@scripts/setup test
	@tests/run python

# libgram is the same as ever; the command among ranks is another one (docs/cluster.md).
cluster:
	@scripts/setup cluster
	@scripts/configure release
	@cmake --build --preset release -j $(JOBS) --target gram_command
	@scripts/configure cluster
	@cmake --build --preset cluster -j $(JOBS) --target gram_command

test-cluster:
	@tests/run cluster

test-long:
	@scripts/setup test
	@tests/run long

bench:
	@scripts/setup bench
	@$(MAKE) --no-print-directory build
	@bench/run

fuzz:
	@scripts/setup fuzz
	@tests/fuzz/run

lint:
	@scripts/setup lint
	@scripts/lint

analyze:
	@scripts/setup analyze
	@scripts/configure release
	@$(PYTHON) scripts/analyze --jobs $(JOBS)

format:
	@scripts/lint format

exports: build
	@tests/house/exports build/release/lib/libgram.so >src/exports.txt

gallery:
	@scripts/setup demo
	@$(MAKE) --no-print-directory build
	@$(PYTHON) scripts/gallery build/release/bin/gram

pages:
	@scripts/setup pages
	@scripts/page-check docs/gallery.md

# As root after a build by the user, nothing is compiled again.
install:
	@scripts/setup demo
	@$(MAKE) --no-print-directory build
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

# What type checkers read of the package, whose classes are made when it is imported.
stubs: build
	@PYTHONPATH=build/release/python $(PYTHON) scripts/python-stubs

# With Debian's packages alone: nothing is fetched.
python:
	@scripts/setup python
	@$(MAKE) --no-print-directory build
	@scripts/python-install "$(SITE)"

wheel:
	@scripts/setup wheel
	@$(MAKE) --no-print-directory build
	@$(PYTHON) scripts/python-wheel

dist:
	@scripts/dist

deb:
	@scripts/setup deb
	@scripts/deb

clean:
	@rm -rf build

.PHONY: help build demo test test-sanitizers test-threads test-python test-long cluster test-cluster python stubs wheel bench fuzz lint analyze format exports gallery pages install dist deb clean
