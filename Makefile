# Two commands are all the set-up: `make play` and `make test`. Both use one .venv, which is
# made on first use and brought up to date whenever pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NODE := $(BIN)/python tools/node.py
BIOME := $(NODE) node_modules/@biomejs/biome/bin/biome check

.PHONY: play test e2e lint types check page format bench words clean

play: $(READY)
	@$(BIN)/kamon serve --open

test: $(READY) lint types page check e2e

lint: $(READY) node_modules/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIOME) --error-on-warnings

types: $(READY) node_modules/.ready
	$(BIN)/mypy
	$(NODE) node_modules/typescript/bin/tsc --project tsconfig.json

# The engine is compiled once, before the tests share the cores and run into it all at the same time.
check: $(READY)
	@$(BIN)/python -c "from kamon.engine.solver import warm_up; warm_up()"
	$(BIN)/pytest --numprocesses auto --dist worksteal --cov --cov-fail-under=100

# Those modules of the page that need no browser.
page: $(READY)
	$(NODE) --import ./tests/page/setup.js --test tests/page/*.test.js

# The page in a real browser, the server over real sockets, and thirty kills in mid-game.
e2e: $(READY) chromium
	$(BIN)/pytest --numprocesses auto --dist worksteal e2e

# The browser tests drive a real Chromium. Where there is none and we may, Debian's is installed.
.PHONY: chromium
chromium:
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
		&& apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; } \
		|| { echo "The browser tests need Chromium: install Debian's package 'chromium'"; exit 1; }

format: $(READY) node_modules/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIOME) --write

bench: $(READY) chromium
	$(BIN)/python -m pip install --quiet --group bench
	for part in play engine opening levels web page pictures study; do $(BIN)/python -m bench.$$part || exit 1; done

words: $(READY)
	$(BIN)/python tools/words.py

clean:
	rm -rf $(VENV) node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage

# The stamp is touched last, so an interrupted installation is simply done again.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Kamon needs Python 3.11 or later; name one with: make PYTHON=python3.12 ..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) (about a minute, once) ..."
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $(READY)

# Only the checks of the page need Node: the machine's own, or the one from the Python wheel.
node_modules/.ready: package.json $(READY)
	@$(NODE) npm install --silent --no-audit --no-fund
	@touch $@
