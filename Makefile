# The two commands of the README are `make demo` and `make test`; they need
# only Go, Git and make. `make check` is what CI runs on top: it installs its
# own pinned tools and needs a C compiler for the race detector.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Times of the fuzz targets: short in CI, long by hand.
FUZZTIME ?= 5s
# How long the campaigns of `make soak` take together.
SOAKTIME ?= 20m
# How long random stories run, on each forge and in memory.
MODELTIME ?= 30s
# How often the service is killed on each database.
KILLS     ?= 100
# Which files `make mutants` changes; empty: all of its table.
FILES     ?=
# Packages to test, for instance `make test PACKAGES=./internal/image`.
PACKAGES ?= ./...

# Tests that run git, PostgreSQL, and promoter itself wait for them, so more tests than
# processors run at once. Without GOGC, a fifth of the time goes into collecting garbage.
PROCESSORS := $(shell getconf _NPROCESSORS_ONLN)
TESTFLAGS  ?= -p $(shell expr $(PROCESSORS) + 1) -parallel $(shell expr $(PROCESSORS) '*' 2)
test race forges: export GOGC ?= 400
# The name of a release. Empty: a build says which commit it was made from.
VERSION  ?=
# The image to build upon, for instance gcr.io/distroless/static-debian12:nonroot, of
# which a registry is asked. Empty: one that is made here (hack/image/base.go).
BASE     ?=

# What is released is built by the Go that go.mod names, also where GOTOOLCHAIN is local: its fixes are
# a part of the program.
release release-snapshot image image-check vulnerabilities: export GOTOOLCHAIN := $(shell sed -n 's/^toolchain //p' go.mod)

# Downloads the modules of some packages and prints nothing, not even what fails: the
# command after it reports that.
modules = @CGO_ENABLED=0 go list -deps -test $(1) >/dev/null 2>&1 || true

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' Makefile

.PHONY: build
build: ## Build bin/promoter, one static binary.
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X promoter/internal/cli.released=$(VERSION)" -o bin/promoter ./cmd/promoter

.PHONY: image
image: ## Build the container image into bin/image, an OCI layout, without Docker.
	@ko=$$(hack/tools ko); CGO_ENABLED=0 go run ./hack/image build -ko "$$ko" -base "$(BASE)" -version "$(VERSION)"

.PHONY: image-check
image-check: image ## Build it, and run its program as a pod would.
	@hack/image/check bin/image "$(VERSION)"

# The address of the files of a release, and the key of cosign; empty: keyless.
URL      ?=
KEY      ?=

.PHONY: release
release: ## Build all files of a release into bin/release: VERSION (empty: from the tag), URL.
	@CGO_ENABLED=0 go run ./hack/release build -version "$(VERSION)" -url "$(URL)"

.PHONY: release-sign
release-sign: ## Sign them with KEY (empty: keyless).
	@CGO_ENABLED=0 go run ./hack/release sign -key "$(KEY)"

.PHONY: release-push
release-push: ## Push image and chart to REGISTRY, and sign them with KEY (empty: keyless).
	@CGO_ENABLED=0 go run ./hack/release push -to "$(REGISTRY)" -key "$(KEY)"

.PHONY: release-snapshot
release-snapshot: ## Build a release of this commit, and install and run all of it.
	@hack/release/check

.PHONY: demo
demo: ## Show the whole story of a promotion on embedded parts, in half a minute.
	@echo 'Promotes images from dev to prod, and rolls one back, on this machine: half a minute.'
	@echo 'The first time, it downloads modules and compiles, for some minutes, and prints nothing else.'
	$(call modules,./cmd/promoter)
	@CGO_ENABLED=0 go run ./cmd/promoter demo --once

.PHONY: demo-github
demo-github: ## The same with pull requests, on an emulator of GitHub; needs npm.
	@hack/demo-github/run --once

.PHONY: screenshots
screenshots: ## Make the images of the docs again, with Chromium.
	@folder=$$(mktemp -d) && trap 'rm -r "$$folder"' EXIT && \
	CGO_ENABLED=0 go test ./internal/web -run '^TestBrowser_pages$$' -count 1 -args -screenshots "$$folder" && \
	for page in overview application; do cp "$$folder/$$page-light.png" "docs/images/$$page.png"; done

.PHONY: test
test: ## Run all tests without cgo; the acceptance stories on one forge.
	@echo 'Tests $(PACKAGES), and prints each package when it has passed: all take about 20 minutes on two cores.'
	@echo 'The first time, it downloads modules and compiles, for some minutes.'
	$(call modules,$(PACKAGES))
	@CGO_ENABLED=0 go test -timeout 30m $(TESTFLAGS) $(PACKAGES)

.PHONY: check
check: layers format lint race forges generated docs chart workflows vulnerabilities helm-client image-check ## Everything a change must pass.

.PHONY: layers
layers: ## Every package imports only packages of lower layers.
	CGO_ENABLED=0 go test ./internal/layers

.PHONY: format
format: ## Fail when a file is not formatted (gofumpt, goimports).
	@tool=$$(hack/tools golangci-lint); $$tool fmt --diff ./... || { echo 'run `make fmt`' >&2; exit 1; }

.PHONY: fmt
fmt: ## Format all files.
	@tool=$$(hack/tools golangci-lint); $$tool fmt ./...

.PHONY: vet
vet: ## Run go vet, which is a part of lint.
	CGO_ENABLED=0 go vet ./...

.PHONY: lint
lint: ## Run the pinned linters of .golangci.yaml, and find statements that say several things.
	@tool=$$(hack/tools golangci-lint); CGO_ENABLED=0 $$tool run ./...
	@CGO_ENABLED=0 go run ./hack/structure -check

