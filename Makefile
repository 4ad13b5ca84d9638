# Every target makes its own virtual environment; nothing but Python 3.11+ has to be there before.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test docs bench clean

$(VENV)/.runtime: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -e .
	@touch $@

$(VENV)/.dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -e '.[dev]'
	@touch $@ $(VENV)/.runtime

demo: $(VENV)/.runtime
	$(BIN)/python -m pathveil demo

test: $(VENV)/.dev
	$(BIN)/ruff check src tests examples benchmarks docs
	$(BIN)/ruff format --check src tests examples benchmarks docs
	$(BIN)/mypy
	$(BIN)/pytest -n 2

# The notebooks are run on the way, which takes most of the time.
docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "build/site/index.html; its search needs a server: $(BIN)/python -m http.server --directory build/site"

# The libraries that we compare with want other versions of things; they get an environment of their own.
bench: $(VENV)-bench/.ready
	$(VENV)-bench/bin/python benchmarks/run.py build/benchmarks

$(VENV)-bench/.ready: pyproject.toml benchmarks/requirements.txt
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/pip install --quiet -e '.[graph,spark]' -r benchmarks/requirements.txt
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-bench build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
