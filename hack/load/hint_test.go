package load

import (
	"fmt"
	"testing"
	"time"

	"promoter/internal/benchtree"
	"promoter/internal/database/databasetest"
)

// BenchmarkHint has a new image of a repository with many files, whose webhook comes
// without a quiet window: from the webhook to the end of the look that pushed it to five
// environments, against what that look says that it took.
func BenchmarkHint(b *testing.B) {
	for _, kind := range databasetest.Kinds() {
		for name, size := range map[string]benchtree.Size{"1000 files": benchtree.Small(), "20000 files": benchtree.Full()} {
			b.Run(kind.Name+"/"+name, func(b *testing.B) {
				w := newWorld(b)
				ours := service{
					folder: b.TempDir(), database: kind.New(b), world: w, receivers: receivers,
					repositories: []string{w.tree(size)}, arguments: []string{"--quiet", "0"},
				}.serve(b)
				ours.until("reconciled")
				var whole, look time.Duration
				for b.Loop() {
					moved := benchtree.ImagePath(42)
					w.Release(moved)
					begin := time.Now()
					newSender(b, ours, w.Host+"/"+moved, fmt.Sprint("hint-", begin.UnixNano())).post()
					ours.until("pushed")
					end := ours.until("reconciled")
					took, err := time.ParseDuration(end.Took)
					if err != nil {
						b.Fatal(err)
					}
					whole, look = whole+end.at.Sub(begin), look+took
				}
				b.ReportMetric(float64(whole.Milliseconds())/float64(b.N), "ms-whole")
				b.ReportMetric(float64(look.Milliseconds())/float64(b.N), "ms-look")
				b.ReportMetric(whole.Seconds()/look.Seconds(), "x-look")
				b.ReportMetric(0, "ns/op")
				ours.stop()
			})
		}
	}
}
