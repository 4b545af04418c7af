# Every target does its own set-up: a virtual environment in .venv, and what the target needs.
PYTHON ?= python3
BIN := .venv/bin
TESTS ?= tests
# A process for each core, whole files each: a file's tests share what they build.
PYTEST := $(BIN)/pytest -n auto --dist loadfile

.PHONY: demo test stress check bench format mariadb clean

demo: .venv/installed $(if $(filter mariadb,$(DB)),mariadb)
	$(BIN)/sakuin demo $(if $(ONCE),--once) $(if $(DB),--db $(DB)) $(if $(ENGINE),--engine $(ENGINE)) $(if $(DIR),--data-dir $(DIR)) $(if $(PORT),--port $(PORT))

test: .venv/installed mariadb
	$(PYTEST) $(TESTS)

stress: .venv/installed mariadb
	SAKUIN_STRESS=1 $(PYTEST) $(TESTS)

check: .venv/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy tests benchmarks
	$(BIN)/mypy docs/example/shop.py docs/example/jobs.py
	$(BIN)/lint-imports

bench: .venv/installed mariadb
	$(BIN)/python benchmarks/everything.py

format: .venv/installed
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

mariadb:
	@sh .ci/mariadb

.venv/installed: pyproject.toml constraints.txt .ci/venv
	PYTHON=$(PYTHON) sh .ci/venv
	touch $@

clean:
	rm -rf .venv
