# Two commands need nothing but Python 3.10 or later:
#   make demo    an attention kernel that spills on an MI300X, why, and what cures it; no GPU needed
#   make test    the whole test-suite
# Everything is installed into .venv; delete that folder to start again.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# The newest Triton that has a wheel for the interpreter.
TRITON ?= "triton==3.9.0; python_version >= '3.11'" "triton==3.8.0; python_version < '3.11'"
TORCH  ?= torch==2.13.0

# The tests start thousands of Python processes; without byte code each would compile its imports again, which takes
# longer than most of the commands that it tests.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-quick mutants damage fuzz lint format docs site clean

demo: $(VENV)/.demo
	@$(BIN)/kprof demo

# What an autotuner asks of the process depends on what ran in it before: on its own.
# tests/conftest.py puts files with slow tests first, which xdist would put last.
test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --ignore=tests/tuning/test_autotune.py $(PYTEST_ARGS)
	$(BIN)/python -m pytest -q tests/tuning/test_autotune.py

test-quick: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not slow and not triton"

# Mutants of what answers rest on: docs/validation/mutation.md. An hour and a half on two cores.
mutants: $(VENV)/.test
	$(BIN)/python validation/mutate.py --set rules -j $(or $(JOBS),2) --least 90 --write docs/validation/mutation.md
	$(BIN)/python validation/mutate.py --set core -j $(or $(JOBS),2) --least 90 --write docs/validation/mutation.md
	$(BIN)/python validation/mutate.py --set rest -j $(or $(JOBS),2) --least 90 --write docs/validation/mutation.md
	$(BIN)/python validation/mutate.py --set sampled --each 15 -j $(or $(JOBS),2) --write docs/validation/mutation.md

# A million damaged files over all readers, and some thousand over the commands: docs/validation/damage.md. COUNT is for
# each reader.
damage: $(VENV)/.test
	$(BIN)/python -m validation.fuzz.sweep --count $(or $(COUNT),40000) --seed $(or $(SEED),1)
	$(BIN)/python validation/damage.py --count $(or $(COMMANDS),400) --seed $(or $(SEED),1)

# Coverage-guided fuzzing, HOURS over all readers, JOBS at a time, or of one: make fuzz READER=trace HOURS=0.5
HOURS ?= 8
fuzz: $(VENV)/.fuzz
	$(BIN)/python -m validation.fuzz.run --hours $(HOURS) --jobs $(or $(JOBS),2) $(READER)

lint: $(VENV)/.test $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.test
	$(BIN)/python validation/generate_docs.py

# The documentation as a site in build/site. KPROF_REPOSITORY=address makes links into the repository work there.
site: $(VENV)/.docs
	$(BIN)/mkdocs build --quiet

clean:
	rm -rf $(VENV) build dist

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e . $(TRITON)
	@touch $@

# torch only serves the numerical tests. Any build will do: TORCH=/path/to/torch.whl make test
# Its CUDA builds bring a Triton of their own, which is replaced again.
$(VENV)/.test: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "$(TORCH)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test,dask]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps $(TRITON)
	@touch $@

$(VENV)/.fuzz: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[fuzz]"
	@touch $@

$(VENV)/.docs: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	@touch $@

$(VENV)/.lint: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[lint]"
	@touch $@
