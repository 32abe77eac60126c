package app_test

import (
	"fmt"
	"strings"
	"testing"
)

// A registry that fails every request in the same way is reported once.
func TestRun_repeatedErrorIsReportedOnce(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	files := webIn("push")
	files[".promoter.yaml"] += "  prod: {paths: [prod], land: push, after: [dev]}\n"
	files["prod/app.yaml"] = files["dev/app.yaml"]
	f.repository("acme/gitops", files)
	result := f.run(f.open("", "acme/gitops"))["acme/gitops"]
	reported := map[string]int{}
	for _, partial := range result.Report.Errors {
		reported[partial.What+": "+partial.Err.Error()]++
	}
	for words, n := range reported {
		if n > 1 || !strings.Contains(words, "plain http to") {
			t.Errorf("%d times %s", n, words)
		}
	}
	if len(reported) == 0 {
		t.Error("nothing is reported")
	}
}

// A state branch that is too large holds the repository: what is not read of it might
// forbid anything.
func TestRun_hugeStateBranchHolds(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	repository := f.repository("acme/gitops", webIn("push"))
	files := map[string]string{}
	for i := range 65 {
		files[fmt.Sprintf("notes/%d.txt", i)] = strings.Repeat("x", 1<<20)
	}
	repository.Git.Commit("promoter-bot", "promoter/_state", "fill it", files)
	result := f.run(f.open(insecureRegistry, "acme/gitops"))["acme/gitops"]
	if len(acts(result)) > 0 || !result.Failed() {
		t.Fatalf("done %v, failed %v", acts(result), result.Failed())
	}
	if reason := result.Report.Decisions[0].Reason.Message; !strings.Contains(reason, "promoter/_state") {
		t.Errorf("the reason is %q", reason)
	}
}
