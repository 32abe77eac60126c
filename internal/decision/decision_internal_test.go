package decision

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
	"promoter/internal/verb"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range state.MaxVersions + 1 {
		many = append(many, fmt.Sprintf("quay.io/acme/web:%d", i))
	}
	for _, test := range []struct {
		decision Decision
		want     string // in the error; empty: valid
	}{
		{Decision{Verb: verb.Hold}, ""},
		{Decision{Verb: verb.Reject, Images: []string{"web:1"}}, ""},
		{Decision{Verb: verb.Reject}, "reject needs what to reject"},
		{Decision{Verb: verb.Unreject}, "unreject needs what to unreject"},
		{Decision{Verb: verb.ConfirmState, Environment: "prod"}, "confirm-state is about the whole repository"},
		{Decision{Verb: verb.Hold, Environment: "prod", Application: "shop", All: true}, "--all is for what is not named"},
		{Decision{Verb: verb.Promote}, "promote needs the environment"},
		{Decision{Verb: verb.Rollback, Application: "shop"}, "rollback needs the environment"},
		{Decision{Verb: verb.Rollback, Environment: "dev", Bypass: []string{"windows", "approvals", "checks", "freeze"}, Reason: "incident"}, ""},
		{Decision{Verb: verb.Rollback, Environment: "dev", Bypass: []string{"windows"}}, "--bypass needs a --reason"},
		{Decision{Verb: verb.Rollback, Environment: "dev", Bypass: []string{"soak"}, Reason: "incident"}, "--bypass soak: a rollback does not wait for it, only for checks, windows, approvals, freeze"},
		{Decision{Verb: verb.Rollback, Environment: "dev", Bypass: []string{"hold"}, Reason: "incident"}, "--bypass hold: want one of checks, windows, approvals, freeze"},
		{Decision{Verb: verb.Promote, Environment: "dev", Bypass: []string{"hold"}, Reason: "incident"}, "--bypass hold: want one of soak"},
		{Decision{Verb: verb.Hold, Bypass: []string{"windows"}, Reason: "incident"}, "hold bypasses nothing"},
		{Decision{Verb: verb.Freeze, Application: "shop"}, "freeze applies to a whole environment"},
		{Decision{Verb: verb.Thaw, Application: "shop"}, "thaw applies to a whole environment"},
		{Decision{Verb: verb.Promote, Environment: "dev", With: many}, "--with names more than 100 versions"},
		{Decision{Verb: verb.Promote, Environment: "dev", With: []string{"quay.io/acme/web:!"}}, "quay.io/acme/web:!"},
	} {
		err := test.decision.validate()
		if test.want == "" && err != nil || test.want != "" && (fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v: %v, want %q", test.decision, err, test.want)
		}
	}
}

func TestSelectTargets(t *testing.T) {
	t.Parallel()
	applications := map[string][]string{"prod": {"blog", "shop", "shop-api"}, "dev": {"shop"}}
	for _, test := range []struct {
		application string
		in          []string
		want        string
	}{
		{"", []string{"prod"}, "blog in prod, shop in prod, shop-api in prod"},
		{"shop", []string{"prod", "dev"}, "shop in prod, shop in dev"},
		{"shop*", []string{"prod"}, "shop in prod, shop-api in prod"},
		{"*", []string{"dev"}, "shop in dev"},
		{"*log", []string{"prod"}, "blog in prod"},
	} {
		targets, err := selectTargets(Decision{Verb: verb.Hold, Application: test.application}, test.in, applications)
		if got := namesOf(targets, 10); err != nil || got != test.want {
			t.Errorf("%q in %v: %s, %v", test.application, test.in, got, err)
		}
	}
	for _, d := range []Decision{
		{Verb: verb.Promote, Environment: "prod", With: []string{"quay.io/acme/web:1"}},
		{Verb: verb.Hold, Environment: "prod", Application: "wiki*"},
	} {
		if _, err := selectTargets(d, []string{"prod"}, applications); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%+v: %v", d, err)
		}
	}
	if _, err := selectTargets(Decision{Verb: verb.Promote, Environment: "prod"}, []string{"prod"}, nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("without applications: %v", err)
	}
}

