package reconciletest

import (
	"context"
	"testing"

	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
)

// Bench returns the world for the suite of forges.
func (w *World) Bench() scmtest.Bench {
	return scmtest.Bench{
		Forge: opener{w.Forge}, Name: w.Forge.Info().Name,
		Git:    scmtest.Git{Commit: w.commit, Delete: w.delete},
		People: w.people(),
		World: scmtest.World{
			Methods: func(_ *testing.T, methods ...string) { w.Forge.Method = methods[0] },
			Protect: func(_ *testing.T, name string) { w.protect(scm.Rules{Checks: []string{name}}) },
			Queue:   func(*testing.T) { w.protect(scm.Rules{Queue: true}) },
		},
	}
}

func (w *World) protect(rules scm.Rules) { w.Forge.Protected = map[string]scm.Rules{"main": rules} }

// opener opens the only repository.
type opener struct{ Forge *Forge }

// Open implements scm.Forge.
func (o opener) Open(context.Context, string) (scm.Repository, error) { return o.Forge, nil }

func (w *World) commit(_ *testing.T, c scmtest.Commit) string {
	if w.Git.Branch(c.Branch) == "" {
		w.Git.Set(c.Branch, w.Git.Branch("main"))
	}
	by := Human
	if c.By == "" {
		by = By
	}
	return w.Git.Commit(c.Branch, by, w.Clock.Now(), c.Message, func(all map[string]string) { all[c.Path] = c.Content })
}

func (w *World) delete(_ *testing.T, _, branch string) { w.Git.Set(branch, "") }

// people returns what users can do on the forge.
func (w *World) people() scmtest.People {
	if !w.Forge.Limits.PullRequests {
		return scmtest.People{}
	}
	f := w.Forge
	return scmtest.People{
		Open:     func(_ *testing.T, who, head, base, _ string) int { return f.ByHand(who, head, base, true) },
		Fork:     func(_ *testing.T, who, head, base string) int { return f.ByHand(who, head, base, false) },
		Close:    func(_ *testing.T, who string, number int) { f.CloseByHand(number, who) },
		Reopen:   func(_ *testing.T, who string, number int) { w.reopen(number, who) },
		Merge:    func(t *testing.T, _ string, number int, method string) string { return w.merge(t, number, method) },
		Retarget: func(_ *testing.T, _ string, number int, base string) { f.Retarget(number, base) },
		Draft:    func(_ *testing.T, _ string, number int, draft bool) { f.Draft(number, draft) },
		Retitle: func(_ *testing.T, _ string, number int, title string) {
			f.Rewrite(number, title, f.All()[number-1].Body)
		},
		Review: func(_ *testing.T, who string, number int, state scm.ReviewState) { f.Review(number, who, state) },
		Comment: func(_ *testing.T, who string, number int, body string) {
			f.Comment(number, identity.User{Host: f.Info().Self.Host, Login: who}, body)
		},
		Status: func(_ *testing.T, _, commit, name string, state scm.CheckState) { f.Check(commit, name, state) },
	}
}

func (w *World) reopen(number int, who string) {
	head := w.Forge.All()[number-1].Head
	w.Git.Set(head.Branch, head.Commit)
	w.Forge.Reopen(number, who)
}

func (w *World) merge(t *testing.T, number int, method string) string {
	t.Helper()
	pr := w.Forge.All()[number-1]
	if method == "fast-forward" {
		w.Git.Set(pr.Base, pr.Head.Commit)
	} else if err := w.Forge.MergeByHand(number, method); err != nil {
		t.Fatal(err)
	}
	return w.Git.Branch(pr.Base)
}

// Clean reports whether a head can be merged into a branch without conflicts.
func (g *Git) Clean(base, head string) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	_, err := g.merged(g.commits[g.branches[base]], g.commits[head])
	return err == nil
}
