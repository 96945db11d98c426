# make test   installs what the tests need (Chromium, where apt-get and root are there) and runs all of them
# make bench  runs the benchmarks
# make check  runs every check, as CI does

export GOTOOLCHAIN = local
.PHONY: test bench check build

test:
	@mkdir -p .perfplan; chromium=yes; .ci/chromium || chromium=no; \
	go tool -modfile=.ci/tools.mod gotest.tools/gotestsum --format pkgname --hide-summary skipped --jsonfile .perfplan/test.json -- -race -shuffle=on -timeout 10m ./... || exit 1; \
	if [ $$chromium = no ]; then echo "page tests skipped: no Chromium"; fi

bench:
	go test -run '^$$' -bench . -benchmem ./...

build:
	go build -o .perfplan/bin/perfplan ./cmd/perfplan

check:
	bash .ci/run
