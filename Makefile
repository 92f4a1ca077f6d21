# `make quick` and `make test` are all that a clone needs; `make help` lists the rest.
.DEFAULT_GOAL := help
.PHONY: help env quick tables reference pages status crate test test-fast test-generic generic lint types format docs wheel wheel-long timing benchmark fuzz bounds slurm faults mutants long lock clean

SUITE  ?= paper
CORES  ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
READY  := $(VENV)/.compiled
FIND   := python3 python3.13 python3.12 python3.11 python3.14 python
OK     := import sys; sys.exit(sys.version_info < (3, 11))
# The first interpreter on the PATH that is new enough; override with `make PYTHON=/path/to/python quick`.
PYTHON ?= $(shell for p in $(FIND); do $$p -c '$(OK)' 2>/dev/null && echo $$p && break; done)
# The lock files name everything, so that nothing is left to resolve; all cores translate it to bytecode, not pip's one.
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps
# Hashes for every platform, and no line that names a package index.
LOCK   := --quiet --generate-hashes --universal --no-header --no-annotate --python-version 3.11
# Other rows than a processor's own: make fuzz NUMBA_CPU_NAME=generic FUZZED=results/fuzz-generic.jsonl
FUZZ   ?= 60
FUZZED ?= results/fuzz.jsonl
WALKS  := $(wildcard tests/library/homotopy/test_loop*.py) tests/library/models/test_svm.py
# Processes of `make test`; the tests of a file stay in one, and the longest files come first.
JOBS   ?= 2
PARALLEL = -n $(JOBS) --dist loadfile --no-loadscope-reorder
GENERIC := NUMBA_CPU_NAME=generic NUMBA_CPU_FEATURES= OPENBLAS_CORETYPE=Nehalem
LINTED := setup.py src tests measurements notebooks docs/*.py docs/gallery docs/images .ci workflow
RULES  := Snakefile workflow/Snakefile workflow/rules

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/:/' | awk -F: '{printf "make %-14s%s\n", $$1, $$2}'

env: $(READY)  ## build .venv from requirements.lock and compile (every other target does this first)

$(READY): $(STAMP)
	$(BIN)/python -m solution_paths --for best
	$(BIN)/python -c "from path_benchmark.runs.warm import warm_up; print(warm_up())"
	@touch $@

$(STAMP): requirements.lock requirements-compiled.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or newer was found on the PATH; install one, or name it: make PYTHON=/path/to/python $(or $(MAKECMDGOALS),env)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes --no-compile -r requirements.lock
	@$(PIP) --require-hashes --no-build-isolation -r requirements-compiled.lock > $(VENV)/compiled.log 2>&1 \
	  || echo "warning: LIBLINEAR and LIBSVM need a C++ compiler and were not installed (see $(VENV)/compiled.log); their rows will say 'not available'." >&2
	$(PIP) --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib src > $(VENV)/bytecode.log || true  # some files are of other Pythons
	@touch $@

quick: $(READY)  ## run the offline suite: generated and bundled data
	$(BIN)/snakemake --cores $(CORES) quick
	@echo "Tables, figures and the report are in results/quick (open results/quick/report.html)."

tables: $(READY)  ## run the paper suite: the papers' data sets, sizes and splits
	$(BIN)/snakemake --cores $(CORES) paper
	@echo "Tables, figures and the report are in results/paper (open results/paper/report.html)."

reference: $(READY)  ## add what is finished of SUITE=paper to reference/, which git keeps: later checkouts take it over
	$(BIN)/python measurements/reference.py --suite $(or $(SUITE),paper)

pages: $(READY)  ## write docs/results and the README's block from what is finished: of the suite paper, the rest of quick
	$(BIN)/python measurements/so_far.py
	$(BIN)/python -m path_benchmark.reporting.published results/so_far results/quick docs/results --readme README.md

test: $(READY)  ## run every test, on JOBS=2 processes
	$(BIN)/python -m pytest $(PARALLEL)

test-fast: $(READY)  ## run what takes less than a minute on one core, of every package
	$(BIN)/python -m pytest -q -m "not slow" tests

# Without AVX and FMA rounding differs: what only holds by luck shows.
test-generic: generic  ## run the tests of walks as on another processor
	$(GENERIC) $(BIN)/python -m pytest -q $(PARALLEL) $(WALKS)

generic: $(STAMP)
	$(GENERIC) $(BIN)/python -c "from path_benchmark.runs.warm import warm_up; print(warm_up())"

lint: $(STAMP)  ## check style, formatting and who imports whom
	$(BIN)/ruff check $(LINTED)
	$(BIN)/ruff format --check $(LINTED)
	$(BIN)/snakefmt --check $(RULES)
	PYTHONPATH=src $(BIN)/lint-imports --no-cache
	$(BIN)/snakemake --lint

types: $(STAMP)  ## check the type hints: the public face itself, then a user's file that relies on it
	$(BIN)/mypy
	$(BIN)/mypy --config-file= --strict --disable-error-code=import-untyped tests/typing_client.py

format: $(STAMP)  ## apply the formatting that `make lint` checks
	$(BIN)/ruff check --fix $(LINTED)
	$(BIN)/ruff format $(LINTED)
	$(BIN)/snakefmt $(RULES)

docs: $(READY)  ## build the site from docstrings, gallery and documents; a warning is an error
	rm -rf docs/api docs/auto_gallery results/docs
	MPLBACKEND=Agg $(BIN)/python -m sphinx -q -W --keep-going -b html -d results/docs/.doctrees docs results/docs
	@echo "The site is in results/docs (open results/docs/index.html)."

wheel: $(STAMP)  ## build the wheel, install it alone in an empty environment, run the README's example and fuzz there
	VENV=$(VENV) FUZZ=$(FUZZ) .ci/wheel

wheel-long: $(STAMP)  ## the same with ten minutes of fuzz on each level of processors
	$(BIN)/python .ci/long.py wheel env VENV=$(VENV) FUZZ=600 .ci/wheel

status: $(STAMP)  ## say what of SUITE=paper is finished, runs, failed or is left
	@$(BIN)/python -m path_benchmark status $(SUITE)

crate: $(STAMP)  ## pack the finished SUITE=paper as an RO-Crate: workflow, configuration, results, in one zip file
	@$(BIN)/python -m path_benchmark crate $(SUITE)

timing: $(READY)  ## run the papers' timing lane alone, one job at a time
	$(BIN)/snakemake --cores $(CORES) timing

benchmark: $(READY)  ## measure speed and accuracy beside other solvers, about 25 minutes
	$(BIN)/python measurements/cross_validation.py
	$(BIN)/python measurements/small_paths.py
	$(BIN)/python measurements/one_call.py
	$(BIN)/python measurements/run.py

fuzz: $(READY)  ## trace random problems (ROWS="400 1500": of other sizes) for FUZZ=60 seconds, judged in extended precision; goes on where it stopped
	$(BIN)/python measurements/fuzz.py --seeds 0 100000 --limit $(FUZZ) --out $(FUZZED) $(if $(ROWS),--rows $(ROWS))

bounds: $(READY)  ## trace a problem of each kind with every index of compiled code checked; compiles into build/bounds
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=build/bounds $(BIN)/python measurements/fuzz.py --seeds 0 1

slurm: $(READY)  ## bring up a Slurm of two nodes on this host (Debian, root), run the suite quick on it
	$(BIN)/python .ci/long.py slurm env SOLUTION_PATHS_SLURM=1 $(BIN)/python -m pytest tests/benchmark/workflow/test_slurm.py

faults: $(READY)  ## kill a hundred runs at random moments, damage one file at a time; about an hour
	$(BIN)/python .ci/long.py faults env SOLUTION_PATHS_KILLS=100 $(BIN)/python -m pytest -s tests/benchmark/workflow/test_faults.py

# Its own environment: the tool mutates what the tests' own Python runs. MUTANTS="--sample 0 solution_paths/path.py"
mutants: $(READY)  ## put small faults into chosen modules, 20 each (MUTANTS="--draw N": N of all), and list those that no fast test notices; goes on where it stopped
	@test -x .venv-mutants/bin/cosmic-ray || { $(BIN)/python -m venv .venv-mutants && .venv-mutants/bin/python -m pip install --quiet cosmic-ray==8.7.0; }
	.venv-mutants/bin/python .ci/mutants.py $(BIN)/python $(MUTANTS)

long:  ## say when what is too long for CI was run last
	@python3 .ci/long.py

lock: $(STAMP)  ## renew both lock files within the bounds of pyproject.toml
	$(BIN)/uv pip compile $(LOCK) --upgrade --extra workflow --extra baselines --extra dev --extra docs pyproject.toml -o requirements.lock
	printf 'liblinear-official\nlibsvm-official\n' | $(BIN)/uv pip compile $(LOCK) --upgrade --no-deps - -o requirements-compiled.lock

clean:  ## remove what was computed; keeps .venv and data/
	rm -rf results logs .snakemake
