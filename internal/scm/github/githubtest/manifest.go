package githubtest

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Hook is the webhook of an App.
type Hook struct {
	URL    string
	Secret string
	Events []string
}

// registration is an App that was created from a manifest and whose credentials were
// not fetched yet.
type registration struct {
	code string
	app  *App
	at   time.Time
	used bool
}

// codeLife is the validity of the code of a manifest.
const codeLife = time.Hour

// manifest is what a browser posts.
// https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
type manifest struct {
	Name        string `json:"name"`
	URL         string `json:"url"`
	Description string `json:"description"`
	Hook        *struct {
		URL    string `json:"url"`
		Active *bool  `json:"active"`
	} `json:"hook_attributes"`
	RedirectURL  string            `json:"redirect_url"`
	CallbackURLs []string          `json:"callback_urls"`
	SetupURL     string            `json:"setup_url"`
	Public       bool              `json:"public"`
	Permissions  map[string]string `json:"default_permissions"`
	Events       []string          `json:"default_events"`
}

// servePages serves the browser pages, and Git.
func (s *Server) servePages(w http.ResponseWriter, r *http.Request) {
	organization, of := "", strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(of) > 2 && of[0] == "organizations" {
		organization, of = of[1], of[2:]
	}
	if r.Method != http.MethodPost || strings.Join(of, "/") != "settings/apps/new" {
		s.hub.ServeGit(w, r, s.admitGit)
		return
	}
	to, err := s.register(r, organization)
	if err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = fmt.Fprintf(w, "Invalid GitHub App configuration: %v", err) // the client may be gone
		return
	}
	http.Redirect(w, r, to, http.StatusFound)
}

// register creates an App as if the user had clicked the button on GitHub's page, and
// returns the URL to which the browser is redirected.
func (s *Server) register(r *http.Request, organization string) (string, error) {
	if err := r.ParseForm(); err != nil {
		return "", err
	}
	decoder := json.NewDecoder(strings.NewReader(r.PostForm.Get("manifest")))
	decoder.DisallowUnknownFields()
	var m manifest
	if err := decoder.Decode(&m); err != nil {
		return "", err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return "", fmt.Errorf("more than one manifest")
	}
	var to string
	var err error
	s.act(func() {
		if err = s.refuseManifest(m); err == nil {
			to = s.made(m, organization).redirect(m.RedirectURL, r.URL.Query().Get("state"))
		}
	})
	return to, err
}

func (s *Server) made(m manifest, organization string) *registration {
	owner := s.hub.User("app-owner")
	if organization != "" {
		owner = s.hub.User(organization)
		owner.Organization = true
	}
	app := s.newApp(strings.ToLower(strings.ReplaceAll(m.Name, " ", "-")), owner, m.Permissions)
	if app.events = m.Events; m.Hook != nil {
		app.hook = &Hook{URL: m.Hook.URL, Secret: rand.Text(), Events: m.Events}
	}
	made := &registration{code: fmt.Sprintf("%040x", s.hub.NextID()), app: app, at: s.hub.Front.Now()}
	s.registrations = append(s.registrations, made)
	return made
}

func (r *registration) redirect(to, state string) string {
	query := url.Values{"code": {r.code}}
	if state != "" {
		query.Set("state", state)
	}
	return to + "?" + query.Encode()
}

// refuseManifest returns the error for a manifest that GitHub rejects, with its
// message if known.
func (s *Server) refuseManifest(m manifest) error {
	switch {
	case m.Name == "" || len(m.Name) > 34:
		return fmt.Errorf("name is missing or longer than 34 characters")
	case slices.ContainsFunc(s.apps, func(a *App) bool { return strings.EqualFold(a.slug, m.Name) }):
		return fmt.Errorf("name has already been taken")
	case !isWeb(m.URL) || !isWeb(m.RedirectURL):
		return fmt.Errorf("Error \"url\" wasn't supplied") //nolint:staticcheck // GitHub's words
	case m.Hook != nil && !isWeb(m.Hook.URL):
		return fmt.Errorf("Error \"url\" wasn't supplied") //nolint:staticcheck // GitHub's words
	case m.Hook != nil && isLoopback(m.Hook.URL):
		return fmt.Errorf("Hook url is not supported because it isn't reachable over the public Internet")
	}
	return refuseEvents(m)
}

func refuseEvents(m manifest) error {
	var unsupported, unpermitted []string
	for _, event := range m.Events {
		permission, known := subscribable()[event]
		switch {
		case !known:
			unsupported = append(unsupported, event)
		case m.Permissions[permission] == "":
			unpermitted = append(unpermitted, event)
		}
	}
	switch {
	case len(unsupported) > 0:
		return fmt.Errorf("Default events unsupported: %s", strings.Join(unsupported, ", ")) //nolint:staticcheck // GitHub's words
	case len(unpermitted) > 0:
		return fmt.Errorf("Default events are not supported by permissions: %s", strings.Join(unpermitted, ", ")) //nolint:staticcheck // GitHub's words
	}
	return nil
}

// subscribable returns the events with the permission that each requires. GitHub
// sends installation events to every App, and rejects subscriptions to them.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads
func subscribable() map[string]string {
	return map[string]string{
		"branch_protection_rule": "administration", "check_run": "checks", "check_suite": "checks", "create": "contents", "delete": "contents",
		"deployment": "deployments", "deployment_status": "deployments", "issue_comment": "issues", "issues": "issues", "merge_group": "merge_queues",
		"pull_request": "pull_requests", "pull_request_review": "pull_requests", "pull_request_review_thread": "pull_requests", "push": "contents", "registry_package": "packages",
		"release": "contents", "repository": "metadata", "repository_ruleset": "administration", "status": "statuses", "workflow_run": "actions",
	}
}

func isWeb(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && parsed.Host != "" && (parsed.Scheme == "https" || parsed.Scheme == "http")
}

func isLoopback(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && (parsed.Hostname() == "localhost" || net.ParseIP(parsed.Hostname()).IsLoopback())
}

// convertManifest returns the credentials of a new App, once.
func convertManifest(c *call) *reply {
	if c.r.Header.Get("Authorization") != "" {
		c.s.t.Errorf("githubtest: %s: a credential was sent where the code is one", c.route)
	}
	for _, one := range c.s.registrations {
		if one.code != c.r.PathValue("code") || one.used || c.s.hub.Front.Now().Sub(one.at) > codeLife {
			continue
		}
		one.used = true
		drawn := drawGitHubApp(c, one.app)
		drawn["client_secret"], drawn["pem"], drawn["webhook_secret"] = rand.Text(), one.app.Key(), nil
		if one.app.hook != nil {
			drawn["webhook_secret"] = one.app.hook.Secret
		}
		return created(drawn)
	}
	return refuse(http.StatusNotFound, "Not Found")
}

// Apps returns all created Apps, in order.
func (s *Server) Apps() []*App {
	var all []*App
	s.act(func() { all = append(all, s.apps...) })
	return all
}

// Hook returns the webhook of the App; nil: none.
func (a *App) Hook() *Hook { return a.hook }

// Owner returns the login of the account that owns the App.
func (a *App) Owner() string { return a.owner.Login }

// Permissions returns the permissions that the App requests.
func (a *App) Permissions() map[string]string { return a.permissions }
