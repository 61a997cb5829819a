# The front door. Every target may be run first, on a fresh clone: it installs, configures and builds what it needs.
#
#   make         build everything into build/bin
#   make demo    four peers on this machine draw a picture, and one of them is killed; make demo-move: one program moves
#   make test    what CI runs: checks, unit tests under address and undefined-behaviour sanitizers, end-to-end tests
#   make soak    long runs: fuzzing, many seeds, endurance, unit tests without sanitizers and under the thread sanitizer
#   make bench   the figures of README.md, as JSON and plots in build/bench
#   make install copies it to PREFIX (/usr/local), below DESTDIR if that is set; make package: a Debian package in build/package
#   make check   formatting, layers, sizes, clang-tidy on changed files

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.PHONY: install package build setup build-tested build-asan build-tsan demo demo-move test lint soak bench check clean

# Clones of this repository on one machine share what they compiled.
export CCACHE_SLOPPINESS := pch_defines,time_macros
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
CTEST := ctest --output-on-failure --no-tests=error -j $(shell nproc)

setup:
	@tools/setup

# $(call compile,<preset>,<targets>)
define compile
@echo "== building: $(1) $(2)"
@[ -f build/$(1)/build.ninja ] || cmake --preset $(1) > build/$(1).configure.log 2>&1 || { cat build/$(1).configure.log; exit 1; }
@cmake --build build/$(1) --target $(2)
endef

build: setup
	@mkdir -p build
	$(call compile,release,all godwit-bench)

# What the end-to-end tests run: all but the program that measures.
build-tested: setup
	@mkdir -p build
	$(call compile,release,all)

build-asan: setup
	@mkdir -p build
	$(call compile,asan,unit_tests)

build-tsan: setup
	@mkdir -p build
	$(call compile,tsan,unit_tests)

PREFIX ?= /usr/local
install: build
	@DESTDIR=$(DESTDIR) cmake --install build/release --prefix $(PREFIX) --strip > build/install.log || { cat build/install.log; exit 1; }
	@echo "installed below $(DESTDIR)$(PREFIX)"

package: build
	@cd build/release && cpack > ../package.log || { cat ../package.log; exit 1; }
	@ls build/package/*.deb

demo: build
	@tools/demo

demo-move: build
	@tools/demo-move

lint: setup
	@tools/format --check
	@tools/layers.py
	@tools/ratchet.py
	@tools/pointers.py
	@tools/words.py
	@tools/structure.py

test: lint build-tested build-asan
	@echo "== unit tests, address and undefined-behaviour sanitizers"
	@$(CTEST) --test-dir build/asan -L unit
	@echo "== end-to-end tests"
	@$(CTEST) --test-dir build/release -L e2e

soak: build build-tsan
	$(call compile,release,unit_tests)
	@echo "== unit tests, as released"
	@$(CTEST) --test-dir build/release -L unit
	@echo "== unit tests, thread sanitizer"
	@$(CTEST) --test-dir build/tsan -L unit
	@echo "== long runs"
	@$(CTEST) --test-dir build/release -L soak

bench: build
	@tools/setup --bench
	@mkdir -p build/bench
	@for suite in engine mobility overlay transport tasks efficiency; do \
	  echo "== bench: $$suite"; build/bin/godwit-bench $$suite --json --plots build/bench | tee build/bench/$$suite.json; done

check: lint build
	@tools/tidy

# Keeps build/deps: it is downloaded, not built.
clean:
	@rm -rf build/package build/release build/asan build/tsan build/bin build/bench build/*.log
