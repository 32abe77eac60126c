package github_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/github"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/scm/scmtest"
	"promoter/internal/secret"
)

// seedApp returns the seed with an App that is installed on acme.
func seedApp(t *testing.T, key string) string {
	t.Helper()
	var all object
	if err := json.Unmarshal([]byte(seed), &all); err != nil {
		t.Fatal(err)
	}
	all["apps"] = []object{{
		"app_id": 4711, "slug": "promoter", "name": "promoter", "private_key": key, "permissions": granted(),
		"installations": []object{{"installation_id": 42, "account": "acme"}},
	}}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The emulator independently verifies what an App signs, and creates tokens. It does
// not list the repositories of an installation, and lets it act as the organization.
func TestApp_emulator(t *testing.T) {
	t.Parallel()
	fake := githubtest.New(t, githubtest.Options{})
	key, wrong := fake.NewApp("one", granted()).Key(), fake.NewApp("two", granted()).Key()
	e := seedEmulator(t, seedApp(t, key))
	options := github.AppOptions{URL: e.url, API: e.url + "/", ID: "4711", Key: secret.New(key), HTTP: http.DefaultClient, Now: time.Now}
	app, err := github.NewApp(options)
	if err != nil {
		t.Fatal(err)
	}
	made := e.bench(t)
	if _, err := app.Installations(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := app.InstallationOf(t.Context(), made.Name)
	if err != nil || found.ID != 42 || found.Account != "acme" || found.Suspended {
		t.Fatalf("got %+v, %v", found, err)
	}
	if err := app.Check(t.Context(), found); err != nil {
		t.Error(err)
	}
	forge, err := app.Use(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	if holds, err := forge.Holds(t.Context(), made.Name, "a.yaml"); !holds || err != nil {
		t.Errorf("a.yaml is there: %t, %v", holds, err)
	}
	if holds, err := forge.Holds(t.Context(), made.Name, ".promoter.yaml"); holds || err != nil {
		t.Errorf(".promoter.yaml is there: %t, %v", holds, err)
	}
	repository, err := forge.Open(t.Context(), made.Name)
	if err != nil || !repository.Info().MayPush || repository.Info().Self.Login != "promoter[bot]" {
		t.Fatalf("got %+v, %v", repository, err)
	}

	options.Key = secret.New(wrong)
	if app, err = github.NewApp(options); err != nil {
		t.Fatal(err)
	}
	if _, err := app.Self(t.Context()); fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "check that app.key") {
		t.Errorf("another key: %v", err)
	}
}

// The suite with an installation token.
func TestConformance_emulatorApp(t *testing.T) {
	t.Parallel()
	key := githubtest.New(t, githubtest.Options{}).NewApp("one", granted()).Key()
	e := seedEmulator(t, seedApp(t, key))
	scmtest.Run(t, func(t *testing.T) scmtest.Bench {
		return e.benchOf(t, func(name string, client *http.Client) scm.Forge {
			app, err := github.NewApp(github.AppOptions{URL: e.url, API: e.url + "/", ID: "4711", Key: secret.New(key), HTTP: client, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			found, err := app.InstallationOf(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			forge, err := app.Use(t.Context(), found)
			if err != nil {
				t.Fatal(err)
			}
			return forge
		})
	})
}
