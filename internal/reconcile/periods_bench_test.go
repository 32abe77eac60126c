package reconcile_test

import (
	"testing"
	"time"

	"promoter/internal/reconcile/reconciletest"
)

// BenchmarkPeriods reconciles while a version soaks, with a history of 300 commits of which a tenth touched the parent.
func BenchmarkPeriods(b *testing.B) {
	for name, remembers := range map[string]bool{"remembered": true, "read again": false} {
		b.Run(name, func(b *testing.B) {
			w := reconciletest.New(soakingConfig("push"), files())
			for i := range 300 {
				w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Work", func(all map[string]string) {
					all["README"] += "."
					if i%10 == 0 {
						all["staging/shop.txt"] += "#\n"
					}
				})
			}
			for _, name := range []string{"web", "worker"} {
				w.Registry.Push("quay.io/acme/"+name, "1.0.0", name+" 1.0.0", w.Clock.Now().Add(-time.Minute))
			}
			w.Registry.Push(web, "1.1.0", "web 1.1.0", w.Clock.Now())
			memory := &verdicts{all: map[string]string{}}
			reconcile := func() {
				r := w.Reconciler()
				if remembers {
					r.Clients.Landings = memory
				}
				if _, err := r.Reconcile(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			for range 3 {
				reconcile()
			}
			for b.Loop() {
				reconcile()
			}
		})
	}
}
