package load

import (
	"fmt"
	"testing"
	"time"

	"promoter/internal/database/databasetest"
)

// The burst: as many webhooks for one image as pushes of a large build make, and the
// repositories that follow it.
const (
	burst     = 1000
	burstFor  = 10 * time.Second
	burstOver = 3 // repositories
)

// BenchmarkBurst sends webhooks for one image that several repositories follow, and
// counts their reconciliations: one for each repository and quiet window, and one more where another
// repository read the new image meanwhile, in which nothing is new.
func BenchmarkBurst(b *testing.B) {
	for _, kind := range databasetest.Kinds() {
		b.Run(kind.Name, func(b *testing.B) {
			w := newWorld(b)
			s := service{folder: b.TempDir(), database: kind.New(b), world: w, receivers: receivers}
			for n := range burstOver {
				s.repositories = append(s.repositories, w.follower(fmt.Sprint("repository-", n), "acme/web"))
			}
			ours := s.serve(b)
			for range burstOver {
				ours.until("reconciled")
			}
			ours.rests() // the first poll is done too
			to := newSender(b, ours, w.Host+"/acme/web", "burst")
			reconciliations := 0.0
			for b.Loop() {
				before := ours.metric("promoter_reconciliations_total")
				w.Release("acme/web")
				to.pace(burst/burstFor.Seconds(), burstFor)
				ours.rests()
				reconciliations += ours.metric("promoter_reconciliations_total") - before
			}
			b.ReportMetric(reconciliations/burstOver/float64(b.N), "reconciliations/repository")
			b.ReportMetric(0, "ns/op")
			ours.stop()
		})
	}
}
