package cache_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/config/trust"
	"promoter/internal/drift"
	"promoter/internal/edit"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/reconcile/cache"
	"promoter/internal/repo"
	"promoter/internal/state"
)

const configured = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  worker: {image: quay.io/acme/worker, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.yaml"], land: push}
  staging: {paths: ["staging/{application}.yaml"], after: [dev], land: push, branch: env/staging}
`

func load(t *testing.T, text string) *config.Config {
	t.Helper()
	loaded, problems := config.Load(repo.ConfigFile, []byte(text))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return loaded
}

func in(environment, application string) promotion.Target {
	return promotion.Target{Environment: environment, Application: application}
}

func repositoryOf(t *testing.T, name string) image.Repository {
	t.Helper()
	parsed, err := image.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Repository
}

// files returns what is found in files with one reference.
func files(t *testing.T, name, tag string) promotion.Current {
	t.Helper()
	return promotion.Current{References: []edit.Reference{{Component: name, Repository: repositoryOf(t, "quay.io/acme/"+name), Tag: tag}}}
}

// read is a repository with shop, which has web, and cart, which has worker.
func read(t *testing.T) cache.Read {
	t.Helper()
	return cache.Read{
		Heads: map[string]string{"main": "m1", "env/staging": "s1"},
		Ours:  map[string]bool{},
		Promotion: promotion.Observation{
			Config: load(t, configured), DefaultBranch: "main",
			Targets: map[promotion.Target]promotion.Current{
				in("dev", "shop"): files(t, "web", "1.0.0"), in("staging", "shop"): files(t, "web", "1.0.0"),
				in("dev", "cart"): files(t, "worker", "1.0.0"), in("staging", "cart"): files(t, "worker", "1.0.0"),
			},
		},
	}
}

// unwritten is a history without new commits.
func unwritten(string, string) ([]promotion.Target, bool) { return nil, true }

func TestTouched_byWhatDiffers(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC)
	act := state.Act{By: identity.User{Login: "ada"}, At: at}
	everything := []string{"everything"}
	for name, test := range map[string]struct {
		before  func(*cache.Read, *cache.Decided)
		now     func(*cache.Read, *cache.Changed)
		written cache.Written
		want    []string
	}{
		"nothing": {},
		"another config": {
			now:  func(r *cache.Read, _ *cache.Changed) { r.Promotion.Config = load(t, configured+"# more\n") },
			want: everything,
		},
		"another default branch": {
			now:  func(r *cache.Read, _ *cache.Changed) { r.Promotion.DefaultBranch = "trunk" },
			want: everything,
		},
		"pull requests were disabled": {
			now:  func(r *cache.Read, _ *cache.Changed) { r.Promotion.PushOnly = true },
			want: everything,
		},
		"a decision that reads the time": {
			before: func(_ *cache.Read, d *cache.Decided) {
				d.Reads = map[string]input.Reads{"shop": input.Time, "cart": input.Files | input.Registry}
			},
			want: []string{"shop"},
		},
		"other files": {
			now: func(r *cache.Read, _ *cache.Changed) {
				r.Promotion.Targets[in("staging", "cart")] = files(t, "worker", "1.1.0")
			},
			want: []string{"cart"},
		},
		"files of a new application": {
			now: func(r *cache.Read, _ *cache.Changed) {
				r.Promotion.Targets[in("dev", "new")] = promotion.Current{}
			},
			want: []string{"new"},
		},
		"files that are gone": {
			now:  func(r *cache.Read, _ *cache.Changed) { delete(r.Promotion.Targets, in("dev", "shop")) },
			want: []string{"shop"},
		},
		"a refused file": {
			now: func(r *cache.Read, _ *cache.Changed) {
				current := r.Promotion.Targets[in("dev", "shop")]
				current.Refusals = []edit.Refusal{{Reason: "it is a template"}}
				r.Promotion.Targets[in("dev", "shop")] = current
			},
			want: []string{"shop"},
		},
		"a hold in a file": {
			now: func(r *cache.Read, _ *cache.Changed) {
				current := r.Promotion.Targets[in("dev", "cart")]
				current.Holds = []edit.Hold{{Position: edit.Position{File: "dev/cart.yaml"}}}
				r.Promotion.Targets[in("dev", "cart")] = current
			},
			want: []string{"cart"},
		},
		"a user decision": {
			now: func(r *cache.Read, _ *cache.Changed) {
				r.Promotion.State, _ = r.Promotion.State.Apply(state.Hold(state.Target(in("dev", "cart")), act))
			},
			want: []string{"cart"},
		},
		"a user decision about an environment": {
			now: func(r *cache.Read, _ *cache.Changed) {
				r.Promotion.State, _ = r.Promotion.State.Apply(state.Freeze("dev", act, nil))
			},
			want: everything,
		},
		"a branch of ours": {
			now:  func(r *cache.Read, _ *cache.Changed) { r.Ours["promoter/staging/shop"] = true },
			want: []string{"shop"},
		},
		"a branch of ours that is gone": {
			before: func(r *cache.Read, _ *cache.Decided) { r.Ours["promoter/staging/cart"] = true },
			want:   []string{"cart"},
		},
		"a branch of a whole environment": {
			now:  func(r *cache.Read, _ *cache.Changed) { r.Ours[promotion.GroupBranch("staging")] = true },
			want: everything,
		},
		"new commits": {
			written: func(branch, known string) ([]promotion.Target, bool) {
				if branch != "env/staging" {
					return nil, true
				}
				if known != "s1" {
					t.Errorf("it reads to %s", known)
				}
				return []promotion.Target{in("staging", "cart")}, true
			},
			want: []string{"cart"},
		},
		"a branch that was moved back": {
			written: func(branch, _ string) ([]promotion.Target, bool) { return nil, branch == "main" },
			want:    everything,
		},
		"an event about an image": {
			now: func(_ *cache.Read, c *cache.Changed) {
				worker := repositoryOf(t, "quay.io/acme/worker")
				c.Image = func(r image.Repository) bool { return r == worker }
			},
			want: []string{"cart"},
		},
		"an event about a mirror": {
			before: func(r *cache.Read, _ *cache.Decided) {
				r.Promotion.Targets[in("dev", "shop")].References[0].Mirror = repositoryOf(t, "mirror.example.com/web")
			},
			now: func(r *cache.Read, c *cache.Changed) {
				mirror := repositoryOf(t, "mirror.example.com/web")
				r.Promotion.Targets[in("dev", "shop")].References[0].Mirror = mirror
				c.Image = func(r image.Repository) bool { return r == mirror }
			},
			want: []string{"shop"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, now := read(t), read(t)
			now.Promotion.Config = before.Promotion.Config
			var decided cache.Decided
			if test.before != nil {
				test.before(&before, &decided)
			}
			var changed cache.Changed
			if test.now != nil {
				test.now(&now, &changed)
			}
			written := test.written
			if written == nil {
				written = unwritten
			}
			touched, partial := cache.New(before, decided, nil).Touched(now, changed, written)
			got := slices.Sorted(maps.Keys(touched))
			if !partial {
				got = everything
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("touched (-want +got):\n%s", diff)
			}
		})
	}
}

// What an incremental reconciliation does not decide about reads what it read before, and its images are known.
func TestNew_continuesAnEntry(t *testing.T) {
	t.Parallel()
	mirrored := files(t, "worker", "1.0.0")
	mirrored.References[0].Mirror = repositoryOf(t, "mirror.example.com/worker")
	for name, test := range map[string]struct {
		cart  promotion.Current // what is in its files now
		image string            // which an event names
		want  map[string]bool
	}{
		"the same image":     {files(t, "worker", "1.1.0"), "quay.io/acme/worker", map[string]bool{"shop": true, "cart": true}},
		"another image":      {files(t, "web", "1.0.0"), "quay.io/acme/web", map[string]bool{"shop": true, "cart": true}},
		"an image no more":   {files(t, "web", "1.0.0"), "quay.io/acme/worker", map[string]bool{"shop": true}},
		"a mirror":           {mirrored, "mirror.example.com/worker", map[string]bool{"shop": true, "cart": true}},
		"an image of no one": {files(t, "worker", "1.0.0"), "quay.io/acme/other", map[string]bool{"shop": true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := read(t)
			reads := map[string]input.Reads{"shop": input.Health, "cart": input.Time}
			entry := cache.New(before, cache.Decided{Reads: reads}, nil)
			now := read(t)
			now.Promotion.Config = before.Promotion.Config
			now.Promotion.Applications = map[string]bool{"cart": true}
			now.Promotion.Targets[in("dev", "cart")] = test.cart
			now.Promotion.Targets[in("staging", "cart")] = test.cart
			entry = cache.New(now, cache.Decided{Reads: map[string]input.Reads{"cart": input.Files}}, entry)

			touched, _ := entry.Touched(now, cache.Changed{}, unwritten)
			if diff := cmp.Diff(map[string]bool{"shop": true}, touched); diff != "" {
				t.Errorf("touched without an event (-want +got):\n%s", diff)
			}
			named := repositoryOf(t, test.image)
			touched, _ = entry.Touched(now, cache.Changed{Image: func(r image.Repository) bool { return r == named }}, unwritten)
			if diff := cmp.Diff(test.want, touched); diff != "" {
				t.Errorf("touched by the event (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecisions_replacesThoseOfTouchedApplications(t *testing.T) {
	t.Parallel()
	decision := func(environment, application string, s promotion.State) promotion.Decision {
		return promotion.Decision{Target: in(environment, application), State: s}
	}
	before := read(t)
	entry := cache.New(before, cache.Decided{Decisions: []promotion.Decision{
		decision("dev", "cart", promotion.Same), decision("dev", "old", promotion.Same), decision("dev", "shop", promotion.Same),
		decision("staging", "cart", promotion.Same), decision("staging", "shop", promotion.Same),
	}}, nil)
	o := before.Promotion
	o.Applications = map[string]bool{"cart": true, "new": true, "old": true}
	got := entry.Decisions([]promotion.Decision{
		decision("dev", "cart", promotion.Proposed), decision("dev", "new", promotion.Waiting),
		decision("staging", "cart", promotion.Waiting),
	}, o)
	want := []promotion.Decision{
		decision("dev", "cart", promotion.Proposed), decision("dev", "new", promotion.Waiting), decision("dev", "shop", promotion.Same),
		decision("staging", "cart", promotion.Waiting), decision("staging", "shop", promotion.Same),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

func TestAttempts_keepsThoseOfOtherApplications(t *testing.T) {
	t.Parallel()
	entry := cache.New(read(t), cache.Decided{Attempts: map[promotion.Target]map[string]int{
		in("dev", "shop"): {"a": 1}, in("dev", "cart"): {"b": 1},
	}}, nil)
	now := map[promotion.Target]map[string]int{in("dev", "cart"): {"b": 2}}
	want := map[promotion.Target]map[string]int{in("dev", "shop"): {"a": 1}, in("dev", "cart"): {"b": 2}}
	if diff := cmp.Diff(want, entry.Attempts(now, map[string]bool{"cart": true})); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	if len(now) != 1 {
		t.Error("it changed what was read now")
	}
}

func TestRules_haveThoseOfOtherApplications(t *testing.T) {
	t.Parallel()
	before := read(t)
	old, current := new(image.Policy), new(image.Policy)
	before.Promotion.Policies = map[string]*image.Policy{"web": old, "worker": old}
	before.Promotion.Verify = map[string][]trust.Requirement{"web": {{}}, "worker": {{}}}
	o := cache.New(before, cache.Decided{}, nil).Rules(promotion.Observation{
		Policies: map[string]*image.Policy{"worker": current}, Verify: map[string][]trust.Requirement{"worker": {{}, {}}},
	})
	if o.Policies["web"] != old || o.Policies["worker"] != current {
		t.Errorf("policies: %v", o.Policies)
	}
	if len(o.Verify["web"]) != 1 || len(o.Verify["worker"]) != 2 {
		t.Errorf("signatures: %v", o.Verify)
	}
	if before.Promotion.Policies["worker"] != old {
		t.Error("it changed the entry")
	}
}

// Where other references differ, or more was found than is kept, all drift is looked for.
func TestDrift_isFoundAgain(t *testing.T) {
	t.Parallel()
	kept := []drift.Drift{{Kind: drift.Missing, Environment: "staging", Application: "shop"}}
	o := read(t)
	o.Promotion.Applications = map[string]bool{"cart": true}
	observed := drift.Observed{Promotion: o.Promotion, Others: map[string][]edit.Reference{"main": {{Component: "x"}}}}
	for name, test := range map[string]struct {
		before cache.Decided
		stays  bool
	}{
		"nothing else touched": {cache.Decided{Drift: kept, Others: observed.Others}, true},
		"other references":     {cache.Decided{Drift: kept}, false},
		"more than is kept":    {cache.Decided{Drift: slices.Repeat(kept, drift.MaxFound), Others: observed.Others}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := cache.New(o, test.before, nil).Drift(observed)
			stays := slices.ContainsFunc(found, func(d drift.Drift) bool { return d.Target() == in("staging", "shop") })
			if stays != test.stays {
				t.Errorf("that of shop stays: %v, want %v: %+v", stays, test.stays, found)
			}
		})
	}
}
