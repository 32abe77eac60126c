package github

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/scm/rest"
	"promoter/internal/secret"
)

// ManifestOptions specifies a GitHub App to create.
type ManifestOptions struct {
	// Name is the name of the App. Empty: the user chooses it on GitHub's page, which
	// allows changing the name in any case.
	Name string
	// Homepage is the link on the App's page. GitHub requires one.
	Homepage string
	// Hook is the webhook URL; empty: no webhook.
	Hook string
	// Redirect is the URL to which GitHub redirects the browser with the code.
	Redirect string
	// Public allows accounts other than the owner to install the App.
	Public bool
	// With names permissions that are only requested explicitly.
	With []string
}

// manifest describes an App to GitHub.
// https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
type manifest struct {
	Name        string            `json:"name,omitempty"`
	URL         string            `json:"url"`
	Description string            `json:"description"`
	Hook        *manifestHook     `json:"hook_attributes,omitempty"`
	Redirect    string            `json:"redirect_url"`
	Public      bool              `json:"public"`
	Permissions map[string]string `json:"default_permissions"`
	Events      []string          `json:"default_events,omitempty"`
}

// manifestHook must have a URL even if it is not active.
type manifestHook struct {
	URL    string `json:"url"`
	Active bool   `json:"active"`
}

// maxAppName is the maximum length of an App's name, in characters.
const maxAppName = 34

// Manifest describes an App with exactly the permissions and events that promoter
// needs, as the JSON that a browser posts to RegisterURL.
func Manifest(options ManifestOptions) (string, error) {
	if len([]rune(options.Name)) > maxAppName {
		return "", fault.New(fault.Invalid, "the name %q of the App is longer than %d characters", options.Name, maxAppName)
	}
	asked, err := Asked(options.With)
	if err != nil {
		return "", err
	}
	m := manifest{
		Name: options.Name, URL: options.Homepage, Description: "Promotes images along the environments of GitOps repositories",
		Redirect: options.Redirect, Public: options.Public, Permissions: map[string]string{},
	}
	for _, permission := range asked {
		m.Permissions[permission.Name] = permission.Access
	}
	if options.Hook != "" {
		m.Hook = &manifestHook{URL: options.Hook, Active: true}
		m.Events = EventsOf(asked)
	}
	text, err := json.Marshal(m)
	return string(text), fault.Wrap(fault.Internal, err)
}

// Asked returns the permissions that a manifest requests: those of the table, without
// the ones on request that with does not name.
func Asked(with []string) ([]Permission, error) {
	wanted, known := map[string]bool{}, []string{}
	for _, name := range with {
		wanted[name] = true
	}
	var asked []Permission
	for _, permission := range Permissions() {
		if !permission.OnRequest || wanted[permission.Name] {
			asked = append(asked, permission)
		}
		if permission.OnRequest {
			known = append(known, permission.Name)
		}
	}
	maps.DeleteFunc(wanted, func(name string, _ bool) bool {
		return slices.ContainsFunc(asked, func(p Permission) bool { return p.Name == name })
	})
	for name := range wanted {
		return nil, fault.New(fault.Invalid, "there is no permission %q to ask for: write %s", name, strings.Join(known, " or "))
	}
	return asked, nil
}

// EventsOf lists the events that an App with these permissions may subscribe to:
// GitHub rejects a manifest with any other event.
func EventsOf(permissions []Permission) []string {
	var names []string
	for _, event := range Events() {
		if slices.ContainsFunc(permissions, func(p Permission) bool { return p.Name == event.Permission }) {
			names = append(names, event.Name)
		}
	}
	return names
}

