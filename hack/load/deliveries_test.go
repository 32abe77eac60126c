package load

import (
	"testing"
	"time"

	"promoter/internal/database/databasetest"
)

// How long, and over how many connections, a flood is.
const (
	floodFor    = 3 * time.Second
	connections = 64
)

// BenchmarkDeliveries floods promoter with webhooks of 10 KiB about an image that a
// repository follows, in turns with the bare loop, which is a process of its own with
// a database of its own too. After that half of the rate is sent evenly.
func BenchmarkDeliveries(b *testing.B) {
	for _, kind := range databasetest.Kinds() {
		b.Run(kind.Name, func(b *testing.B) {
			w := newWorld(b)
			ours := service{folder: b.TempDir(), database: kind.New(b), world: w, repositories: []string{w.follower("one", "acme/web")}, receivers: receivers}.serve(b)
			ours.until("looked")
			bare := startBare(b, kind.New(b))
			image := w.Host + "/acme/web"
			to := newSender(b, ours, image, "own")
			than := newSender(b, bare, image, "bare")
			var own, least float64
			for b.Loop() {
				own += to.flood(connections, floodFor)
				least += than.flood(connections, floodFor)
			}
			own, least = own/float64(b.N), least/float64(b.N)
			took := to.pace(own/2, floodFor)
			b.ReportMetric(own, "own/s")
			b.ReportMetric(least, "bare/s")
			b.ReportMetric(own/least, "x-bare")
			b.ReportMetric(took.at(0.5), "ms-median")
			b.ReportMetric(took.at(0.99), "ms-p99")
			b.ReportMetric(ours.peak(), "MiB")
			b.ReportMetric(0, "ns/op")
			ours.stop()
		})
	}
}
