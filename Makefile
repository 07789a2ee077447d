# Two commands are all the set-up: `make play` and `make test`. Both use one .venv, which is made on
# first use and brought up to date when the locks in requirements/ change. `make play` installs what
# the game needs; everything else adds the tools.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PLAYABLE := $(VENV)/.playable
READY := $(VENV)/.ready
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
NODE := $(BIN)/python tools/node.py
# The server over real sockets, without a browser: these count for the coverage.
SERVER_TESTS := e2e/test_api.py e2e/test_socket.py e2e/test_house.py e2e/test_attacks.py \
	e2e/test_operators.py e2e/test_hosts.py e2e/test_puzzles_api.py e2e/test_failures.py
# How long visitors wait while others attack: nothing else may run meanwhile.
FRONT_DOOR := e2e/test_front_door.py
BIOME := $(NODE) node_modules/@biomejs/biome/bin/biome check

# Where `make cluster` finds PostgreSQL; its own by default.
DATABASE ?=

.PHONY: play cluster test test-extras soak e2e front-door lint types check coverage thorough page format bench page-types words lock clean

play: $(PLAYABLE)
	@$(BIN)/kamon serve --open

# PostgreSQL, two servers, an engine worker and a proxy, on this machine.
cluster: $(READY)
	@$(BIN)/python tools/cluster.py $(if $(DATABASE),--database $(DATABASE))

test: $(READY) lint types page check e2e front-door

lint: $(READY) node_modules/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/lock.py --check
	$(BIOME) --error-on-warnings

types: $(READY) node_modules/.ready
	$(BIN)/mypy
	$(BIN)/python tools/page_types.py --check
	$(NODE) node_modules/typescript/bin/tsc --project tsconfig.json

# The engine is compiled once, before the tests share the cores and run into it all at the same time.
check: $(READY) nginx
	@$(BIN)/python -c "from kamon.engine.solver import warm_up; warm_up()"
	@$(BIN)/python -c "from kamon.env.batch import warm_up; warm_up()"
	$(BIN)/pytest --numprocesses auto --dist worksteal $(COVERAGE) tests --ignore=tests/extras $(SERVER_TESTS)

# The same tests, and how much of the package they cover. Measuring that takes a third longer.
coverage: COVERAGE := --cov --cov-fail-under=97
coverage: check

# What needs the packages of the extras. A test whose package does not install here is skipped.
test-extras: $(READY)
	$(INSTALL) --require-hashes --requirement requirements/extras.txt
	$(INSTALL) torch==2.13.0
	$(BIN)/pytest -rs tests/extras

# Those modules of the page that need no browser.
page: $(READY)
	$(NODE) --import ./tests/page/setup.js --test tests/page/*.test.js

# The page in a real browser, and many kills in mid-game.
e2e: $(READY) chromium
	$(BIN)/pytest --numprocesses auto --dist worksteal -m "not thorough" e2e $(addprefix --ignore=,$(SERVER_TESTS) $(FRONT_DOOR))

# One server and a real nginx, attacked in all the ways of bench/attacks.py.
front-door: $(READY) nginx
	$(BIN)/pytest $(FRONT_DOOR)

# The rest of the browser tests, which take as long again: the same pages in many sizes, languages and
# themes, WebKit, and servers killed many times. Run them before a release, and after a change of the page's
# layout, its words, or how servers share a database.
thorough: $(READY) chromium webkit
	$(BIN)/pytest --numprocesses auto --dist worksteal -m thorough e2e

# The same faults as in the tests, for longer: kills, a database that is away for a minute, servers
# that are stopped for ten seconds, a thousand games over a bad network. Takes an hour or more.
soak: $(READY)
	KAMON_FAULTS=100 KAMON_KILLS=201 KAMON_REVIEWS=20 $(BIN)/pytest -v e2e/test_crash.py \
		e2e/test_faults.py e2e/test_reviews.py

# The tests need a real Chromium, a real nginx and a real WebKit. Where one is missing and we may,
# Debian's is installed.
.PHONY: chromium nginx webkit
chromium nginx: PACKAGES = $@
chromium nginx: COMMANDS = $@
webkit: PACKAGES = webkit2gtk-driver xvfb dbus
webkit: COMMANDS = WebKitWebDriver Xvfb dbus-daemon
chromium nginx webkit:
	@PATH="$$PATH:/usr/sbin"; for each in $(COMMANDS); do command -v $$each >/dev/null || missing=yes; done; \
		test -z "$$missing" || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
		&& apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(PACKAGES) >/dev/null; } \
		|| { echo "The tests need Debian's packages: $(PACKAGES)"; exit 1; }

format: $(READY) node_modules/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIOME) --write

bench: $(READY) chromium nginx
	$(INSTALL) --require-hashes --requirement requirements/bench.txt
	for part in play engine opening levels web attacks page pictures study env puzzles; do $(BIN)/python -m bench.$$part || exit 1; done

page-types: $(READY)
	$(BIN)/python tools/page_types.py

words: $(READY)
	$(BIN)/python tools/words.py

# The versions that are locked stay as they are where they can; `tools/lock.py --upgrade` renews them.
lock: $(READY)
	$(INSTALL) --requirement requirements/lock.txt
	$(NODE) npm install --package-lock-only --silent
	$(BIN)/python tools/lock.py

clean:
	rm -rf $(VENV) node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage

# A stamp is touched last, so an interrupted installation is simply done again. Everything comes from
# the locks with its hash; the package itself is built by the backend that is locked.
$(PLAYABLE): pyproject.toml requirements/run.txt requirements/build.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Kamon needs Python 3.11 or later; name one with: make PYTHON=python3.12 ..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) (about a minute, once) ..."
	@$(INSTALL) --require-hashes --requirement requirements/run.txt --requirement requirements/build.txt
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(READY): $(PLAYABLE) requirements/dev.txt
	@echo "Installing the tools of the tests ..."
	@$(INSTALL) --require-hashes --requirement requirements/dev.txt
	@touch $@

# Only the checks of the page need Node: the machine's own, or the one from the Python wheel.
node_modules/.ready: package.json package-lock.json .npmrc $(READY)
	@$(NODE) npm ci --silent --no-audit --no-fund
	@touch $@
