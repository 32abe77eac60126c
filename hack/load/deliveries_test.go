package load

import (
	"testing"
	"time"

	"promoter/internal/database/databasetest"
)

// The load: a flood over so many connections, and so many webhooks per second.
const (
	floodFor    = 3 * time.Second
	connections = 64
	paceFor     = 10 * time.Second
	paceRate    = 500
)

// BenchmarkDeliveries sends webhooks of 10 KiB about an image that a repository
// subscribes to: at a constant rate, and then as fast as promoter accepts them.
func BenchmarkDeliveries(b *testing.B) {
	for _, kind := range databasetest.Kinds() {
		b.Run(kind.Name, func(b *testing.B) {
			w := newWorld(b)
			ours := service{folder: b.TempDir(), database: kind.New(b), world: w, repositories: []string{w.follower("one", "acme/web")}, receivers: receivers}.serve(b)
			ours.until("reconciled")
			to := newSender(b, ours, w.Host+"/acme/web", "own")
			var took samples
			flood := 0.0
			for b.Loop() {
				took = append(took, to.pace(paceRate, paceFor)...)
				flood += to.flood(connections, floodFor)
			}
			b.ReportMetric(flood/float64(b.N), "flood/s")
			b.ReportMetric(took.at(0.5), "ms-median")
			b.ReportMetric(took.at(0.99), "ms-p99")
			b.ReportMetric(ours.peak(), "MiB")
			b.ReportMetric(0, "ns/op")
			ours.stop()
		})
	}
}
