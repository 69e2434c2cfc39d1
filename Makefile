# Every target runs from a clean clone with Go alone.
GO      ?= go
PROFILE  = cmd/hpcbill/month.pgo
BUILD    = CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -pgo $(PROFILE) -o bin/hpcbill ./cmd/hpcbill
SITE    ?= demo-site
FUZZ    ?= 20000x
BENCH   ?= .
COUNT   ?= 1

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.9.0
VULNDB      = golang.org/x/vulndb@v0.0.0-20261105234957-e22db6528018

.PHONY: demo build test race lint vuln fuzz bench profile golden same-bytes duckdb slurm clean

# A whole month of three clusters, from dumps to issued invoices.
demo: build
	bin/hpcbill demo $(SITE)

build:
	$(BUILD)

test:
	$(GO) test ./...

race:
	CGO_ENABLED=1 $(GO) test -race -timeout 20m ./...

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

# Known vulnerabilities of the modules in the binary, by the database of a
# fixed day, which is itself a module: nothing is asked of a live server. Those
# of the Go standard library are shown; a newer Go mends them.
vuln:
	@rm -rf bin/vulndb && mkdir -p bin/vulndb
	$(GO) run $(subst golang.org/x/vulndb@,golang.org/x/vulndb/cmd/indexdb@,$(VULNDB)) -out bin/vulndb \
	  -vulns "$$($(GO) mod download -json $(VULNDB) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')/data/osv"
	@$(GO) run $(GOVULNCHECK) -db "file://$(CURDIR)/bin/vulndb" ./... > bin/vuln.txt; \
	grep -E '^Vulnerability|^  (Module|Standard)|Found in|Fixed in|^Your code' bin/vuln.txt; \
	! grep -q '^  Module: ' bin/vuln.txt

# Each fuzz target for so many inputs; long campaigns are run by hand with
# FUZZ=10m. A count, since at the end of a time before Go 1.27 a target may fail
# by "context deadline exceeded" though nothing was found (golang/go#75804).
fuzz:
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "fuzz $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZ) $$p || exit 1; \
	  done; done

# BENCH picks benchmarks, COUNT repeats them for benchstat, DUMP is a dump of
# your own for BenchmarkDump, which is an ingest from end to end.
bench:
	HPCBILL_BENCH_DUMP="$(DUMP)" $(GO) test -run '^$$' -bench '$(BENCH)' -count $(COUNT) -benchmem ./cmd/... ./ingest/... ./rating/... ./rates/...

# Makes the profile anew by which the compiler decides what to inline, from a
# month that is generated: worth it where much has changed in what is done for
# each job.
profile:
	@mkdir -p bin
	$(GO) test -run '^$$' -bench '^BenchmarkMonth$$' -benchtime 12x -cpuprofile bin/month.prof -o bin/month.test ./cmd/hpcbill
	$(GO) tool pprof -proto bin/month.test bin/month.prof > $(PROFILE)

# Rewrites the golden files: read the difference before committing it.
golden:
	$(GO) test ./invoice/... ./cmd/... -update

# Two demos in two directories have the same bytes, whatever the time zone and
# the language of the machine.
same-bytes: build
	rm -rf bin/demo-a bin/demo-b
	TZ=UTC LANG=C bin/hpcbill demo bin/demo-a >/dev/null 2>&1
	TZ=Asia/Tokyo LANG=de_DE.UTF-8 bin/hpcbill demo bin/demo-b >/dev/null 2>&1
	diff -r bin/demo-a bin/demo-b
	@echo "two demos, the same bytes"

# The dataset is read back by DuckDB, and its sums are compared with the
# program's own. Needs node and npm.
duckdb: build
	testdata/duckdb/run bin/hpcbill

# A real Slurm is started, and what sacct prints of jobs of every kind is
# compared with what is ingested. Needs root, node, npm and ../shared/slurm-lab
# (external), without which it says so.
slurm: build
	testdata/slurm/run bin/hpcbill

clean:
	rm -rf bin demo-site
