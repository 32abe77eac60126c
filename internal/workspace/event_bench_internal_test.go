package workspace

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"promoter/internal/benchtree"
	"promoter/internal/benchworld"
	"promoter/internal/config"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/repo"
)

// BenchmarkEvent has a new image in five environments of one repository, with a
// concurrent push: fetch, find, rewrite, commit and push. It is
// done by a workspace with a warm mirror, and by hand with Git's own commands in a bare
// clone. Both do it in turns, in 20,000 files and in 1,000, and the medians are
// compared. The time of an operation is that of one turn of all of them.
//
// Its mirror has no loose objects. Where the clone's and the server's are
// loose, the mirror has them in one large pack and in small ones, as fetches and
// pushes leave them.
func BenchmarkEvent(b *testing.B) {
	for _, way := range []string{"file", "http"} {
		for _, form := range []string{"packed", "loose"} {
			b.Run(way+"/"+form, func(b *testing.B) {
				large := newEvents(b, benchtree.Full(), way, form)
				small := newEvents(b, benchtree.Small(), way, form)
				for b.Loop() {
					large.turn(b)
					small.turn(b)
				}
				report(b, "own", large.own, small.own, large.hand)
				report(b, "hand", large.hand, small.hand, large.hand)
				report(b, "reconciliation", large.whole, small.whole, large.hand)
				if large.server != nil {
					report(b, "apart", large.apart, small.apart, large.hand)
				}
			})
		}
	}
}

// report gives the medians of one way to do it, and what they are compared with.
func report(b *testing.B, way string, large, small, hand []time.Duration) {
	b.ReportMetric(milliseconds(large), "ms-"+way)
	b.ReportMetric(milliseconds(small), "ms-"+way+"-small")
	b.ReportMetric(milliseconds(large)/milliseconds(small), "x-small-"+way)
	b.ReportMetric(milliseconds(large)/milliseconds(hand), "x-hand-"+way)
}

// milliseconds is the median.
func milliseconds(all []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(all))
	middle := len(sorted) / 2
	return float64((sorted[(len(sorted)-1)/2] + sorted[middle]).Microseconds()) / 2000
}

// events is one size of the tree: what happens in it, and how long that took.
type events struct {
	own, hand, whole []time.Duration
	apart            []time.Duration // own without the time in which the server worked

	origins      []string   // one per variant, with pushes of another user
	ownWorkspace *Workspace // for the steps
	runWorkspace *Workspace // for a whole reconciliation
	byHand       *benchworld.Plumbing
	server       *gitServer // nil: Git's own programs on the disk
	version      int        // of the image, counted up by each event
	commits      int        // of another user
}

// newEvents makes two origins alike, a workspace on one and a clone of the other, and
// lets both do everything once.
func newEvents(b *testing.B, size benchtree.Size, way, form string) *events {
	b.Helper()
	dir := b.TempDir()
	origins := []string{filepath.Join(dir, "hand.git"), filepath.Join(dir, "own.git"), filepath.Join(dir, "whole.git")}
	makeOrigin(b, origins[0], size, form)
	for _, other := range origins[1:] {
		if err := os.CopyFS(other, os.DirFS(origins[0])); err != nil {
			b.Fatal(err)
		}
	}
	var server *gitServer
	url := func(origin string) string { return "file://" + origin }
	open := func(origin string) *Workspace { return openWorkspace(b, url(origin)) }
	if way == "http" {
		var base string
		base, server = serveGit(b, filepath.Dir(dir))
		name := func(origin string) string { return filepath.Base(dir) + "/" + filepath.Base(origin) }
		url = func(origin string) string { return base + "/" + name(origin) }
		open = func(origin string) *Workspace { return workspaceOverHTTP(b, base, name(origin)) }
	}
	e := &events{origins: origins, server: server, byHand: newPlumbing(b, url(origins[0]), form)}
	e.ownWorkspace, e.runWorkspace = open(origins[1]), open(origins[2])
	e.turn(b)
	e.own, e.hand, e.whole, e.apart = nil, nil, nil, nil
	return e
}

