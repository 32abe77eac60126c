package load

import (
	"fmt"
	"testing"

	"promoter/internal/database/databasetest"
)

// The repositories that are followed, and the images of each.
const (
	manyRepositories = 1000
	manyImages       = 10
)

// BenchmarkFollowed serves many repositories with many images. The first process makes
// their mirrors, which both databases share. The second one finds them, and polls everything
// every minute, each repository at its turn: what is measured is a poll in which nothing is
// new.
func BenchmarkFollowed(b *testing.B) {
	w := newWorld(b)
	shared := service{folder: b.TempDir(), world: w, repositories: w.many(), receivers: receivers, poll: "1m"}
	for _, kind := range databasetest.Kinds() {
		b.Run(kind.Name, func(b *testing.B) {
			s := shared
			s.database = kind.New(b)
			first := s.serve(b)
			reconciled(first)
			first.stop()
			ours := s.serve(b)
			begun := ours.begun
			started := reconciled(ours).at.Sub(begun)
			w.Asked()
			for b.Loop() {
				reconciled(ours)
				asked := w.Asked()
				b.ReportMetric(float64(asked["HEAD manifests"]), "HEADs")
				delete(asked, "HEAD manifests")
				b.ReportMetric(float64(sum(asked)), "others")
			}
			followed := newSender(b, ours, w.Host+"/team-7/image-3", "followed")
			b.ReportMetric(followed.pace(100, floodFor).at(0.5), "ms-webhook")
			b.ReportMetric(started.Seconds(), "s-start")
			b.ReportMetric(ours.peak(), "MiB")
			b.ReportMetric(0, "ns/op")
			ours.stop()
		})
	}
}

func sum(counts map[string]int) (all int) {
	for _, n := range counts {
		all += n
	}
	return all
}

// many makes all repositories.
func (w *world) many() (names []string) {
	for n := range manyRepositories {
		var images []string
		for i := range manyImages {
			images = append(images, fmt.Sprintf("team-%d/image-%d", n, i))
		}
		names = append(names, w.follower(fmt.Sprint("repository-", n), images...))
	}
	return names
}

// reconciled waits until every repository was reconciled, and returns the last line.
func reconciled(p *process) (last line) {
	p.b.Helper()
	seen := map[string]bool{}
	for len(seen) < manyRepositories {
		last = p.until("reconciled")
		seen[last.Repository] = true
	}
	return last
}
