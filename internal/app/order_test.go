package app_test

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/app"
	"promoter/internal/fault"
)

func TestDecide_saysWhetherItStoodThereAlready(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.repository("acme/gitops", webIn("push"))
	server := f.open(insecureRegistry, "acme/gitops")
	for _, step := range []struct {
		verb  app.Verb
		stood bool
	}{{app.VerbThaw, true}, {app.VerbHold, false}, {app.VerbResume, false}, {app.VerbFreeze, false}, {app.VerbThaw, false}, {app.VerbThaw, true}} {
		carried, err := app.Decide(t.Context(), server, app.Order{Verb: step.verb, Environment: "dev"})
		if err != nil || carried.Stood != step.stood {
			t.Errorf("%s: stood %v, %v, want %v", step.verb, carried.Stood, err, step.stood)
		}
	}
}

// A decision about one application everywhere is not called one about all.
func TestDecide_theSubjectNamesTheApplication(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	repository := f.repository("acme/gitops", map[string]string{
		".promoter.yaml": "version: 1\ncomponents:\n  web: {image: $R/acme/web, select: {semver: \">=1\"}}\n" +
			"environments:\n  dev: {paths: [\"{application}/dev\"], land: push}\n  prod: {paths: [\"{application}/prod\"], land: push, after: [dev]}\n",
		"shop/dev/app.yaml":  "image: $R/acme/web:1.4.0\n",
		"shop/prod/app.yaml": "image: $R/acme/web:1.4.0\n",
		"blog/dev/app.yaml":  "image: $R/acme/web:1.4.0\n",
	})
	server := f.open(insecureRegistry, "acme/gitops")
	for _, step := range []struct {
		order app.Order
		want  string
	}{
		{app.Order{Application: "shop"}, "Hold shop everywhere in the repository"},
		{app.Order{Application: "shop", Environment: "prod", Reason: "so"}, "Hold shop in prod: so"},
		{app.Order{Environment: "dev", Reason: "two\nlines"}, "Hold dev: two lines"},
		{app.Order{}, "Hold the repository"},
	} {
		step.order.Verb = app.VerbHold
		if _, err := app.Decide(t.Context(), server, step.order); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(repository.Git("log", "-1", "--format=%B", "promoter/_state")); got != step.want {
			t.Errorf("%+v: %q, want %q", step.order, got, step.want)
		}
	}
}

func TestDecide_tooManyVersions(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	order := app.Order{Verb: app.VerbPromote, Environment: "dev"}
	for i := range 101 {
		order.With = append(order.With, fmt.Sprintf("quay.io/acme/web:%d", i))
	}
	_, err := app.Decide(t.Context(), f.open("", "acme/gitops"), order)
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "--with names more than 100 versions") {
		t.Error(err)
	}
}

func TestDecide_namesThatTheRepositoryDoesNotHave(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.repository("acme/gitops", webIn("push"))
	f.repository("acme/wrong", map[string]string{".promoter.yaml": "version: 1\nfoo: 1\nbar: 1\n"})
	for _, step := range []struct {
		repository string
		order      app.Order
		want       string
	}{
		{"acme/gitops", app.Order{Environment: "prod"}, "there is no environment prod here; there are dev"},
		{"acme/gitops", app.Order{Application: "shop"}, "there is no application shop here; there are default"},
		{"acme/wrong", app.Order{}, "the config cannot be used: .promoter.yaml:"},
	} {
		step.order.Verb = app.VerbHold
		_, err := app.Decide(t.Context(), f.open(insecureRegistry, step.repository), step.order)
		if err == nil || !strings.Contains(err.Error(), step.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want %q", step, err, step.want)
		}
	}
}
