.PHONY: demo unit test test-guests faults check fmt clean

demo:   ## a whole sweep on this machine: local lab, report, notebook
	@scripts/setup.sh demo
	@scripts/demo.sh

unit:   ## the tests that need no local lab: no root, any system
	@scripts/setup.sh unit
	.venv/bin/python -m pytest --numprocesses 2 --dist loadfile tests/unit

test:   ## every test, those on the local lab included, but for the slowest of guests
	@scripts/setup.sh test
	.venv/bin/python -m pytest -m "not guests and not alone" --numprocesses 3 --dist loadfile --no-loadscope-reorder
	.venv/bin/python -m pytest -m "alone"

test-guests: ## every test of guests with kernels of their own, on each backend that boots here
	@scripts/setup.sh test-guests
	.venv/bin/python -m pytest -m "" tests/guests

faults: ## break a run at every command that it sends (docs/faults.md); FAULTS='--share 0.02' does less
	@scripts/setup.sh faults
	PYTHONPATH=tests .venv/bin/python -m faults $(FAULTS)

check:  ## lint, format, types, layers, scripts
	@scripts/setup.sh check
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports --no-cache
	git ls-files -z '*.sh' | xargs -0 .venv/bin/shellcheck
	if command -v perl >/dev/null; then git ls-files -z '*.pl' | xargs -0 -n 1 perl -c; fi

fmt:    ## format the code
	@scripts/setup.sh check
	.venv/bin/ruff check --fix-only .
	.venv/bin/ruff format .

clean:  ## remove what was installed and built here; results stay
	rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
