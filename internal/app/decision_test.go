package app_test

import (
	"slices"
	"strings"
	"testing"

	"promoter/internal/decision"
	"promoter/internal/verb"
)

func TestRecordDecision_reportsIfUnchanged(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.repository("acme/gitops", webIn("push"))
	server := f.open(insecureRegistry, "acme/gitops")
	for _, step := range []struct {
		verb      verb.Verb
		unchanged bool
	}{{verb.Thaw, true}, {verb.Hold, false}, {verb.Resume, false}, {verb.Freeze, false}, {verb.Thaw, false}, {verb.Thaw, true}} {
		result, err := decision.Record(t.Context(), server, decision.Decision{Verb: step.verb, Environment: "dev"}, "")
		if err != nil || result.Unchanged != step.unchanged {
			t.Errorf("%s: unchanged %v, %v, want %v", step.verb, result.Unchanged, err, step.unchanged)
		}
	}
}

// The user of a decision is the account that the forge authenticates. The credential of the
// server file is promoter's own, and no user decided as promoter.
func TestRecordDecision_user(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	repository := f.repository("acme/gitops", webIn("push"))
	repository.Settings.Permit("ada", "read")
	repository.Settings.Permit("helper[bot]", "write")
	for _, test := range []struct {
		token, as string // of a user
		want      string // login, or the error
	}{
		{"ada", "", "ada"},
		{"ada", "eve", "unverified: eve"},
		{"", "unverified: ada\n", "unverified: ada"},
		{"", "", "unverified: Ada Lovelace"},
		{"helper[bot]", "", "PROMOTER_USER_TOKEN belongs to helper[bot], which is not the account of a user"},
	} {
		server := f.open(insecureRegistry, "acme/gitops")
		if test.token != "" {
			env, token := server.Server.Env, f.github.Token(test.token, "repo")
			server.Server.Env = func(name string) (string, bool) {
				if name == "PROMOTER_USER_TOKEN" {
					return token, true
				}
				return env(name)
			}
		}
		d := decision.Decision{Verb: verb.Freeze, Environment: "dev", As: test.as, Claimed: "Ada\tLovelace"}
		result, err := decision.Record(t.Context(), server, d, "")
		got := result.By.Login
		if err != nil {
			got = err.Error()
		}
		if got != test.want || result.By.Verified() != (got == "ada") {
			t.Errorf("%+v: %s, verified %v", test, got, result.By.Verified())
		}
	}
}

// A decision about one application everywhere is not described as one about all.
func TestRecordDecision_subjectNamesTheApplication(t *testing.T) {
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
		decision decision.Decision
		want     string
	}{
		{decision.Decision{Application: "shop", Environment: "prod", Reason: "so"}, "Hold shop in prod: so"},
		{decision.Decision{Application: "shop", All: true}, "Hold shop everywhere in the repository"},
		{decision.Decision{Environment: "dev", All: true, Reason: "two\nlines"}, "Hold dev: two lines"},
		{decision.Decision{All: true}, "Hold the repository"},
	} {
		step.decision.Verb = verb.Hold
		if _, err := decision.Record(t.Context(), server, step.decision, ""); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(repository.Git.Run("log", "-1", "--format=%B", "promoter/_state")); got != step.want {
			t.Errorf("%+v: %q, want %q", step.decision, got, step.want)
		}
	}
}

// A pattern of applications is expanded when it is recorded: the answer and the commit name each of them, and an
// application that appears later is not among them.
func TestRecordDecision_listsWhatAPatternMatches(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	files := map[string]string{
		".promoter.yaml": "version: 1\ncomponents:\n  web: {image: $R/acme/web, select: {semver: \">=1\"}}\n" +
			"environments:\n  dev: {paths: [\"{application}/dev\"], land: push}\n",
		"blog/dev/app.yaml": "image: $R/acme/web:1.4.0\n",
	}
	want := []string{"shop-api", "shop-cart", "shop-mail", "shop-pay", "shop-web"}
	for _, name := range want {
		files[name+"/dev/app.yaml"] = "image: $R/acme/web:1.4.0\n"
	}
	repository := f.repository("acme/gitops", files)
	server := f.open(insecureRegistry, "acme/gitops")
	result, err := decision.Record(t.Context(), server, decision.Decision{Verb: verb.Hold, Environment: "dev", Application: "shop-*"}, "")
	if err != nil {
		t.Fatal(err)
	}
	var targets, listed []string
	for _, target := range result.Targets {
		targets = append(targets, target.Application)
	}
	message := repository.Git.Run("log", "-1", "--format=%B", "promoter/_state")
	for line := range strings.Lines(message) {
		if name, is := strings.CutPrefix(line, "- "); is {
			listed = append(listed, strings.TrimSuffix(strings.TrimSpace(name), " in dev"))
		}
	}
	held := strings.Fields(repository.Git.Run("ls-tree", "-r", "--name-only", "promoter/_state"))
	held = slices.DeleteFunc(held, func(path string) bool { return !strings.HasPrefix(path, "dev/") })
	if !slices.Equal(targets, want) || !slices.Equal(listed, want) || len(held) != len(want) {
		t.Errorf("the answer has %v, the commit %q, the branch %v", targets, message, held)
	}
}

func TestRecordDecision_unknownNames(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.repository("acme/gitops", webIn("push"))
	f.repository("acme/wrong", map[string]string{".promoter.yaml": "version: 1\nfoo: 1\nbar: 1\n"})
	for _, step := range []struct {
		repository string
		decision   decision.Decision
		want       string
	}{
		{"acme/gitops", decision.Decision{Environment: "prod"}, "there is no environment prod here; there are dev"},
		{"acme/gitops", decision.Decision{Application: "shop"}, "there is no application shop here; there are default"},
		{"acme/wrong", decision.Decision{}, "the config cannot be used: .promoter.yaml:"},
	} {
		step.decision.Verb = verb.Hold
		_, err := decision.Record(t.Context(), f.open(insecureRegistry, step.repository), step.decision, "")
		if err == nil || !strings.Contains(err.Error(), step.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want %q", step, err, step.want)
		}
	}
}
