# What CI runs is `make integration`; the others are its parts, for working on one thing.
.PHONY: build test lint bench chaos integration long sanitize fuzz

build:
	swift build --build-tests

test:
	swift test

lint:
	swift format lint --strict --recursive Package.swift Sources Tests
	@if command -v shellcheck >/dev/null; then shellcheck -x -P SCRIPTDIR Deploy/install Deploy/packages Deploy/try Deploy/sanitize Deploy/backup Deploy/restore \
		Deploy/test Deploy/bench-peers Deploy/bare-root Deploy/steps.sh .ci/run; else echo "shellcheck is not installed: scripts not checked"; fi

bench:
	swift build -c release --product drover
	.build/release/drover bench all --save .drover/bench.json
	Deploy/performance .drover/bench.json > docs/performance.md

# Each fault by itself, under load (docs/faults.md). As root: it makes hosts and disks of its own.
chaos:
	swift build -c release --product drover
	.drover/venv-test/bin/python Tests/System/chaos.py --page docs/faults.md

integration:
	bash Deploy/test

# The long forms of the proofs; each test decides by DROVER_LONG how long it is.
long:
	DROVER_LONG=1 bash Deploy/test

# Thread and Address Sanitizer over the engine, in build folders of their own.
sanitize:
	bash Deploy/sanitize

# Decoders of bytes from outside: millions of inputs by chance. The test command has the short form.
fuzz:
	DROVER_LONG=1 swift test --filter 'FuzzTests|MTGFrameTests|RecordTests|JSONTreeTests'
