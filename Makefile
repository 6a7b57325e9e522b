# What people type. Everything is built through CMakePresets.json; this file only puts steps in order.

.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON := .venv/bin/python
# Presets that `make test` builds and runs.
PRESETS := dev asan tsan
# For `make differential`: the first seed and the number of inputs.
SEED := 1
COUNT := 100000
# For `make fuzz`: how long each target runs.
SECONDS_EACH := 60
# For `make bench-relay`: words for bench/relay.py, such as --guarantee at_least_once.
BENCH :=
# For `make chaos`, with SEED: how long.
MINUTES := 30
# For `make tour`: how long Kafka stays away, and what makes Docker and debian:trixie-slim where they lack.
DOWN := 300
BASE_IMAGE_SCRIPT := ../shared/tools/local-base-image.sh

.PHONY: help setup demo test bench-codec bench-tea bench-relay bench-state fuzz coverage broker broker-stop differential chaos tour format
.PHONY: tidy clean
.PHONY: need-build need-all

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install all that building and testing needs (Debian 12, root or sudo)
	@scripts/setup.sh

# These two look at the tools themselves, which takes less than a second, and install only what lacks.
need-build:
	@scripts/setup.sh --check build || scripts/setup.sh build

need-all:
	@scripts/setup.sh --check || scripts/setup.sh

demo: need-build ## relay a few hundred envelopes through an embedded broker and show the result
	@mkdir -p build/logs
	@{ cmake --preset release && cmake --build --preset release; } >build/logs/demo-build.log 2>&1 \
	    || { tail -n 40 build/logs/demo-build.log; exit 1; }
	@build/release/bridge/cli/agent-bridge demo

test: need-all ## build and run all tests: dev, AddressSanitizer and ThreadSanitizer presets
	@$(PYTHON) scripts/test.py $(PRESETS)

broker: need-all ## start an Apache Kafka on loopback for tests by hand
	@tests/broker/kafka start

broker-stop: ## stop that Kafka
	@tests/broker/kafka stop

differential: need-all ## compare COUNT inputs and COUNT JSON texts from SEED with the reference runtime
	@cmake --preset dev >/dev/null && cmake --build --preset dev --target agent-bridge
	@AGENT_BRIDGE=build/dev/bridge/cli/agent-bridge $(PYTHON) scripts/differential.py $(SEED) $(COUNT)
	@AGENT_BRIDGE=build/dev/bridge/cli/agent-bridge $(PYTHON) scripts/differential_json.py $(SEED) $(COUNT)

bench-codec: need-all ## the codec beside protobuf-c, the C++ runtime and memcpy; build/bench/codec.json
	@cmake --preset bench >/dev/null && cmake --build --preset bench --target codec_bench >/dev/null
	@build/bench/bench/codec/codec_bench build/bench/codec.json

bench-tea: need-all ## tea-protocol beside jansson's load and dump; build/bench/tea.json
	@cmake --preset bench >/dev/null && cmake --build --preset bench --target tea_bench >/dev/null
	@build/bench/bench/tea/tea_bench build/bench/tea.json

fuzz: need-all ## run each fuzz target for SECONDS_EACH
	@cmake --preset fuzz >/dev/null && cmake --build --preset fuzz --target fuzz/all >/dev/null
	@$(PYTHON) scripts/fuzz.py build/fuzz $(SECONDS_EACH)

coverage: need-all ## lines and branches of codec/ that its tests reach
	@cmake --preset coverage >/dev/null && cmake --build --preset coverage --target tests/unit/codec/all >/dev/null
	@$(PYTHON) scripts/coverage.py build/coverage

bench-state: need-all ## stores and answers to export requests, alone and on a Kafka of its own; build/bench/state.json
	@cmake --preset bench >/dev/null && cmake --build --preset bench --target state_bench agent-bridge >/dev/null
	@AGENT_BRIDGE=build/bench/bridge/cli/agent-bridge $(PYTHON) bench/state.py $(BENCH)

bench-relay: need-all ## measure a relay on a Kafka of its own, with poison and with a scraper (about 4 minutes)
	@cmake --preset release >/dev/null && cmake --build --preset release --target agent-bridge
	@$(PYTHON) bench/relay.py $(BENCH)

chaos: need-all ## kill, freeze and cut off bridges and brokers for MINUTES, from SEED, and check every record
	@cmake --preset dev >/dev/null && cmake --build --preset dev --target agent-bridge aw_hostname_shim
	@cd build/dev && AGENT_BRIDGE=$$PWD/bridge/cli/agent-bridge AW_BROKER_DIR=$$PWD/broker \
	    AW_HOSTNAME_SHIM=$$PWD/tests/broker/libaw_hostname_shim.so \
	    ../../$(PYTHON) ../../tests/broker/chaos_test.py --minutes $(MINUTES) --seed $(SEED)

tour: ## play a first half hour with docker-compose, check it, and write docs/tour.md (needs only Docker)
	@deploy/tour/tour.py --down $(DOWN) --base-image-script $(BASE_IMAGE_SCRIPT) --page docs/tour.md

format: need-all ## format the sources in place with clang-format
	@git ls-files '*.c' '*.h' | grep -v '^codec/message/gen/' | xargs clang-format -i

tidy: need-all ## clang-tidy, gcc -fanalyzer and cppcheck over every source
	@scripts/tidy.sh

clean: ## remove what was built; Kafka and promtool stay
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name kafka ! -name promtool -exec rm -rf {} +; fi