// turn lets each do one event.
func (e *events) turn(b *testing.B) {
	b.Helper()
	e.version++
	tag := fmt.Sprintf("2.0.%d", e.version)
	for _, origin := range e.origins {
		e.commits++
		somebodyPushes(b, origin, e.commits)
	}
	before := e.server.time()
	e.own = append(e.own, timed(b, func() error { return e.ownEvent(b.Context(), tag) }))
	e.apart = append(e.apart, e.own[len(e.own)-1]-(e.server.time()-before))
	e.hand = append(e.hand, timed(b, func() error { return e.byHand.Event(b.Context(), tag) }))
	e.whole = append(e.whole, timed(b, func() error { return e.reconcile(b.Context(), tag) }))
}

func timed(b *testing.B, do func() error) time.Duration {
	b.Helper()
	begin := time.Now()
	if err := do(); err != nil {
		b.Fatal(err)
	}
	return time.Since(begin)
}

// eventApplication is the one whose image is new.
const eventApplication = 42

func eventImage() string { return benchtree.Image(eventApplication) }

// ownEvent is the part of a reconciliation that the plumbing does by hand: it receives what
// to write where. Each environment gets a commit of its own, as in a reconciliation.
func (e *events) ownEvent(ctx context.Context, tag string) error {
	l := e.ownWorkspace
	if _, err := l.Reconciler.Clients.Remote.Refs(ctx); err != nil {
		return err
	}
	heads, err := l.Reconciler.Clients.Remote.Fetch(ctx, "main")
	if err != nil {
		return err
	}
	data, err := l.Reconciler.Clients.Objects.Read(heads["main"], config.FileName, config.MaxSize)
	if err != nil {
		return err
	}
	loaded, problems := config.Load(config.FileName, data)
	if err := problems.Err(); err != nil {
		return err
	}
	tree, err := l.Reconciler.Clients.Files.At(ctx, loaded, heads["main"], loaded.Order())
	if err != nil {
		return err
	}
	tip := heads["main"]
	for _, environment := range loaded.Order() {
		target := promotion.Target{Environment: environment, Application: fmt.Sprintf("service-%04d", eventApplication)}
		rewritten, err := tree.Rewrite(ctx, target, moveAll(tree.Targets()[target], tag))
		if err != nil || len(rewritten.Files) != 1 {
			return fmt.Errorf("rewrite %v: %d files, %w", target, len(rewritten.Files), err)
		}
		by := repo.DefaultSignature()
		by.When = time.Now()
		if tip, err = l.Reconciler.Clients.Objects.Write(repo.Draft{Parent: tip, Files: rewritten.Files, By: by, Message: "New image\n"}); err != nil {
			return err
		}
	}
	return l.Reconciler.Clients.Remote.Push(ctx, repo.Update{Branch: "main", Old: heads["main"], New: tip})
}

func moveAll(present promotion.Current, tag string) []promotion.Move {
	var moves []promotion.Move
	for _, r := range present.References {
		moves = append(moves, promotion.Move{Component: r.Component, To: image.Version{Tag: tag}})
	}
	return moves
}

// reconcile does what run does: it observes everything, decides about all
// targets, acts, and reconciles again in case something follows.
func (e *events) reconcile(ctx context.Context, tag string) error {
	l := e.runWorkspace
	l.Reconciler.Clients.Registries = benchOffers{tag}
	report, err := l.Reconciler.Reconcile(ctx)
	if err != nil {
		return err
	}
	pushed := 0
	for _, done := range report.Effects {
		if done.Action == outcome.ActionPushed {
			pushed++
		}
	}
	if pushed != benchtree.Full().Environments || report.Failed() {
		return fmt.Errorf("%d pushes, trouble %v", pushed, report.Errors)
	}
	return nil
}

// benchOffers knows a new tag of one image. It is observe.Registries.
type benchOffers struct{ tag string }

// Select implements observe.Registries.
func (o benchOffers) Select(_ context.Context, ask observe.VersionRequest) promotion.Available {
	tag := benchtree.Tag
	if ask.Repository.String() == eventImage() {
		tag = o.tag
	}
	return promotion.Available{Version: versionOf(tag), Found: true}
}

// Resolve implements observe.Registries.
func (benchOffers) Resolve(_ context.Context, question promotion.Lookup) (image.Version, error) {
	return versionOf(question.Tag), nil
}

// Describe implements observe.Registries.
func (benchOffers) Describe(context.Context, promotion.Fact, []string) (image.Description, error) {
	return image.Description{}, nil
}

func versionOf(tag string) image.Version {
	return image.Version{Tag: tag, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(tag)))}
}
