# make test   installs what the tests need (Chromium, where apt-get and root are there) and runs all of them
# make bench  runs the benchmarks
# make bench-engine  compares the load engine with the tools on PATH (wrk2, vegeta, hey, k6, h2load, fortio, oha), ROUNDS times, and judges it by its bars; docs/performance.md has the variables
# make bench-micro  checks microbenchmarks against subjects whose truth is known
# make simulate  says what the gates are worth on streams whose truth is known
# make check  runs every check, as CI does
# make accuracy  checks the load engine against servers whose truth is known; ARGS='--peers' runs other tools beside it

export GOTOOLCHAIN = local
.PHONY: test bench bench-engine bench-micro simulate check build accuracy

test:
	@mkdir -p .perfplan; chromium=yes; .ci/chromium || chromium=no; \
	go tool -modfile=.ci/tools.mod gotest.tools/gotestsum --format pkgname --hide-summary skipped --jsonfile .perfplan/test.json -- -race -shuffle=on -timeout 10m ./... || exit 1; \
	if [ $$chromium = no ]; then echo "page tests skipped: no Chromium"; fi

bench:
	go test -run '^$$' -bench . -benchmem ./...

ROUNDS ?= 5
bench-engine:
	BENCH_ENGINE=$(ROUNDS) go test -run '^TestBenchEngine$$' -v -count 1 -timeout 3h ./runner/load

# What microbenchmarks find of subjects whose truth is known: growth, warm-up, and comparisons, N times.
N ?= 20
bench-micro:
	BENCH_MICRO=$(N) go test -run '^TestTruth' -v -count 1 -timeout 2h ./runner/bench

# What the gates are worth on streams whose truth is known.
simulate:
	SIMULATE_GATES=1 go test -run '^TestSimulateGates$$' -v -count 1 -timeout 1h ./runner/verdict

build:
	go build -o .perfplan/bin/perfplan ./cmd/perfplan

# Not "go run": it would hide the exit code.
accuracy:
	@go build -o .perfplan/bin/accuracy ./runner/load/accuracy && .perfplan/bin/accuracy $(ARGS)

check:
	bash .ci/run
