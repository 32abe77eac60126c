package load

import (
	"fmt"
	"testing"
	"time"

	"promoter/internal/benchtree"
	"promoter/internal/database/databasetest"
)

// BenchmarkLatency has a new image of a repository with many files, whose webhook comes
// without a quiet window: from the webhook to the end of the reconciliation that pushed it to
// five environments, compared with the logged duration of that reconciliation.
func BenchmarkLatency(b *testing.B) {
	for _, kind := range databasetest.Kinds() {
		for name, size := range map[string]benchtree.Size{"1000 files": benchtree.Small(), "20000 files": benchtree.Full()} {
			b.Run(kind.Name+"/"+name, func(b *testing.B) {
				w := newWorld(b)
				ours := service{
					folder: b.TempDir(), database: kind.New(b), world: w, receivers: receivers,
					repositories: []string{w.tree(size)}, arguments: []string{"--quiet", "0"},
				}.serve(b)
				ours.until("reconciled")
				var whole, reconciliation time.Duration
				for b.Loop() {
					moved := benchtree.ImagePath(42)
					w.Release(moved)
					begin := time.Now()
					newSender(b, ours, w.Host+"/"+moved, fmt.Sprint("event-", begin.UnixNano())).post()
					ours.until("pushed")
					end := ours.until("reconciled")
					took, err := time.ParseDuration(end.Took)
					if err != nil {
						b.Fatal(err)
					}
					whole, reconciliation = whole+end.at.Sub(begin), reconciliation+took
				}
				b.ReportMetric(float64(whole.Milliseconds())/float64(b.N), "ms-whole")
				b.ReportMetric(float64(reconciliation.Milliseconds())/float64(b.N), "ms-reconciliation")
				b.ReportMetric(whole.Seconds()/reconciliation.Seconds(), "x-reconciliation")
				b.ReportMetric(0, "ns/op")
				ours.stop()
			})
		}
	}
}
