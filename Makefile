# varq: probabilistic advance reservations for Slurm.
#
#   make demo        a private Slurm on this machine, three reservations and a refusal, a report
#   make test        before each commit: lint, unit, race and end-to-end tests, known vulnerabilities
#   make test-all    before a release: all of that and every kill, packages, campaigns, all Slurms
#   make quick       what of it needs neither a Slurm nor the race detector

VERSION := 0.1.0
GO      ?= go

# Where make build leaves what make install takes.
BUILT ?= bin

# The directories an installation goes to; see packaging/install.mk.
DESTDIR ?=
PREFIX  ?= /usr

LINT := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
VULNCHECK := $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.8.0
GOTESTSUM := $(GO) run gotest.tools/gotestsum@v1.13.0
BENCHSTAT := $(GO) run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
# SQLite is C that was translated to Go. The race detector leaves it out, as it does C: with it, tests of the
# ledger take fifteen times as long.
RACE := -race -gcflags=modernc.org/sqlite/lib=-race=false
LDFLAGS := -s -w -X github.com/varq-project/varq/predictor/api.Version=$(VERSION)
COMMANDS := predictor/cmd/varq predictor/cmd/varq-alone predictor/cmd/varq-lab predictor/cmd/varqd predictor/cmd/varq-agent plugin/cmd/varq-filter wrapper/cmd/varq-wrapper test/cluster/cmd/slurmlab

.PHONY: all build commands plugin deps demo test checks test-all race-all sites quick unit race e2e test-slurm24 test-slurm26 chaos bigsite mixed bench bench-baseline measurements fuzz lint vulncheck generate check-generate clean

all: build

build: commands plugin

commands:
	@mkdir -p $(BUILT)
	$(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o $(BUILT)/ $(addprefix ./,$(COMMANDS))
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o $(BUILT)/ ./predictor/cmd/varq-alone

plugin: deps
	$(MAKE) -C plugin/spank OUT=$(abspath $(BUILT))

# Debian's Slurm, its headers and what a private cluster needs, when missing.
deps:
	@$(GO) run ./test/cluster/cmd/slurmlab install

demo: build
	$(GO) run ./test/demo

# Some twelve minutes on two cores, as the end-to-end tests, which mostly wait, run beside all else.
test: build check-generate
	$(MAKE) --no-print-directory --jobs=2 checks e2e

checks:
	$(MAKE) --no-print-directory lint
	$(MAKE) --no-print-directory vulncheck
	$(MAKE) --no-print-directory unit
	$(MAKE) --no-print-directory race

# What make test runs, and all that it leaves out: see test/thorough. What fails does not keep the
# rest from running.
test-all: export VARQ_TEST_ALL := 1
test-all: build
	$(MAKE) -k --no-print-directory lint check-generate vulncheck race-all sites test-slurm24 test-slurm26
race-all:
	$(GO) test $(RACE) $(UNIT) $$($(GO) list ./... | grep -v -E '/test/(e2e|chaos|bigsite|mixed)$$')
sites: build
	$(GO) test -count=1 -p 2 -timeout 2h -v ./test/e2e ./test/chaos ./test/bigsite ./test/mixed

# Tests that start a Slurm or a browser, or make packages, skip themselves with -short, and no others do.
quick: build lint
	$(GO) test -short ./...

# One package more at a time than there are processors, because tests of a Slurm mostly wait. make lint
# has vetted them. What the tests of a site try is built and installed, of which go's cache of results
# knows nothing; they have make e2e.
UNIT := -vet=off -p $$(($$(nproc) + 1)) -timeout 1h
unit:
	$(GO) test $(UNIT) $$($(GO) list ./... | grep -v /test/e2e)

# The packages whose goroutines share state, with the race detector: what needs no Slurm. Numbers, which
# the detector makes five to ten times as slow, and scenes of one goroutine have it in make test-all.
RACY    := $(addprefix ./predictor/,$(addprefix live/,extern health history keeper outlook vitals) varqd/... slurm/slurmrestd) ./plugin/filter ./wrapper/prompt
NUMBERS := gonum.org/v1/gonum $(addprefix github.com/varq-project/varq/predictor/,cluster forecast promise)
race:
	$(GO) test $(RACE) $(NUMBERS:%=-gcflags=%/...=-race=false) $(UNIT) -short -skip '^TestScenarios$$' $(RACY)

# What failed, and why, is said once more at the end, after the daemons' logs.
e2e: build
	$(GOTESTSUM) --format=standard-verbose --hide-summary=skipped -- -count=1 -timeout 1h ./test/e2e

# The same end-to-end tests on later Slurms, from Debian 13 and Debian forky in a chroot.
test-slurm24: SLURM := 24.11
test-slurm26: SLURM := 26.05
test-slurm24 test-slurm26: build
	VARQ_TEST_ALL=1 VARQ_SLURM=$(SLURM) $(GO) test -timeout 2h -v -count=1 ./test/e2e ./plugin/plugintest ./predictor/varqd/daemon ./predictor/live/keeper ./predictor/slurm/slurmrestd ./predictor/varqd/alone

# Users, faults and a checker at random: see CONTRIBUTING.md. Without a SEED each campaign is
# another one. CHAOS takes further options of test/chaos/cmd/chaos.
DURATION ?= 1h
SEED     ?= 0
chaos: build
	$(GO) run ./test/chaos/cmd/chaos -duration $(DURATION) -seed $(SEED) $(CHAOS)

# A big site's load with varq and without: an hour or so on two cores. BIGSITE takes options of
# test/bigsite/cmd/bigsite, for another size.
bigsite: build
	$(GO) run ./test/bigsite/cmd/bigsite $(BIGSITE)

# Promises to all kinds of jobs on nodes that differ: some 75 minutes. MIXED takes options of
# test/mixed/cmd/mixed.
mixed: build
	$(GO) run ./test/mixed/cmd/mixed $(MIXED)

# How fast everything is, beside what test/bench/baseline.txt says it was. Some 25 minutes on
# two cores.
bench: measurements
	$(BENCHSTAT) baseline=test/bench/baseline.txt now=build/bench.txt

# What is measured now is the baseline from now on.
bench-baseline: measurements
	grep -E '^(goos|goarch|pkg|cpu|Benchmark)' build/bench.txt > test/bench/baseline.txt

BENCHFLAGS ?= -benchtime 50ms -count 4
measurements: build
	@mkdir -p build
	$(GO) test -run '^$$' -bench . -benchmem $(BENCHFLAGS) -timeout 1h ./predictor/... > build/bench.txt || { cat build/bench.txt; exit 1; }
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 1h ./test/bench >> build/bench.txt || { cat build/bench.txt; exit 1; }

FUZZTIME ?= 20s
fuzz:
	@set -e; for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p; \
	  done; \
	done

lint:
	$(LINT) run ./...

# Known vulnerabilities in what varq calls. Where nobody can be asked, nothing fails.
vulncheck:
	@found=$$($(VULNCHECK) ./... 2>&1) || case $$found in \
	  *'govulncheck: fetching vulnerabilities:'*) echo 'vulncheck: skipped, the database of vulnerabilities cannot be reached' ;; \
	  *) echo "$$found"; exit 1 ;; \
	esac

generate:
	$(GO) generate ./...

# Generated files are checked in; generating them again must change nothing.
check-generate: generate
	@git diff --exit-code --stat -- $$(git grep -l 'Code generated .* DO NOT EDIT' || true) \
	  || { echo 'generated files are stale: run make generate and commit'; exit 1; }

clean:
	rm -rf bin build
	$(MAKE) -C plugin/spank clean

include packaging/install.mk
include packaging/packages.mk
