.DEFAULT_GOAL := help
.PHONY: help build demo demo-support demo-models demo-judge demo-spade demo-mutate demo-gate demo-monitor demo-embed demo-panel demo-playground demos test test-slow test-postgres race lint fmt tidy vet-all generate check-generated web check-web browser bench-web notices simulate bench image dist fuzz nightly clean pictures

export CGO_ENABLED := 0
# One form of every package for builds, tests and releases, wherever the checkout is:
# otherwise each is compiled twice.
export GOFLAGS := $(GOFLAGS) -trimpath
VERSION    ?= $(shell git describe --tags --always 2>/dev/null || echo devel)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME   ?= 1
NIGHTLY_FUZZTIME ?= 120
LDFLAGS    := -s -w -X main.version=$(VERSION)

help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build ./proviso
	go build -ldflags '$(LDFLAGS)' -o proviso ./cmd/proviso

demo: build ## a first look: a broken promise, where, why, and what to do next (no key, no network)
	@./examples/demo.sh

demo-support: build ## two versions of a prompt, many kinds of assertion
	./examples/broken.sh -c examples/support/proviso.yaml -o dist/demo.json

demo-models: build ## two models, whose recorded exchanges are replayed
	./examples/broken.sh -c examples/library/proviso.yaml --replay examples/library/tape -o dist/demo.html

demo-judge: build ## a judge model grades what an agent answered
	./examples/broken.sh -c examples/agent/proviso.yaml --replay examples/agent/tape -o dist/demo.batch.json

demo-spade: build ## from the history of a prompt to a suite
	./examples/spade/demo.sh

demo-mutate: build ## good answers are broken on purpose: what would the assertions miss?
	./proviso mutate -c examples/mutate/proviso.yaml

demo-gate: build ## a change of a prompt in a pull request: may it merge?
	./examples/gate/demo.sh

demo-monitor: build ## a recorded day of an agent whose model was replaced: since when, and what else changed
	./examples/monitor/demo.sh

demo-embed: ## a Go program of another module that uses proviso as a library
	cd examples/embed && go vet . && go test . && go run .

demo-panel: build ## verdicts beside an agent's answer, in pages of somebody else (needs Node and npm)
	[ -d web/node_modules/react ] || (cd web && npm ci --ignore-scripts --no-audit --no-fund)
	node examples/panel/demo.mjs

demo-playground: build ## change a prompt or an assertion, and see the verdicts, in the browser (no key, no network)
	go run ./examples/playground

demos: demo demo-support demo-models demo-judge demo-spade demo-mutate demo-gate demo-monitor demo-embed ## every demo that ends by itself

# The packages whose tests take longest start first: by name, most would come last and leave
# processors idle. One package more than processors uses the time in which tests wait.
LONGEST    := ./cmd/proviso ./sandbox ./server ./report ./attacks ./store/sqlite
TEST_PROCS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

# The program is linked once, not in every package that runs it. Its copy changes only when
# the program does, so that results stay cached. `make lint` has all of go vet.
test: build ## run the tests; make test-slow, test-postgres and browser have those that take longer or need more
	@mkdir -p dist/test && { cmp -s proviso dist/test/proviso || cp proviso dist/test/proviso; }
	PROVISO_TEST_PROGRAM='$(CURDIR)/dist/test/proviso' go test -vet=off -p $(TEST_PROCS) $(LONGEST) ./...

# What make test has of it:
#   attacks on the sandbox   in namespaces, as the user that runs it; here without namespaces
#                            too, and as an ordinary user
#   calls of the sandbox     3,000; here 10,000
#   a release                nothing; here twice, with the same bytes
#   the page of a large run  nothing; here of 30 MB of results
#   streams of the proxy     300; here 1,000
#   limits that vendors tell some numbers of workers for each vendor; here all
#   simulations              those of less than a second; here false alarms of charts, and
#                            the coverage of the interval of a changed agreement
test-slow: build ## run what make test leaves out, as it takes long
	PROVISO_TEST_SLOW=1 go test -vet=off ./sandbox -run 'Test((Node|Ruby)?Attacks(AsNobody)?|Soak)$$'
	PROVISO_TEST_SLOW=1 go test -vet=off ./internal/release -run TestReproducible
	PROVISO_TEST_SLOW=1 go test -vet=off ./report -run TestHTMLIsBounded
	PROVISO_TEST_SLOW=1 go test -vet=off ./proxy -run TestThousandStreams
	PROVISO_TEST_SLOW=1 go test -vet=off ./provider -run '^Test(Reported|WholeMinutes|WrongReports)$$'
	PROVISO_TEST_SLOW=1 go test -vet=off ./monitor -run TestFalseAlarms
	PROVISO_TEST_SLOW=1 go test -vet=off ./stats -run TestCoverageOfAgreementChange

