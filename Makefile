# A fresh clone needs two commands: `make demo` and `make test`. Each creates .venv and installs what it uses.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
OLDEST := .venv-oldest
PIP    := PYTHONWARNINGS=ignore $(BIN)/python -m pip --disable-pip-version-check
NBS    ?= $(sort $(shell find nbs -name '*.ipynb' -not -path '*/.*' -not -name '_*'))

WORKERS ?= 2
PYTEST  = $(BIN)/python -m pytest -n $(WORKERS) --no-loadscope-reorder
CHOSEN  = $(filter $(NB)%,$(notdir $(NBS)))

.DEFAULT_GOAL := help
.PHONY: help env demo test test-slow test-oldest bench reproduce app lab nbs export readme docs clean

help: ## show this list
	@echo "usage: make TARGET"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The package alone: enough for the demo, and quick to install.
$(VENV)/core: settings.ini setup.py pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("tsnmf needs Python 3.10 or newer, $(PYTHON) is %d.%d: try make PYTHON=python3.12" % sys.version_info[:2] if sys.version_info < (3, 10) else 0)'
	@echo "== creating $(VENV) and installing the package"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --quiet --upgrade pip
	@$(PIP) install --quiet --editable .
	@touch $@

# What it takes to develop: nbdev, Jupyter, the test and documentation tools.
$(VENV)/dev: $(VENV)/core
	@echo "== installing the development tools (about two minutes, once)"
	@$(PIP) install --quiet --editable '.[dev]'
	@touch $@

env: $(VENV)/dev ## create .venv and install everything (the others call it)

# What it takes to serve the interactive pages.
$(VENV)/app: $(VENV)/core
	@echo "== installing the server of the interactive pages (about a minute, once)"
	@$(PIP) install --quiet --editable '.[app]'
	@touch $@

demo: $(VENV)/core ## a first look: real data, a few hundred pairs, a picture (demo.png)
	@$(BIN)/tsnmf demo --output demo.png

test: env ## check everything; the last line counts what passed and failed (NB=06 for one chapter)
ifdef NB
	$(if $(CHOSEN),,$(error no notebook in nbs/ has a name that starts with $(NB)))
	@echo "== testing: export, $(CHOSEN)"
	@$(PYTEST) tests/test_export.py tests/test_notebooks.py -k "test_export or /$(NB)"
else
	@echo "== testing: export, notebooks, README, packaging, site"
	@$(PYTEST)
endif

test-slow: env ## the notebooks again, with the cells flagged slow
	@echo "== running every notebook, slow cells included"
	@TSNMF_TEST_FLAGS=slow $(PYTEST) tests/test_notebooks.py

# The oldest versions that settings.ini promises, in an environment of their own; numpy 1.26 is not made for Python 3.13.
$(OLDEST)/dev: settings.ini setup.py pyproject.toml tools/oldest.py
	@$(PYTHON) -c 'import sys; sys.exit("the oldest numpy needs Python 3.10 to 3.12: try make test-oldest PYTHON=python3.12" if sys.version_info[:2] > (3, 12) else 0)'
	@echo "== creating $(OLDEST) with the oldest versions that settings.ini promises (about two minutes, once)"
	@$(PYTHON) -m venv $(OLDEST)
	@$(PYTHON) tools/oldest.py > $(OLDEST)/oldest.txt
	@PYTHONWARNINGS=ignore $(OLDEST)/bin/python -m pip --disable-pip-version-check install --quiet --constraint $(OLDEST)/oldest.txt --editable '.[dev]'
	@touch $@

test-oldest: $(OLDEST)/dev ## the notebooks, on the oldest versions that settings.ini promises (NB=06 for one chapter)
	@echo "== testing the notebooks with $$(tr '\n' ' ' < $(OLDEST)/oldest.txt)"
	@$(OLDEST)/bin/python -m pytest -n $(WORKERS) --no-loadscope-reorder tests/test_notebooks.py tests/test_help.py -k "test_runs and /$(NB) or test_help"

bench: env ## time ratios, measured side by side in one run (ARGS="--against paper", "--large", "--threads", "--before REV" for one of them)
	@$(BIN)/python tools/bench.py $(ARGS)

reproduce: env ## a table or figure of the paper: NAME=table3, all of them without (ARGS="--quick" for minutes)
	@$(BIN)/tsnmf reproduce $(or $(NAME),all) $(ARGS)

app: $(VENV)/app ## interactive experiments in the browser; Ctrl-C ends it (ARGS="--no-browser --port=8866")
	@echo "== serving the pages: the address, with its token, is below"
	@$(BIN)/python tools/app.py $(ARGS)

lab: env ## open JupyterLab on the notebooks
	@$(BIN)/jupyter lab --notebook-dir=nbs

nbs: env ## run notebooks and save their outputs (NBS="nbs/00_graph.ipynb" for one)
	@$(BIN)/python tools/notebooks.py run $(NBS)

export: env ## write tsnmf/*.py from the notebooks
	@echo "== exporting nbs/ to tsnmf/"
	@$(BIN)/nbdev_export

readme: env ## write README.md from nbs/index.ipynb
	@$(BIN)/python tools/readme.py

docs: env ## build the site in _docs/
	@$(BIN)/python tools/site.py

clean: ## remove build output and the environment
	@echo "== removing $(VENV), $(OLDEST), _docs, _proc, build output"
	@rm -rf $(VENV) $(OLDEST) _docs _proc build dist *.egg-info .pytest_cache .hypothesis demo.png bench.png bench.csv