// accountName matches the login of an organization.
var accountName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?$`)

const maxAccountName = 100 // bytes

// RegisterURL returns the page of a GitHub server that accepts manifests: for an App
// of an organization, or of the user's own account if organization is empty.
func RegisterURL(page, organization string) (string, error) {
	parsed, err := rest.WebURL(page)
	if err != nil {
		return "", fault.Wrap(fault.Invalid, fmt.Errorf("the URL of GitHub: %w", err))
	}
	at := strings.TrimRight(parsed.String(), "/")
	switch {
	case organization == "":
		return at + "/settings/apps/new", nil
	case len(organization) > maxAccountName || !accountName.MatchString(organization):
		return "", fault.New(fault.Invalid, "%q is not the name of an organization: write it as in its URL", organization)
	}
	return at + "/organizations/" + organization + "/settings/apps/new", nil
}

// Registered is a GitHub App that was created from a manifest, with its credentials,
// which GitHub returns only once.
type Registered struct {
	ID       int64
	Slug     string // in its URL and in the name of its account
	Owner    string // account that owns it
	ClientID string
	Page     string // web page
	// Install is the page on which the App is installed.
	Install string
	// Settings is the page on which its owner creates or deletes keys.
	Settings      string
	Key           secret.String // PEM
	WebhookSecret secret.String // absent: no webhook
	ClientSecret  secret.String
}

// conversion is GitHub's response to a code.
type conversion struct {
	appAnswer
	ClientID      string  `json:"client_id"`
	ClientSecret  string  `json:"client_secret"`
	WebhookSecret *string `json:"webhook_secret"`
	PEM           string  `json:"pem"`
}

// manifestCode matches the code with which GitHub redirects the browser back:
// currently forty hex characters.
var manifestCode = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

const maxManifestCode = 255 // bytes

// IsManifestCode reports whether a text may be a manifest code.
func IsManifestCode(text string) bool {
	return len(text) <= maxManifestCode && manifestCode.MatchString(text)
}

// Convert exchanges the code of a manifest redirect for the created App. A code works
// once, within an hour. Hooked reports whether the manifest had a webhook. The forge
// has no credential: the code is the credential, and no error contains it.
func (f *Forge) Convert(ctx context.Context, code string, hooked bool) (Registered, error) {
	const noun = "the credentials of the new App"
	if !IsManifestCode(code) {
		return Registered{}, fault.New(fault.Invalid, "%s: GitHub sent no code back that could be one", noun)
	}
	var converted conversion
	if err := f.post(ctx, "app-manifests/"+code+"/conversions", nil, &converted); err != nil {
		return Registered{}, rest.Explain("GitHub", noun, err, f.answerOfConversion)
	}
	return f.registered(converted, hooked)
}

// answerOfConversion adds what a 404 means here, including that the response to the
// first request, with the only copy of the key, was lost.
func (f *Forge) answerOfConversion(err error) (rest.Answer, bool) {
	answer, ok := answerOf(err)
	if ok && answer.Status == http.StatusNotFound {
		answer.Advice = ": it does not know the code, which was used before or is older than an hour: delete the App, " +
			"if there is one, at " +
			f.page + "/settings/apps, and make it again"
	}
	return answer, ok
}

// registered rejects an incomplete response: an App without its key is useless, and
// the request cannot be repeated.
func (f *Forge) registered(converted conversion, hooked bool) (Registered, error) {
	made := Registered{
		ID: converted.ID, Slug: converted.Slug, Owner: converted.Owner.Login, ClientID: converted.ClientID,
		Key: secret.New(converted.PEM), ClientSecret: secret.New(converted.ClientSecret),
	}
	if converted.WebhookSecret != nil {
		made.WebhookSecret = secret.New(*converted.WebhookSecret)
	}
	var lacks []string
	_, noKey := parseKey(made.Key)
	for _, field := range []struct {
		name string
		ok   bool
	}{
		{"id", made.ID > 0},
		{"slug", rest.IsName(made.Slug)},
		{"client_id", rest.IsName(made.ClientID)},
		{"client_secret", !made.ClientSecret.IsZero()},
		{"webhook_secret", !hooked || !made.WebhookSecret.IsZero()},
		{"pem", noKey == nil},
	} {
		if !field.ok {
			lacks = append(lacks, field.name)
		}
	}
	if len(lacks) > 0 {
		const text = "the credentials of the new App: GitHub's answer has no usable %s: delete the App at %s, and make it again"
		return Registered{}, fault.New(fault.Invalid, text, strings.Join(lacks, ", "), f.page+"/settings/apps")
	}
	made.Page = f.appPage(converted.Slug, converted.HTMLURL)
	made.Install = made.Page + installations
	made.Settings = f.settings(converted.Owner) + "/apps/" + converted.Slug
	return made, nil
}

// installations is the path suffix of the page that installs an App.
const installations = "/installations/new"

// appPage returns the page of an App: the one that GitHub reports, if it is on its
// own host, because older servers have it elsewhere.
func (f *Forge) appPage(slug, htmlURL string) string {
	if shown, err := url.Parse(htmlURL); err == nil && strings.EqualFold(shown.Host, f.host) && shown.Path != "" {
		return f.page + strings.TrimRight(shown.EscapedPath(), "/")
	}
	return f.page + "/apps/" + slug
}
