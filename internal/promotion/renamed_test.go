package promotion_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/state"
)

// observed returns files as the targets of a config have them, "prod/shop file", with the heads of then or now.
func observed(t *testing.T, text string, files ...string) promotion.Observation {
	t.Helper()
	c, problems := config.Load(config.FolderEnvironment, []byte(promotiontest.Components+text))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	o := promotion.Observation{Config: c, DefaultBranch: "main", Targets: map[promotion.Target]promotion.Current{}}
	for _, one := range files {
		name, file, _ := strings.Cut(one, " ")
		environment, application, _ := strings.Cut(name, "/")
		file, component, _ := strings.Cut(file, " ")
		if component == "" {
			component = "web"
		}
		at := promotion.Target{Environment: environment, Application: application}
		current := o.Targets[at]
		current.References = append(current.References, edit.Reference{
			Component: component, Repository: promotiontest.Repository(component), Position: edit.Position{File: file},
		})
		o.Targets[at] = current
	}
	return o
}

// past is what a repository had.
type past struct{ files, names []string }

func (p past) Had(branch, file string) bool { return slices.Contains(p.files, branch+":"+file) }

func (p past) Named(target promotion.Target) bool {
	return slices.Contains(p.names, target.Environment+"/"+target.Application)
}

const environmentsThen = `
environments:
  dev: {paths: ["dev/{application}"]}
  prod: {paths: ["prod/{application}"], after: [dev]}
`

// What a decision stops under other names, from where its target was and what the repository has now.
func TestRenamed(t *testing.T) {
	t.Parallel()
	then := []string{"dev/shop dev/shop/a.yaml", "dev/blog dev/blog/a.yaml", "prod/shop prod/shop/a.yaml", "prod/blog prod/blog/a.yaml"}
	before := past{
		files: []string{":dev/shop/a.yaml", ":dev/blog/a.yaml", ":prod/shop/a.yaml", ":prod/blog/a.yaml"},
		names: []string{"dev/shop", "dev/blog", "prod/shop", "prod/blog"},
	}
	renamed := strings.ReplaceAll(environmentsThen, "  prod:", "  production:")
	dummy := strings.ReplaceAll(environmentsThen, "  prod:", "  prod: {paths: [\"none/{application}\"]}\n  production:")
	for name, test := range map[string]struct {
		text       string
		now        []string
		shop       string // what a hold of shop in prod stops elsewhere
		prod       string // what a freeze of prod stops elsewhere
		shopGone   bool
		prodGone   bool
		unreadable bool
	}{
		"nothing":           {text: environmentsThen, now: then},
		"a new application": {text: environmentsThen, now: append(slices.Clone(then), "prod/new prod/new/a.yaml")},
		"the environment": {
			text: renamed, now: []string{"dev/shop dev/shop/a.yaml", "production/shop prod/shop/a.yaml", "production/blog prod/blog/a.yaml"},
			shop: "production/shop files", prod: "production/blog files, production/shop files", shopGone: true, prodGone: true,
		},
		"a swap": {
			text: environmentsThen, now: []string{"prod/shop dev/shop/a.yaml", "dev/shop prod/shop/a.yaml"},
			shop: "dev/shop files", prod: "dev/shop files",
		},
		"an empty environment of the old name": {
			text: dummy, now: []string{"prod/shop none/shop/a.yaml", "production/shop prod/shop/a.yaml"},
			shop: "production/shop files", prod: "production/shop files",
		},
		"the folder of an application": {
			text: environmentsThen, now: []string{"dev/shop dev/shop/a.yaml", "prod/store prod/store/a.yaml", "prod/blog prod/blog/a.yaml"},
			shop: "prod/store appeared", shopGone: true,
		},
		"the folder of an environment": {
			text: renamed, now: []string{"dev/shop dev/shop/a.yaml", "production/shop production/shop/a.yaml"},
			shop: "production/shop appeared", prod: "production/shop appeared", shopGone: true, prodGone: true,
		},
		"the folder, and an environment of the old name": {
			text: dummy, now: []string{"dev/shop dev/shop/a.yaml", "prod/shop none/shop/a.yaml", "production/shop production/shop/a.yaml"},
			shop: "production/shop appeared", prod: "production/shop appeared",
		},
		"all folders under the same names": {
			text: environmentsThen, now: []string{"dev/shop k8s/dev/shop/a.yaml", "dev/blog k8s/dev/blog/a.yaml", "prod/shop k8s/prod/shop/a.yaml"},
		},
		"a removed application": {
			text: environmentsThen, now: []string{"dev/shop dev/shop/a.yaml", "dev/blog dev/blog/a.yaml", "prod/blog prod/blog/a.yaml"},
			shopGone: true,
		},
		"unreadable commits": {
			text: renamed, now: []string{"dev/shop dev/shop/a.yaml", "production/shop production/shop/a.yaml"},
			shop: "dev/shop appeared, production/shop appeared", prod: "dev/shop appeared, production/shop appeared",
			shopGone: true, prodGone: true, unreadable: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shop := state.Target{Environment: "prod", Application: "shop"}
			prod := state.Target{Environment: "prod", Application: state.All}
			act := state.Act{By: identity.User{Login: "ann"}, At: time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC)}
			s, err := state.State{}.Apply(state.Hold(shop, act), state.Freeze("prod", act, nil))
			if err != nil {
				t.Fatal(err)
			}
			for of, where := range promotion.Locations(observed(t, environmentsThen, then...), state.Unlocated(s, state.State{}), map[string]string{"main": "c1"}) {
				if s, err = s.Apply(state.Locate(of, where, state.State{})); err != nil {
					t.Fatal(err)
				}
			}
			o := observed(t, test.text, test.now...)
			o.State = s
			found := promotion.Renamed(o, act.At, func(state.Stop) (promotion.Earlier, bool) { return before, !test.unreadable })
			s = s.WithRenamed(found)
			for of, want := range map[state.Target]string{shop: test.shop, prod: test.prod} {
				var got []string
				for target, all := range found.Targets {
					for _, m := range all {
						if m.Of == of {
							got = append(got, fmt.Sprintf("%s/%s %s", target.Environment, target.Application, m.How))
						}
					}
				}
				slices.Sort(got)
				if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
					t.Errorf("%v (-want +got):\n%s", of, diff)
				}
				gone := slices.ContainsFunc(s.Gone(), func(stop state.Stop) bool { return stop.Of == of })
				if wanted := of == shop && test.shopGone || of == prod && test.prodGone; gone != wanted {
					t.Errorf("%v is gone: %t", of, gone)
				}
			}
		})
	}
}

