package workspace

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"promoter/internal/benchtree"
	"promoter/internal/config"
	"promoter/internal/kept"
	"promoter/internal/scan"
)

// BenchmarkStart has the first reconciliation of a repository with 20,000 files, which makes its
// mirror, and compares it with a clone of the newest commit by Git and the scan of all files in a
// mirror, in turns. All answers of registries are there: what counts is the repository.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	origin := filepath.Join(dir, "start/origin.git")
	makeOrigin(b, origin, benchtree.Full(), "packed")
	base, _ := serveGit(b, dir)
	mirrored := workspaceOverHTTP(b, base, "start/origin.git")
	main := fetchMain(b, mirrored)
	data, err := mirrored.Reconciler.Clients.Objects.Read(main, config.FileName, config.MaxSize)
	if err != nil {
		b.Fatal(err)
	}
	loaded, problems := config.Load(config.FileName, data)
	if err := problems.Err(); err != nil {
		b.Fatal(err)
	}
	read, ok := mirrored.Reconciler.Clients.Files.(files)
	if !ok {
		b.Fatal("the workspace reads files in another way")
	}
	var starts, clones, scans []time.Duration
	for b.Loop() {
		starts = append(starts, timed(b, func() error {
			first := workspaceOverHTTP(b, base, "start/origin.git")
			first.Reconciler.Clients.Registries = benchOffers{benchtree.Tag}
			report, err := first.Reconciler.Reconcile(b.Context())
			if err == nil && (len(report.Decisions) != benchtree.Full().Applications*benchtree.Full().Environments || report.Failed()) {
				b.Errorf("%d decisions, errors %v", len(report.Decisions), report.Errors)
			}
			return err
		}))
		clone := filepath.Join(dir, "clone.git")
		clones = append(clones, timed(b, func() error {
			runGit(b, "", "clone", "-q", "--depth", "1", "--bare", base+"/start/origin.git", clone)
			return nil
		}))
		if err := os.RemoveAll(clone); err != nil {
			b.Fatal(err)
		}
		scans = append(scans, timed(b, func() error {
			read.cache = scan.NewCache(kept.At(filepath.Join(b.TempDir(), "kept")), nil)
			_, err := read.At(b.Context(), loaded, main, loaded.Order())
			return err
		}))
	}
	counterpart := milliseconds(clones) + milliseconds(scans)
	b.ReportMetric(milliseconds(starts), "ms-start")
	b.ReportMetric(milliseconds(clones), "ms-clone")
	b.ReportMetric(milliseconds(scans), "ms-scan")
	b.ReportMetric(milliseconds(starts)/counterpart, "x-counterpart")
	b.ReportMetric(0, "ns/op")
}