// A command that an error prints can be pasted into a shell.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]Decision{
		`promoter hold --env prod --reason "incident 42, \"db\"" --repo acme/gitops --all`: {
			Verb: verb.Hold, Environment: "prod", Reason: `incident 42, "db"`, Flags: " --repo acme/gitops", All: true,
		},
		`promoter unreject web:1.4.2 --app "shop*" --all`:              {Verb: verb.Unreject, Application: "shop*", Images: []string{"web:1.4.2"}, All: true},
		`promoter promote --to prod --with web:1 --bypass soak,checks`: {Verb: verb.Promote, Environment: "prod", With: []string{"web:1"}, Bypass: []string{"soak", "checks"}},
		`promoter rollback --env prod --to 58b5d4a --all --dry-run`:    {Verb: verb.Rollback, Environment: "prod", To: "58b5d4a", All: true, DryRun: true},
	} {
		if got := commandLine(d); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestParseImage(t *testing.T) {
	t.Parallel()
	loaded, problems := config.Load(".promoter.yaml", []byte(`version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  tools: {image: "quay.io/tools/*", select: {semver: ">=1"}}
environments:
  dev: {paths: [dev], land: push}
`))
	if problems.Err() != nil {
		t.Fatal(problems.Err())
	}
	digest := "@sha256:" + strings.Repeat("0", 64)
	for text, want := range map[string]string{
		"web:1.0.0":                       "web quay.io/acme/web:1.0.0",
		"web" + digest:                    "web quay.io/acme/web" + digest,
		"quay.io/acme/web:1.0.0" + digest: "web quay.io/acme/web:1.0.0" + digest,
		"quay.io/tools/lint:2":            " quay.io/tools/lint:2",
		"tools:2":                         "tools stands for many repositories",
		"web":                             "names no version",
		"quay.io/acme/other:1":            "no component follows quay.io/acme/other; the components are tools, web",
		"UPPER:1":                         "the components are tools, web",
	} {
		component, reference, err := parseImage(Decision{}, repository{config: loaded, covers: func(promotion.Target) bool { return true }}, text)
		got := component + " " + reference.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// To a user whose scope has limits, a component to which no file in the scope refers is as one that does not
// exist, and its repository is not named.
func TestParseImage_ofAScope(t *testing.T) {
	t.Parallel()
	loaded, problems := config.Load(".promoter.yaml", []byte(`version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  keys: {image: quay.io/secret/keys, select: {semver: ">=1"}}
  vault: {image: quay.io/secret/vault, select: {semver: ">=1"}, only: {applications: [vault]}}
environments:
  dev: {paths: ["dev/{application}"], land: push}
`))
	if problems.Err() != nil {
		t.Fatal(problems.Err())
	}
	web, err := image.Parse("quay.io/acme/web:1")
	if err != nil {
		t.Fatal(err)
	}
	known := &usage{components: map[string]bool{}, repositories: map[image.Repository]bool{}}
	known.add(loaded, promotion.Target{Environment: "dev", Application: "shop"}, []edit.Reference{{Repository: web.Repository}})
	scoped := repository{config: loaded, known: known, covers: func(target promotion.Target) bool {
		return target.Environment == "dev" && (target.Application == "" || target.Application == "shop")
	}}
	about := Decision{Application: "shop"}
	for _, hidden := range []string{"keys", "vault", "quay.io/secret/keys", "quay.io/secret/vault"} {
		absent := strings.NewReplacer("keys", "none", "vault", "none").Replace(hidden)
		_, _, err := parseImage(about, scoped, hidden+":1")
		_, _, want := parseImage(about, scoped, absent+":1")
		if err == nil || want == nil || strings.ReplaceAll(err.Error(), hidden, absent) != want.Error() || !strings.Contains(want.Error(), "the components are web") {
			t.Errorf("%s: %v, want as %v", hidden, err, want)
		}
		if named, err := withRepositories([]string{hidden + ":1"}, scoped); err != nil || named[0] != hidden+":1" {
			t.Errorf("with %s: %v, %v", hidden, named, err)
		}
	}
	if component, reference, err := parseImage(about, scoped, "web:1"); err != nil || component != "web" || reference.Tag != "1" {
		t.Errorf("web: %s %v, %v", component, reference, err)
	}
}

// What a decision records can be read again, with and without a tag or digest.
func TestImagesOf_canBeParsed(t *testing.T) {
	t.Parallel()
	web, err := image.Parse("quay.io/acme/web")
	if err != nil {
		t.Fatal(err)
	}
	digest := "sha256:" + strings.Repeat("0", 64)
	for want, version := range map[string]image.Version{
		"quay.io/acme/web:1":           {Tag: "1"},
		"quay.io/acme/web@" + digest:   {Digest: digest},
		"quay.io/acme/web:1@" + digest: {Tag: "1", Digest: digest},
	} {
		got := promotion.Pinned{Repository: web.Repository, Version: version}.Reference()
		if _, err := image.Parse(got); err != nil || got != want {
			t.Errorf("%s: %s, %v", want, got, err)
		}
	}
}
