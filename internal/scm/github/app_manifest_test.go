package github_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/scm/github"
	"promoter/internal/scm/github/githubtest"
)

const backTo = "http://127.0.0.1:4321/setup/github"

func manifestOptions() github.ManifestOptions {
	return github.ManifestOptions{
		Name: "promoter-acme", Homepage: "https://promoter.example.com", Hook: "https://promoter.example.com/webhooks/github", Redirect: backTo,
	}
}

// press posts a manifest as the browser does, and returns the query of GitHub's
// redirect; without one: GitHub's message.
func press(t *testing.T, s *githubtest.Server, organization string, options github.ManifestOptions) (back url.Values, words string) {
	t.Helper()
	text, err := github.Manifest(options)
	if err != nil {
		t.Fatal(err)
	}
	to, err := github.RegisterURL(s.URL(), organization)
	if err != nil {
		t.Fatal(err)
	}
	return post(t, s, to, text)
}

func post(t *testing.T, s *githubtest.Server, to, manifest string) (back url.Values, words string) {
	t.Helper()
	body := strings.NewReader(url.Values{"manifest": {manifest}}.Encode())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to+"?state=the-state", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := *s.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // only read
	if answer.StatusCode != http.StatusFound {
		var told strings.Builder
		if err := answer.Write(&told); err != nil {
			t.Fatal(err)
		}
		return nil, told.String()
	}
	at, err := answer.Location()
	if err != nil {
		t.Fatal(err)
	}
	if got := at.Scheme + "://" + at.Host + at.Path; got != backTo {
		t.Errorf("the browser is sent to %s", got)
	}
	return at.Query(), ""
}

// A manifest requests the table's permissions and the events that they allow; GitHub
// accepts it, and the App has exactly these.
func TestManifest_asksForTheTable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		with []string
		lack []string
	}{
		"as it is":              {nil, []string{"administration", "deployments", "workflows"}},
		"with more of one":      {[]string{"checks"}, []string{"administration", "deployments", "workflows"}},
		"with one more":         {[]string{"workflows"}, []string{"administration", "deployments"}},
		"with all that may be ": {[]string{"workflows", "administration", "deployments"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := githubtest.New(t, githubtest.Options{})
			options := manifestOptions()
			options.With = test.with
			if back, words := press(t, s, "acme", options); back.Get("code") == "" || back.Get("state") != "the-state" {
				t.Fatalf("%v %s", back, words)
			}
			made := s.Apps()[0]
			want := without(granted(), test.lack...)
			if !slices.Contains(test.with, "checks") {
				want["checks"] = "read"
			}
			if diff := cmp.Diff(want, made.Permissions()); diff != "" {
				t.Errorf("permissions (-want +got):\n%s", diff)
			}
			var events []string
			for _, e := range github.Events() {
				if want[e.Permission] != "" {
					events = append(events, e.Name)
				}
			}
			if diff := cmp.Diff(events, made.Hook().Events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if made.Owner() != "acme" || made.Hook().URL != options.Hook {
				t.Errorf("got %s, %+v", made.Owner(), made.Hook())
			}
		})
	}
}

// Without a webhook URL there is neither a webhook nor an event.
func TestManifest_withoutWebhook(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, githubtest.Options{})
	options := manifestOptions()
	options.Hook = ""
	back, words := press(t, s, "", options)
	if words != "" {
		t.Fatal(words)
	}
	made, err := asNobody(t, s).Convert(t.Context(), back.Get("code"), false)
	if err != nil || !made.WebhookSecret.IsZero() || made.Owner != "app-owner" || s.Apps()[0].Hook() != nil {
		t.Errorf("%+v, %v", made, err)
	}
	if want := s.URL() + "/settings/apps/promoter-acme"; made.Settings != want {
		t.Errorf("settings at %s, want %s", made.Settings, want)
	}
}

// The fake rejects what GitHub is known to reject, so that the tests above are
// meaningful.
func TestManifest_refusedByGitHub(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, githubtest.Options{})
	to, err := github.RegisterURL(s.URL(), "")
	if err != nil {
		t.Fatal(err)
	}
	for words, change := range map[string]func(map[string]any){
		"Default events unsupported: installation":                      func(m map[string]any) { m["default_events"] = []string{"push", "installation"} },
		"Default events are not supported by permissions: workflow_run": func(m map[string]any) { m["default_events"] = []string{"workflow_run"} },
		"wasn't supplied":                              func(m map[string]any) { m["hook_attributes"] = map[string]any{"active": false} },
		"isn't reachable over the public Internet":     func(m map[string]any) { m["hook_attributes"] = map[string]any{"url": "http://localhost/x"} },
		"unknown field":                                func(m map[string]any) { m["permissions"] = map[string]any{} },
		"name is missing or longer than 34 characters": func(m map[string]any) { delete(m, "name") },
	} {
		text, err := github.Manifest(manifestOptions())
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		change(m)
		changed, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if back, told := post(t, s, to, string(changed)); back != nil || !strings.Contains(told, words) {
			t.Errorf("want %q, got %v %s", words, back, told)
		}
	}
	if len(s.Apps()) > 0 {
		t.Error("an App was made")
	}
}

func TestManifest_refused(t *testing.T) {
	t.Parallel()
	options := manifestOptions()
	options.With = []string{"secrets"}
	if _, err := github.Manifest(options); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "write administration or deployments or checks or workflows") {
		t.Errorf("got %v", err)
	}
	options = manifestOptions()
	options.Name = strings.Repeat("ä", 35)
	if _, err := github.Manifest(options); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "longer than 34") {
		t.Errorf("got %v", err)
	}
}

func TestRegisterURL(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ page, organization, want string }{
		{"https://github.com", "", "https://github.com/settings/apps/new"},
		{"https://github.com/", "acme-1", "https://github.com/organizations/acme-1/settings/apps/new"},
		{"https://ghe.example.com/git", "acme_user", "https://ghe.example.com/git/organizations/acme_user/settings/apps/new"},
		{"https://github.com", "acme/../x", ""},
		{"https://github.com", "-", ""},
		{"https://github.com", strings.Repeat("a", 101), ""},
		{"https://user@github.com", "", ""},
		{"github.com", "", ""},
	} {
		got, err := github.RegisterURL(test.page, test.organization)
		if got != test.want || (test.want == "") != (fault.KindOf(err) == fault.Invalid) {
			t.Errorf("%s %s: %q, %v", test.page, test.organization, got, err)
		}
	}
}

// The permission of every event is in the table. No event is listed twice, or sent to
// every App anyway.
func TestEvents_permitted(t *testing.T) {
	t.Parallel()
	var names []string
	for _, e := range github.Events() {
		if !slices.ContainsFunc(github.Permissions(), func(p github.Permission) bool { return p.Name == e.Permission }) {
			t.Errorf("%s wants %s, which is not in the table", e.Name, e.Permission)
		}
		if slices.Contains(names, e.Name) || strings.HasPrefix(e.Name, "installation") {
			t.Errorf("%s stands twice, or comes by itself", e.Name)
		}
		names = append(names, e.Name)
	}
}

// asNobody returns a GitHub forge without a credential.
func asNobody(t *testing.T, s *githubtest.Server) *github.Forge {
	t.Helper()
	forge, err := github.New(github.Options{URL: s.URL(), Token: noToken, HTTP: s.Client(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return forge
}
