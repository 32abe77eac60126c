package load

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"promoter/internal/benchtree"
	"promoter/internal/benchworld"
	"promoter/internal/database/databasetest"
)

// BenchmarkLatency has a new image of a repository with 20,000 files, of one with 1,000, and of
// one with 20,000 whose commit is made by hand with Git's own commands, in turns. A webhook
// without a quiet window leads to a push to five environments. The median times are compared.
// In the end, it compares the heaps of the two services, which keep what they know.
func BenchmarkLatency(b *testing.B) {
	for _, kind := range databasetest.Kinds() {
		b.Run(kind.Name, func(b *testing.B) {
			large, small := newPromoted(b, kind, benchtree.Full()), newPromoted(b, kind, benchtree.Small())
			hand := newByHand(b, benchtree.Full())
			for b.Loop() {
				large.event()
				hand.event()
				small.event()
			}
			pushed, of := median(large.pushed), median(small.pushed)
			b.ReportMetric(pushed, "ms-pushed")
			b.ReportMetric(of, "ms-pushed-small")
			b.ReportMetric(median(hand.took), "ms-hand")
			b.ReportMetric(pushed/median(hand.took), "x-hand")
			b.ReportMetric(pushed/of, "x-small")
			b.ReportMetric(median(large.apart), "ms-apart")
			b.ReportMetric(median(small.apart), "ms-apart-small")
			large.reportWhole("")
			small.reportWhole("-small")
			b.ReportMetric(large.heap()-small.heap(), "MiB-warm")
			b.ReportMetric(0, "ns/op")
			large.service.stop()
			small.service.stop()
		})
	}
}

// latencyImage is the image that has new versions.
func latencyImage() string { return benchtree.ImagePath(42) }

// promoted is a repository whose service gets webhooks.
type promoted struct {
	b       *testing.B
	world   *world
	service *process
	sender  *sender

	pushed, whole  samples // from the webhook to the last push, and to the end of the reconciliation
	reconciliation samples // as logged
	apart          samples // from the webhook to the last push, without the time in which the Git server worked
}

// newPromoted serves a repository, and has one event before those that count.
func newPromoted(b *testing.B, kind databasetest.Kind, size benchtree.Size) *promoted {
	b.Helper()
	p := &promoted{b: b, world: newWorld(b)}
	p.service = service{
		folder: b.TempDir(), database: kind.New(b), world: p.world, receivers: receivers,
		repositories: []string{p.world.tree("load/tree.git", size)}, arguments: []string{"--quiet", "0", "--pprof"},
	}.serve(b)
	p.service.until("reconciled")
	p.sender = newSender(b, p.service, p.world.Host+"/"+latencyImage(), "event")
	p.event()
	p.pushed, p.whole, p.reconciliation, p.apart = nil, nil, nil, nil
	return p
}

// event has a new version, and waits until it is pushed to all environments and the
// reconciliation ends.
func (p *promoted) event() {
	p.b.Helper()
	p.world.Release(latencyImage())
	begin, server := time.Now(), p.world.GitTime()
	p.sender.post()
	var last line
	for range benchtree.Full().Environments {
		last = p.service.until("pushed")
	}
	server = p.world.GitTime() - server
	end := p.service.until("reconciled")
	took, err := time.ParseDuration(end.Took)
	if err != nil {
		p.b.Fatal(err)
	}
	p.pushed, p.whole = append(p.pushed, last.at.Sub(begin)), append(p.whole, end.at.Sub(begin))
	p.reconciliation, p.apart = append(p.reconciliation, took), append(p.apart, last.at.Sub(begin)-server)
}

// reportWhole compares the whole time with that of the reconciliation.
func (p *promoted) reportWhole(suffix string) {
	p.b.ReportMetric(median(p.whole), "ms-whole"+suffix)
	p.b.ReportMetric(median(p.reconciliation), "ms-reconciliation"+suffix)
	p.b.ReportMetric(median(p.whole)/median(p.reconciliation), "x-reconciliation"+suffix)
}

// heap is what the service keeps on its heap after a collection, in MiB.
func (p *promoted) heap() float64 {
	p.b.Helper()
	answer, err := http.Get("http://" + p.service.scraped + "/debug/pprof/heap?gc=1&debug=1") //nolint:noctx // it ends with the process
	if err != nil {
		p.b.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewScanner(io.LimitReader(answer.Body, 64<<20))
	for lines.Scan() {
		if size, found := strings.CutPrefix(lines.Text(), "# HeapAlloc = "); found {
			bytes, err := strconv.ParseFloat(size, 64)
			if err != nil {
				p.b.Fatal(err)
			}
			return bytes / (1 << 20)
		}
	}
	p.b.Fatal("the profile of the heap does not have its size")
	return 0
}

// byHand is a repository whose images are promoted with Git's own commands.
type byHand struct {
	b        *testing.B
	plumbing *benchworld.Plumbing
	version  int
	took     samples
}

func newByHand(b *testing.B, size benchtree.Size) *byHand {
	b.Helper()
	w := newWorld(b)
	name := w.tree("load/hand.git", size)
	plumbing, err := benchworld.NewPlumbing(b.Context(), "http://"+w.Host+"/"+name, b.TempDir(), w.Host+"/"+latencyImage(), size.Environments)
	if err != nil {
		b.Fatal(err)
	}
	h := &byHand{b: b, plumbing: plumbing}
	h.event()
	h.took = nil
	return h
}

func (h *byHand) event() {
	h.b.Helper()
	h.version++
	begin := time.Now()
	if err := h.plumbing.Event(h.b.Context(), fmt.Sprintf("2.0.%d", h.version)); err != nil {
		h.b.Fatal(err)
	}
	h.took = append(h.took, time.Since(begin))
}

// median is in milliseconds.
func median(all samples) float64 {
	sorted := slices.Sorted(slices.Values(all))
	low, high := sorted[(len(sorted)-1)/2], sorted[len(sorted)/2]
	return float64((low + high).Microseconds()) / 2000
}
