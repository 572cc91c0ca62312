# tests run side by side, so threads of the numerical library would only wait for each other. It is exported, not set in the
# command, so that make starts pytest without a shell: the shell would not pass a SIGTERM on
unit test test-all fuzz: export OPENBLAS_NUM_THREADS = 1
# tests start thousands of Pythons: whoever keeps no compiled code would have each of them compile the lab anew
export PYTHONDONTWRITEBYTECODE =
# $(1) workers, more than there are cores: tests wait for real servers, and for leases. The tests of a file share their hosts,
# so one worker runs all of them
SIDE_BY_SIDE = --numprocesses $(1) --dist loadfile --no-loadscope-reorder
# each test by itself, on both cores of a small machine
AT_ONCE = --numprocesses 2 --dist worksteal
TESTED = tests/scenarios tests/fuzz tests/unit tests/examples
.PHONY: demo unit wheel test test-all test-release faults fuzz audit check docs gallery docs-reference fmt clean

# TCP buffers only matter with some delay on the link
demo:   ## a whole sweep on this machine: local lab, report, notebook
	@scripts/setup.sh demo
	@scripts/with_local_lab.sh demo 250us scripts/demo.sh

unit:   ## logic, parsers, pages, messages, examples of the docs: no root, no server, no browser, any system
	@scripts/setup.sh unit
	.venv/bin/python -m pytest $(AT_ONCE) tests/unit tests/examples

wheel: docs-reference ## build the wheel, install it on the oldest and newest Python of this machine, and use it in an empty folder
	@scripts/check_wheel.sh

test:   ## all of `make unit`, generated tests, and the scenarios: whole commands on real servers, as root
	@scripts/setup.sh test
	.venv/bin/python -m pytest $(call SIDE_BY_SIDE,6) $(TESTED)

test-all: ## all of `make test`, and what else a machine without virtualization can run; PART=2/4 a quarter of the latter
	@scripts/setup.sh test-all
	.venv/bin/python -m pytest $(call SIDE_BY_SIDE,10) $(if $(PART),--part $(PART),$(TESTED)) tests/breadth
	.venv/bin/python -m pytest $(AT_ONCE) --hypothesis-profile lab -m hypothesis $(if $(PART),--part $(PART)) tests/unit
	$(if $(PART),,$(MAKE) docs wheel)

test-release: ## verdicts on a quiet machine, guests of KVM and TCG with ZFS, the whole fault matrix; hours
	@scripts/setup.sh test-release
	.venv/bin/python -m pytest tests/release
	$(MAKE) faults

faults: ## break a run at every command that it sends (docs/contributing/run-the-fault-matrix.md); FAULTS='--share 0.02' does less
	@scripts/setup.sh faults
	PYTHONPATH=tests .venv/bin/python -m faults $(FAULTS)

fuzz:   ## files and outputs that are nearly right, 2000 of each; SEED=N repeats one, FUZZ='-k journal' does less
	@scripts/setup.sh fuzz
	@seed=$${SEED:-$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}; echo "SEED=$$seed"; \
	    .venv/bin/python -m pytest $(AT_ONCE) --hypothesis-profile fuzz --hypothesis-seed $$seed tests/fuzz $(FUZZ)

audit:  ## known vulnerabilities of the installed Python packages, where their database can be reached
	@scripts/setup.sh audit
	@scripts/audit.sh

check:  ## lint, format, types, layers, scripts
	@scripts/setup.sh check
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports --no-cache
	git ls-files -z '*.sh' | xargs -0 .venv/bin/shellcheck --shell=sh
	git ls-files -z '*.bash' | xargs -0 .venv/bin/shellcheck --shell=bash
	if command -v perl >/dev/null; then git ls-files -z '*.pl' | xargs -0 -n 1 perl -c; fi

docs: docs-reference ## the documentation as web pages in docs/_build; warnings are errors
	@scripts/setup.sh docs
	.venv/bin/python docs/make_gallery.py >/dev/null
	.venv/bin/sphinx-build --quiet --fail-on-warning --keep-going --builder html docs docs/_build

gallery: ## the report of the run that comes with the lab, and two runs compared, in docs/gallery
	@scripts/setup.sh check
	.venv/bin/python docs/make_gallery.py

docs-reference: ## write the pages of the reference that follow from the code, and are not in git
	@scripts/setup.sh check
	.venv/bin/python docs/reference/generate.py

fmt:    ## format the code
	@scripts/setup.sh check
	.venv/bin/ruff check --fix-only .
	.venv/bin/ruff format .

clean:  ## remove what was installed and built here; results stay
	rm -rf .venv build docs/_build docs/gallery *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	git clean -fqX docs/reference
	find . -name __pycache__ -prune -exec rm -rf {} +