// Without a location, only the names show what a decision whose target is gone was about.
func TestRenamed_withoutALocation(t *testing.T) {
	t.Parallel()
	now := []string{"dev/shop dev/shop/a.yaml", "dev/blog dev/blog/a.yaml", "prod/blog prod/blog/a.yaml"}
	for of, want := range map[state.Target]string{
		{Environment: "dev", Application: "shop"}:        "",
		{Environment: "prod", Application: "shop"}:       "blog in prod",
		{Environment: "old", Application: "shop"}:        "shop in dev",
		{Environment: "old", Application: "none"}:        "blog in dev, shop in dev, blog in prod",
		{Environment: "old", Application: state.All}:     "blog in dev, shop in dev, blog in prod",
		{Environment: state.All, Application: state.All}: "",
	} {
		o := observed(t, environmentsThen, now...)
		o.State, _ = state.State{}.Apply(state.Hold(of, state.Act{By: identity.User{Login: "ann"}}))
		s := o.State.WithRenamed(promotion.Renamed(o, time.Time{}, nil))
		var got []string
		for _, stop := range s.Stops(time.Time{}) {
			for _, target := range s.Elsewhere(stop) {
				got = append(got, target.String())
			}
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%v stops %s, want %s", of, text, want)
		}
	}
}

// Applications of components share files: their images distinguish them, under any name.
func TestRenamed_sharedFiles(t *testing.T) {
	t.Parallel()
	text := "\nenvironments:\n  prod: {paths: [prod], applications: {by: component}}\n"
	o := observed(t, text, "prod/web prod/values.yaml web", "prod/worker prod/values.yaml worker")
	web := state.Target{Environment: "prod", Application: "web"}
	location := promotion.Locations(o, []state.Target{web}, nil)[web]
	if diff := cmp.Diff([]string{promotiontest.Repository("web").String()}, location.Images); diff != "" {
		t.Fatal(diff)
	}
	act := state.Act{By: identity.User{Login: "ann"}, Location: &location}
	now := observed(t, text, "prod/site prod/values.yaml web", "prod/worker prod/values.yaml worker")
	now.State, _ = state.State{}.Apply(state.Hold(web, act))
	found := promotion.Renamed(now, time.Time{}, nil)
	if site := (state.Target{Environment: "prod", Application: "site"}); len(found.Targets) != 1 || len(found.Targets[site]) != 1 {
		t.Errorf("%+v", found.Targets)
	}
}

// A location is bounded: many files are their folders.
func TestLocations_areBounded(t *testing.T) {
	t.Parallel()
	var files []string
	for i := range 3 * state.MaxLocations {
		files = append(files, fmt.Sprintf("prod/shop prod/shop/%d/%d.yaml", i/30, i))
	}
	shop := state.Target{Environment: "prod", Application: "shop"}
	got := promotion.Locations(observed(t, environmentsThen, files...), []state.Target{shop}, nil)[shop]
	if diff := cmp.Diff([]string{"prod/shop/0/", "prod/shop/1/", "prod/shop/2/", "prod/shop/3/", "prod/shop/4/"}, got.Files); diff != "" {
		t.Error(diff)
	}
}
