package main

// group is code whose mutants the same tests must notice.
type group struct {
	files     []string // paths from the root; * stands for a part of a name
	functions string   // a regular expression of the names; empty: all of them
	tests     []tests  // the fastest ones first
}

// tests are what `go test` runs.
type tests struct {
	packages []string
	run      string // a regular expression of the names; empty: all of them
}

// groups is the code that marks what an incremental reconciliation may reuse, and what an event
// touches. A mistake there shows only as a decision that is made too late.
func groups() []group {
	cache := tests{[]string{"./internal/reconcile/cache"}, ""}
	inputs := tests{[]string{"./internal/promotion/input"}, ""}
	decisions := tests{[]string{"./internal/promotion/decide", "./internal/promotion/propose"}, ""}
	memories := tests{[]string{"./internal/workspace"}, "Decisions|Freshness"}
	incremental := tests{[]string{"./internal/reconcile"}, "ncremental"}
	phases := tests{[]string{"./internal/reconcile"}, ""}
	service := tests{[]string{"./internal/app"}, "^TestServe_decidesAboutTouchedApplications$"}
	return []group{
		{[]string{"internal/reconcile/cache/*.go"}, "", []tests{cache, phases, service}},
		{
			[]string{"internal/reconcile/observe/observe.go"},
			"^(touched|Reread|readComments)$",
			[]tests{incremental, phases, service},
		},
		{[]string{"internal/promotion/input/*.go"}, "", []tests{inputs, decisions, incremental, service}},
		{[]string{"internal/promotion/decide/plan.go"}, "^PlanReads$", []tests{decisions, incremental, service}},
		{
			[]string{"internal/workspace/decision_cache.go", "internal/workspace/freshness.go"},
			"",
			[]tests{memories, service},
		},
	}
}