test-postgres: ## run the tests with PostgreSQL, and those of the server on it (needs its programs; .ci/postgres installs them)
	PROVISO_TEST_POSTGRES=1 go test ./store/postgres
	PROVISO_TEST_POSTGRES=1 go test ./cmd/proviso -run 'Store|Readers|Rights|Worker|TestOn|Backup|Copy|Labels'
	PROVISO_TEST_POSTGRES=1 PROVISO_TEST_STORE=postgres go test -short ./server

race: ## run the tests of what is concurrent under the race detector
	CGO_ENABLED=1 go test -race -short ./run ./check ./provider ./judge ./judge/attack ./server ./internal/runfile ./internal/blobs ./internal/fakemodel ./internal/transport ./internal/watch ./otlp ./spade ./spade/label ./spade/matrix ./spade/propose ./spade/subsume ./store/files ./store/sqldb ./engine
	CGO_ENABLED=1 go test -race -run 'Concurrent|Cancel' ./internal/script
	CGO_ENABLED=1 go test -race -short -run 'Ask|Cancel|Close|Many|Globals|Values|Frame' ./sandbox

lint: ## gofmt, go vet and staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...

vet-all: ## go vet for every system that is shipped (make lint does this one)
	@for p in linux/arm64 darwin/arm64 windows/amd64; do echo "vet $$p"; GOOS=$${p%/*} GOARCH=$${p#*/} go vet ./... || exit 1; done

fmt: ## format the sources
	gofmt -w $$(git ls-files '*.go')

tidy: ## fail if go.mod or go.sum would change
	go mod tidy -diff
	cd examples/embed && go mod tidy -diff

generate: ## make the bundles, tables and notices anew (needs Node, npm and their registry)
	./internal/generate/generate.sh
	go run ./internal/generate
	go test . -run TestPackagesOfArchitecture -update

check-generated: ## fail if a generated file is not what its inputs give
	go run ./internal/generate -check

web: ## bundle the front end into web/dist (needs Node, npm and their registry)
	cd web && npm ci --ignore-scripts --no-audit --no-fund && npm run -s check && npm run -s build

check-web: web ## fail if web/dist is not what its sources give, and run the tests of its parts
	git diff --exit-code web/dist internal/generate/licenses/preact.txt
	cd web && npm test --silent

browser: build ## try the pages and the report in Chromium: the smoke set (needs Node, npm and Chromium, and installs what is missing)
	.ci/browser install
	.ci/browser smoke
	PROVISO_TEST_BROWSER=1 go test -vet=off ./report -run 'Browser|Looks'

bench-web: build ## how long pages take in Chromium, beside promptfoo's figures
	.ci/browser install
	.ci/browser bench
pictures: build ## make the pictures of docs/app.md anew, from the shipped examples (needs what make browser needs)
	.ci/browser install
	node web/test/pictures.mjs

simulate: ## how often the gate and the monitor are right, by simulation: writes docs/gate-simulations.md and docs/monitor-simulations.md in some minutes each
	go test ./gate -run TestSimulations -timeout 60m -simulate
	go test ./monitor -run 'TestSimulations$$' -timeout 60m -simulate

bench: ## benchmarks, and the workloads beside promptfoo's figures
	go run ./bench

image: ## make the container image proviso: from scratch, static, not root (needs Docker, podman or buildah)
	$$(command -v docker || command -v podman || command -v buildah) build --build-arg VERSION='$(VERSION)' -t proviso .

dist: ## make a release: binaries of every platform, their parts, formula, npm packages, checksums, signature
	go run ./internal/release -version '$(VERSION)' -time "$$(git log -1 --format=%cI 2>/dev/null || echo 1970-01-01T00:00:00Z)"

fuzz: ## run every fuzz target for FUZZTIME seconds each (1), without guidance; make test runs their seeds and found inputs
	.ci/fuzz $(FUZZTIME)

nightly: build ## what takes too long for every change: time per byte of all readers, coverage of intervals, minutes of fuzzing, all tests under the race detector, benchmarks, all browser tests
	PROVISO_NIGHTLY=1 go test -count=1 -run TestReadersAreLinear ./attacks
	PROVISO_NIGHTLY=1 go test -count=1 -run TestCoverage ./stats
	PROVISO_NIGHTLY=1 PROVISO_TEST_POSTGRES=1 go test -count=1 -v -run 'TestManyWorkers|TestSharedLimit|TestOnMemory|TestOnManyWorkers|TestPointInTime' ./cmd/proviso
	PROVISO_NIGHTLY=1 PROVISO_TEST_POSTGRES=1 go test -count=1 -v -timeout 20m -run TestCrashes ./store/postgres
	PROVISO_TEST_POSTGRES=1 PROVISO_TEST_STORE=postgres go test -count=1 ./server
	CGO_ENABLED=1 go test -race -timeout 60m ./...
	.ci/fuzz $(NIGHTLY_FUZZTIME) guided
	go run ./bench
	.ci/browser install
	.ci/browser all
	.ci/browser bench

clean: ## remove what was built
	rm -rf proviso dist
