package forgetest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/git/gittest"
	"promoter/internal/scm/forgetest"
	"promoter/internal/scm/scmtest"
)

func TestBranches(t *testing.T) {
	t.Parallel()
	front := forgetest.New(t, forgetest.Fake{Name: "shop", Now: time.Now})
	var looked []string
	b := front.Branches(gittest.New(t).Init("web", gittest.Setup{}),
		func(who string) gittest.Author {
			return gittest.Author{Name: who, Email: who + "@example.com", At: time.Unix(1_700_000_000, 0)}
		},
		func(who string) { looked = append(looked, who) })
	hands := b.Hands("self")
	first := hands.Commit(t, scmtest.Commit{Branch: "main", Message: "Begin", Path: "a", Content: "1\n"})
	second := hands.Commit(t, scmtest.Commit{By: "ann", Branch: "x", Message: "Next", Path: "a", Content: "2\n"})
	if diff := cmp.Diff([]string{second, first}, hands.Log(t, "x")); diff != "" || b.Head("x") != second {
		t.Errorf("x is at %s: %s", b.Head("x"), diff)
	}
	if by := b.Run("log", "--format=%an %s", "x"); by != "ann Next\nself Begin" {
		t.Errorf("the history is %q", by)
	}
	b.SetHead("bob", "x", first)
	if hands.Message(t, b.Head("x")) != "Begin" {
		t.Errorf("x is at %s after a forced push", b.Head("x"))
	}
	hands.Delete(t, "eve", "x")
	if b.Head("x") != "" || hands.Log(t, "x") != nil {
		t.Errorf("x is still at %s", b.Head("x"))
	}
	if diff := cmp.Diff([]string{"self", "ann", "bob", "eve"}, looked); diff != "" {
		t.Errorf("the fake looked after the pushes of: %s", diff)
	}
}