# SQLite, translated from C, and the cipher of SSH keys are not instrumented: they took most
# of the time, and this project shares no data through them. Tests that give one goroutine
# a large amount of data, or little memory, run without the detector only, and so do the tables of
# who may do what and the stories of each forge: one thing after another, by the code of the other tests.
RACEFLAGS := -race -gcflags='modernc.org/...=-race=false -d=checkptr=0' \
	-gcflags='golang.org/x/crypto/blowfish=-race=false' \
	-skip '^TestCorpus_|_hostile|_randomEdits|Trailers_random|^TestHear_bounds|^TestWords_|^TestPool_rendersWhatExceeds|^TestPool_rendersWithTheLeast|^TestEntrances_|^TestRun_.*_(github|gitlab|gitea|plain)$$'

.PHONY: race
race: ## Run the tests with the race detector; list all skipped tests.
	CGO_ENABLED=1 go test $(RACEFLAGS) -timeout 60m $(TESTFLAGS) -json $(PACKAGES) | go run ./hack/testlog $(TESTLOG)

.PHONY: forges
forges: ## Run the acceptance tests on every forge.
	CGO_ENABLED=0 PROMOTER_FORGES=all go test -timeout 30m $(TESTFLAGS) ./internal/app

.PHONY: generated
generated: ## Fail when a generated file is not current.
	@hack/generated

.PHONY: docs
docs: ## Check the links, anchors, and commands of the documents.
	CGO_ENABLED=0 go test ./internal/docscheck

.PHONY: chart
chart: ## Validate the Helm chart with helm and with the schemas of Kubernetes.
	@hack/chart

.PHONY: workflows
workflows: ## Check the workflows of config/ci with actionlint.
	@tool=$$(hack/tools actionlint); $$tool -shellcheck= -pyflakes= config/ci/github/*.yaml

.PHONY: vulnerabilities
vulnerabilities: ## Fail if the program contains a known vulnerability, by symbol.
	@scanner=$$(hack/tools govulncheck); database=$$(hack/tools vulndb); \
	folder=$$(mktemp -d) && trap 'rm -r "$$folder"' EXIT && \
	CGO_ENABLED=0 go build -trimpath -o "$$folder/promoter" ./cmd/promoter && \
	CGO_ENABLED=0 go run ./hack/vulnerabilities -govulncheck "$$scanner" -db "$$database" "$$folder/promoter"

.PHONY: helm-client
helm-client: ## Test rendering with the client of Kubernetes that the program leaves out.
	@folder=$$(mktemp -d) && trap 'rm -r "$$folder"' EXIT && \
	sed '/_cluster/d' go.mod >"$$folder/go.mod" && \
	cat go.sum internal/rendered/_cluster/modules.sum >"$$folder/go.sum" && \
	CGO_ENABLED=0 go test -mod=mod -modfile="$$folder/go.mod" ./internal/rendered

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (5s).
	@hack/fuzz $(FUZZTIME)

.PHONY: model
model: ## Run random stories for MODELTIME (30s), in memory, on each forge and database.
	CGO_ENABLED=0 PROMOTER_FORGES=all PROMOTER_MODEL_TIME=$(MODELTIME) go test -count=1 -timeout 0 -parallel 4 -run '^TestModel' -v ./internal/reconcile ./internal/app ./internal/queue

.PHONY: kill
kill: ## Kill the service at random moments, KILLS (100) times on each database.
	CGO_ENABLED=0 PROMOTER_KILLS=$(KILLS) go test -count=1 -timeout 0 -run '^TestServe_killedAtAnyMoment$$' -v ./internal/app

.PHONY: faults
faults: ## Let what the service depends on fail, and measure how soon it recovers.
	@CGO_ENABLED=0 go test ./hack/faults -run '^$$' -bench . -benchtime 1x -timeout 20m

.PHONY: mutants
mutants: ## Fail if no test notices a mutant of the code that keeps decisions (FILES: a regexp).
	@CGO_ENABLED=0 go run ./hack/mutants -files '$(FILES)'

.PHONY: soak
soak: ## Run attacks, faults, load, mutants, and kills for SOAKTIME (20m), and print one table.
	@CGO_ENABLED=0 go run ./hack/bench -for $(SOAKTIME) soak

.PHONY: soak-short
soak-short: ## Run attacks, a third of the faults, and a few kills.
	@CGO_ENABLED=0 go run ./hack/bench -for 0 soak

.PHONY: bench
bench: ## Measure, and print each figure next to its limit.
	@CGO_ENABLED=0 go run ./hack/bench

.PHONY: attack
attack: ## Attack promoter, and print a table by kind and the figures of the service.
	@CGO_ENABLED=0 go run ./hack/attack/kinds
	@CGO_ENABLED=0 go test ./hack/attack -run '^$$' -bench . -benchtime 1x -timeout 20m

.PHONY: load
load: ## Load the service for some minutes, and print its figures.
	@CGO_ENABLED=0 go run ./hack/bench load

# How many repositories the fleet has, with 10 images each.
REPOSITORIES ?= 10000

.PHONY: fleet
fleet: ## Let three replicas follow 10,000 repositories (REPOSITORIES), and print the figures.
	@CGO_ENABLED=0 go run ./hack/bench -repositories $(REPOSITORIES) fleet

.PHONY: tools
tools: ## Install the pinned tools into the cache.
	@hack/tools --all

.PHONY: clean
clean: ## Remove what the other targets built.
	rm -rf bin
