package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/comments"
	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/cache"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// twoApplications is a config of applications that share no image. Nothing waits for a pull
// request.
const twoApplications = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  worker: {image: quay.io/acme/worker, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.txt"], land: push}
  staging: {paths: ["staging/{application}.txt"], after: [dev], land: push}
`

// process is a promoter that runs: it keeps decisions, and webhooks name changed images.
type process struct {
	*world
	kept     *cache.Entry
	known    int  // changes in the registry that it heard of
	polls    bool // in the next reconciliation
	files    func(repo.Files) repo.Files
	bypasses comments.Bypasses // nil: no user may bypass anything
	selected *selections
}

// newProcess returns a process with shop, which has web, and cart, which has worker, after its first
// reconciliation.
func newProcess(t *testing.T) *process { t.Helper(); return newProcessOf(t, twoApplications) }

// newProcessOf is newProcess with another config.
func newProcessOf(t *testing.T, config string) *process {
	t.Helper()
	files := map[string]string{}
	for _, environment := range []string{"dev", "staging"} {
		files[environment+"/shop.txt"], files[environment+"/cart.txt"] = line(web, "1.0.0")+"\n", line(worker, "1.0.0")+"\n"
	}
	p := &process{world: &world{World: reconciletest.New(config, files), t: t}, files: func(f repo.Files) repo.Files { return f }}
	p.push(web, "1.0.0")
	p.push(worker, "1.0.0")
	p.wantTouched(p.reconcile(), nil)
	return p
}

// Load implements cache.Cache.
func (p *process) Load(context.Context) (*cache.Entry, cache.Changed, error) {
	changed, known := p.Registry.Changed(p.known)
	p.known = known
	if p.polls {
		return nil, cache.Changed{}, nil
	}
	return p.kept, cache.Changed{Image: changed}, nil
}

// Keep implements cache.Cache.
func (p *process) Store(kept *cache.Entry) { p.kept = kept }

// reconcile reconciles. What was decided is not decided otherwise before it is written.
func (p *process) reconcile() outcome.Report {
	p.t.Helper()
	report := p.attempt()
	if report.Mismatch != "" {
		p.t.Errorf("decisions are made again: %s", report.Mismatch)
	}
	return report
}

// attempt reconciles, although something may change before something is written.
func (p *process) attempt() outcome.Report {
	p.t.Helper()
	r := p.Reconciler()
	r.Users.Bypasses, r.Clients.Seals.Protected = p.bypasses, p.bypasses != nil
	p.selected = &selections{Registries: r.Clients.Registries}
	r.Cache, r.Clients.Registries, r.Clients.Files = p, p.selected, p.files(r.Clients.Files)
	report, err := r.Reconcile(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return report
}

// wantTouched checks about which applications the last reconciliation decided; nil: all. The report
// has decisions about all of them in any case.
func (p *process) wantTouched(report outcome.Report, want []string) {
	p.t.Helper()
	var got []string
	if report.Touched != nil {
		got = append([]string{}, slices.Sorted(maps.Keys(report.Touched))...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Errorf("touched (-want +got):\n%s", diff)
	}
	var targets []string
	for _, d := range report.Decisions {
		targets = append(targets, d.Environment+"/"+d.Application)
	}
	if diff := cmp.Diff([]string{"dev/cart", "dev/shop", "staging/cart", "staging/shop"}, targets); diff != "" {
		p.t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

// selections records for which images the version is selected.
type selections struct {
	observe.Registries
	mutex  sync.Mutex
	images []string
}

// Select implements observe.Registries.
func (s *selections) Select(ctx context.Context, request observe.VersionRequest) promotion.Available {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.images = append(s.images, request.Repository.String())
	return s.Registries.Select(ctx, request)
}

func TestIncremental_decidesAboutWhatAnEventTouches(t *testing.T) {
	t.Parallel()
	p := newProcess(t)

	p.push(worker, "1.1.0")
	report := p.reconcile()
	p.wantTouched(report, []string{"cart"})
	if len(report.Effects) != 2 {
		t.Errorf("effects: %+v", report.Effects)
	}
	if slices.Contains(p.selected.images, web) {
		t.Errorf("the registry was asked for %v", p.selected.images)
	}

	p.wantTouched(p.reconcile(), []string{}) // nothing happened

	p.Git.Commit("main", reconciletest.Human, p.Clock.Now(), "Go back", func(all map[string]string) {
		all["staging/shop.txt"] = line(web, "0.9.0") + "\n"
	})
	p.wantTouched(p.reconcile(), []string{"shop"})

	p.decide(state.Hold(state.Target{Environment: "dev", Application: "cart"}, state.Act{At: p.Clock.Now()}))
	p.wantTouched(p.reconcile(), []string{"cart"})
}

func TestIncremental_decidesAboutEverything(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(*process){
		"a poll":             func(p *process) { p.polls = true },
		"the config changes": func(p *process) { p.write(repo.ConfigFile, twoApplications+"# more\n") },
		"an environment is frozen": func(p *process) {
			p.decide(state.Freeze("dev", state.Act{At: p.Clock.Now()}, nil))
		},
		"the branch was moved back": func(p *process) {
			parent := p.Git.Branch("main")
			p.write("README", "x")
			p.reconcile()
			p.Git.Set("main", parent)
		},
		"the last one failed": func(p *process) {
			p.Registry.Down = true
			p.push(web, "1.1.0")
			p.reconcile()
			p.Registry.Down = false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProcess(t)
			happens(p)
			p.wantTouched(p.reconcile(), nil)
		})
	}
}

// What depends on a part that cannot be read is not known: a decision of before could hide that.
func TestIncremental_aPartCannotBeRead(t *testing.T) {
	t.Parallel()
	p := newProcess(t)
	p.files = func(repo.Files) repo.Files { return unreadable{} }
	report := p.reconcile()
	if report.Touched != nil || !report.Failed() {
		t.Errorf("touched %v, failed %t", report.Touched, report.Failed())
	}
	p.files = func(f repo.Files) repo.Files { return f }
	p.wantTouched(p.reconcile(), nil)
}

// unreadable are files that cannot be read.
type unreadable struct{ repo.Files }

// At implements repo.Files.
func (unreadable) At(context.Context, *config.Config, string, []string) (repo.Tree, error) {
	return nil, errors.New("it cannot be read")
}

// A command in a comment may be about any target, and about what versions registries have.
func TestIncremental_commandsMayBeAboutEverything(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"/promoter hold", "/promoter refresh"} {
		p := newProcessOf(t, strings.ReplaceAll(twoApplications, ", land: push", ""))
		p.push(web, "1.1.0")
		p.wantTouched(p.reconcile(), []string{"shop"})
		p.comment(1, "ada", "Which version is this?")
		p.wantTouched(p.reconcile(), []string{"shop"})
		p.comment(1, "ada", command)
		p.wantTouched(p.reconcile(), nil)
		if !slices.ContainsFunc(p.selected.images, func(image string) bool { return strings.HasSuffix(image, "/worker") }) {
			t.Errorf("%s: only the versions of %v were read", command, p.selected.images)
		}

		p.polls = true // so they were read before the command
		p.comment(1, "ada", "/promoter resume")
		p.wantTouched(p.reconcile(), nil)
		if read := slices.Sorted(slices.Values(p.selected.images)); len(read) != 2 || read[0] == read[1] {
			t.Errorf("%s: the versions of %v were read", command, read)
		}
	}
}

// What depends on the time is decided again each time.
func TestIncremental_timesPass(t *testing.T) {
	t.Parallel()
	p := newProcess(t)
	p.write(repo.ConfigFile, strings.ReplaceAll(twoApplications, "after: [dev]", "after: {dev: {soak: 1h}}"))
	p.reconcile()
	p.push(worker, "1.1.0")
	p.reconcile()
	p.wantTouched(p.reconcile(), []string{"cart"}) // it soaks
	p.Clock.Add(2 * time.Hour)
	p.wantTouched(p.reconcile(), []string{"cart"})
	if got := p.Git.FilesOf(p.Git.Branch("main"))["staging/cart.txt"]; !strings.Contains(got, "1.1.0") {
		t.Errorf("staging/cart.txt: %s", got)
	}
	p.wantTouched(p.reconcile(), []string{})
}

// What is read a second time does not know the times that the first reading learned: these decide
// which times the forge is asked for.
func TestIncremental_readsTheSameTimesAgain(t *testing.T) {
	t.Parallel()
	p := newProcess(t)
	merging := strings.Replace(strings.Replace(twoApplications, "land: push", "land: automerge", 1), "land: push", "land: pr", 1)
	p.write(repo.ConfigFile, merging)
	cart := state.Target{Environment: "staging", Application: "cart"}
	p.decide(state.Hold(cart, state.Act{At: p.Clock.Now()}))
	p.push(worker, "1.1.0")
	p.reconcile()
	p.Clock.Add(2 * time.Hour)
	p.push(worker, "1.2.0")
	p.reconcile()
	p.write(repo.ConfigFile, strings.Replace(merging, "after: [dev]", "after: {dev: {soak: 1h}}", 1))
	p.reconcile() // records a time of 1.2.0 only
	p.decide(state.Resume(cart, state.Act{At: p.Clock.Now()}))
	p.Clock.Add(time.Minute)
	p.push(worker, "1.3.0")

	report := p.reconcile()
	p.wantTouched(report, []string{"cart"})
	i := slices.IndexFunc(report.Decisions, func(d promotion.Decision) bool { return state.Target(d.Target) == cart })
	if d := report.Decisions[i]; len(d.Moves) == 0 || d.Moves[0].To.Tag != "1.1.0" {
		t.Errorf("staging is %s: %s", d.State, d.Reason)
	}
}

// A scan that was remembered wrongly must not decide what is written.
func TestIncremental_readsWhatItWritesAgain(t *testing.T) {
	t.Parallel()
	p := newProcess(t)
	p.files = func(f repo.Files) repo.Files { return &forgetful{Files: f} }
	p.push(worker, "1.1.0")
	report := p.attempt()
	if !strings.Contains(report.Mismatch, "cart in dev") || len(report.Errors) > 0 {
		t.Fatalf("mismatch: %q, errors: %v", report.Mismatch, report.Errors)
	}
	p.wantTouched(report, nil)
	if got := p.Git.FilesOf(p.Git.Branch("main"))["staging/cart.txt"]; !strings.Contains(got, "1.1.0") {
		t.Errorf("the full attempt did not promote: %s", got)
	}
}

// What changes after it was read is found before anything is written.
func TestIncremental_asksAgainBeforeItWrites(t *testing.T) {
	t.Parallel()
	ann := identity.User{Host: "forge.example", Login: "ann"}
	for name, test := range map[string]struct {
		begin, changes func(*process)
		want           string // in dev/cart.txt
	}{
		"a newer version": {
			begin:   func(p *process) { p.push(worker, "1.1.0") },
			changes: func(p *process) { p.push(worker, "1.2.0") },
			want:    "1.2.0",
		},
		"the digest of a tag": {
			begin: func(p *process) {
				p.write("dev/cart.txt", worker+":1.0.0\n")
				p.reconcile()
				p.push(worker, "1.1.0")
			},
			changes: func(p *process) { p.Registry.Push(worker, "1.0.0", "worker 1.1.0", p.Clock.Now()) },
			want:    "1.0.0",
		},
		"a permission to bypass": {
			begin: func(p *process) {
				p.bypasses = &revoked{}
				p.decide(state.Freeze("dev", state.Act{At: p.Clock.Now()}, nil))
				p.push(worker, "1.1.0")
				p.reconcile()
				act := state.Act{By: ann, At: p.Clock.Now(), Reason: "incident 7"}
				request := state.Request{Act: act, With: []string{worker + ":1.1.0"}, Bypass: []string{verb.BypassFreeze}}
				p.decide(state.AddRequest(state.Target{Environment: "dev", Application: "cart"}, request))
			},
			changes: func(p *process) { p.bypasses.(*revoked).now = true },
			want:    "1.0.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProcess(t)
			test.begin(p)
			p.files = func(f repo.Files) repo.Files { return meanwhile{f, func() { test.changes(p) }} }
			report := p.attempt()
			if !strings.Contains(report.Mismatch, "cart in dev") || len(report.Errors) > 0 {
				t.Errorf("mismatch: %q, errors: %v", report.Mismatch, report.Errors)
			}
			if got := p.Git.FilesOf(p.Git.Branch("main"))["dev/cart.txt"]; !strings.Contains(got, ":"+test.want) {
				t.Errorf("dev/cart.txt: %s, want %s", got, test.want)
			}
		})
	}
}

// meanwhile are files, and something that happens when they are read again.
type meanwhile struct {
	repo.Files
	happens func()
}

// Reread implements repo.Files.
func (m meanwhile) Reread(ctx context.Context, tree repo.Tree, target promotion.Target) (promotion.Current, error) {
	m.happens()
	return m.Files.Reread(ctx, tree, target)
}

// revoked is the permission of everyone to bypass everything, until it is revoked.
type revoked struct{ now bool }

// MayBypass implements comments.Bypasses.
func (r *revoked) MayBypass(context.Context, identity.User, string, promotion.Deployment) (comments.Permission, error) {
	return comments.Permission{Allowed: !r.now, Reason: "it was revoked"}, nil
}

// No event reports that a member left a team: what is kept must not decide who approved.
func TestIncremental_approversLeaveBeforeTheMerge(t *testing.T) {
	t.Parallel()
	p := newProcessOf(t, strings.Replace(twoApplications, "after: [dev], land: push",
		`after: [dev], land: automerge, gates: {approvals: {count: 1, from: ["team:acme/carol"]}, checks: [ci]}`, 1))
	p.push(worker, "1.1.0")
	p.reconcile()
	p.wantPulls("promoter/staging/cart open")
	p.Forge.Review(1, "carol", scm.Approved)
	p.reconcile()
	p.Forge.Left = map[string]bool{"carol": true}
	p.Forge.Check(p.pull(1).Head.Commit, "ci", scm.CheckPassed)
	for range 2 {
		p.reconcile()
		p.wantPulls("promoter/staging/cart open")
	}
	p.Forge.Left = nil
	p.reconcile()
	p.wantPulls("promoter/staging/cart merged")
}

// What users did is recorded while something else of the application is written.
func TestIncremental_closesAreKnownAgain(t *testing.T) {
	t.Parallel()
	p := newProcessOf(t, strings.Replace(twoApplications, "after: [dev], land: push", "after: [dev]", 1))
	p.push(web, "1.1.0")
	p.wantTouched(p.reconcile(), []string{"shop"})
	p.wantPulls("promoter/staging/shop open")
	p.Forge.CloseByHand(1, "ada")
	p.push(web, "1.2.0")
	p.wantTouched(p.reconcile(), []string{"shop"})
	p.wantPulls("promoter/staging/shop closed", "promoter/staging/shop open")
}

// An edit that a file refuses leaves out its component alone, also when it is decided again.
func TestIncremental_refusedEditsAreKnownAgain(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, environment := range []string{"dev", "staging"} {
		files[environment+"/all.txt"] = line(web, "1.0.0") + "\n" + line(worker, "1.0.0") + "\n"
	}
	config := strings.ReplaceAll(twoApplications, "{application}", "all")
	p := &process{world: &world{World: reconciletest.New(config, files), t: t}}
	p.files = func(f repo.Files) repo.Files { return refusing{f} }
	p.push(web, "1.0.0")
	p.push(worker, "1.0.0")
	p.reconcile()
	p.push(web, "1.1.0")
	p.push(worker, "1.1.0")
	if report := p.reconcile(); report.Touched == nil {
		t.Error("nothing of the last reconciliation was kept")
	}
	want := line(web, "1.0.0") + "\n" + line(worker, "1.1.0") + "\n"
	if got := p.Git.FilesOf(p.Git.Branch("main"))["dev/all.txt"]; got != want {
		t.Errorf("dev/all.txt:\n%s\nwant\n%s", got, want)
	}
}

// refusing are files in which web cannot be edited.
type refusing struct{ repo.Files }

// At implements repo.Files.
func (f refusing) At(ctx context.Context, c *config.Config, commit string, environments []string) (repo.Tree, error) {
	tree, err := f.Files.At(ctx, c, commit, environments)
	return refusingTree{tree}, err
}

// Reread implements repo.Files.
func (f refusing) Reread(ctx context.Context, tree repo.Tree, target promotion.Target) (promotion.Current, error) {
	return f.Files.Reread(ctx, tree.(refusingTree).Tree, target)
}

type refusingTree struct{ repo.Tree }

// Rewrite implements repo.Tree.
func (t refusingTree) Rewrite(ctx context.Context, target promotion.Target, moves []promotion.Move) (repo.Rewritten, error) {
	rewritten, err := t.Tree.Rewrite(ctx, target, moves)
	for _, move := range moves {
		if move.Component == "web" {
			rewritten.Refusals = append(rewritten.Refusals, edit.Refusal{
				File: target.Environment + "/all.txt", Line: 1, Component: "web", Reason: "it cannot be edited", Unaffected: []string{"worker"},
			})
		}
	}
	return rewritten, err
}

// forgetful are files whose first scan has a version that is not in them.
type forgetful struct {
	repo.Files
	scanned bool
}

// At implements repo.Files.
func (f *forgetful) At(ctx context.Context, c *config.Config, commit string, environments []string) (repo.Tree, error) {
	tree, err := f.Files.At(ctx, c, commit, environments)
	if f.scanned || err != nil {
		return tree, err
	}
	f.scanned = true
	return wrongTree{tree}, nil
}

// Reread implements repo.Files.
func (f *forgetful) Reread(ctx context.Context, tree repo.Tree, target promotion.Target) (promotion.Current, error) {
	if wrong, ok := tree.(wrongTree); ok {
		tree = wrong.Tree
	}
	return f.Files.Reread(ctx, tree, target)
}

type wrongTree struct{ repo.Tree }

// Targets implements repo.Tree.
func (t wrongTree) Targets() map[promotion.Target]promotion.Current {
	targets := t.Tree.Targets()
	for target, current := range targets {
		current.References = slices.Clone(current.References)
		for i := range current.References {
			current.References[i].Tag, current.References[i].Digest = "0.9.0", ""
		}
		targets[target] = current
	}
	return targets
}

func (p *process) write(path, content string) {
	p.t.Helper()
	p.Git.Commit("main", reconciletest.Human, p.Clock.Now(), fmt.Sprintf("Write %s", path), func(all map[string]string) { all[path] = content })
}
