# What CI runs is `make integration`; the others are its parts, for working on one thing.
.PHONY: build test touched steady lint bench chaos upgrade schema integration long sanitize fuzz

build:
	swift build -c release --build-tests

# Those that need no server.
test: build
	swift test -c release --skip-build --disable-testable-imports

# What a change can touch, for daily work.
touched:
	Deploy/tests/touched

# Queries/schema.sql, after a new migration.
schema:
	.drover/venv-test/bin/python Tests/System/schema.py

# Again and again, calm and under load: make steady RUNS="--runs 2 --loaded 1"
steady:
	Deploy/tests/steady $(RUNS)

lint:
	swift format lint --strict --recursive Package.swift Sources Tests
	.drover/venv-test/bin/python -m pytest -q -p no:cacheprovider Tests/System/operations/test_steps.py -k in_order

# All that docs/performance.md tells, and that page: half an hour on a machine that does nothing else.
bench:
	Deploy/bench/all

# Each fault by itself, under load (docs/faults.md). As root: it makes hosts and disks of its own.
chaos:
	swift build -c release --product drover
	.drover/venv-test/bin/python Tests/System/chaos.py --page docs/faults.md

# From an older version to this one and back, role by role, under load (docs/upgrade.md): make upgrade FROM=COMMIT
upgrade:
	swift build -c release --product drover
	.drover/venv-test/bin/python Tests/System/upgrade.py --from "$(FROM)"

integration:
	bash Deploy/test

# The long forms of the proofs, all or a part: make long PART=engine
long:
	Deploy/tests/long $(PART)

# Thread and Address Sanitizer over the engine, in build folders of their own.
sanitize:
	bash Deploy/tests/sanitize

# Decoders of bytes from outside: millions of inputs by chance. The test command has the short form.
fuzz:
	DROVER_LONG=1 swift test --filter 'FuzzTests|MTGFrameTests|RecordTests|JSONValueTests'
