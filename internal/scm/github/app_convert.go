package github

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/scm/rest"
	"promoter/internal/secret"
)

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
var manifestCode = regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`)

// IsManifestCode reports whether a text may be a manifest code.
func IsManifestCode(text string) bool { return manifestCode.MatchString(text) }

// Convert exchanges the code of a manifest redirect for the created App. A code works
// once, within an hour. Hooked reports whether the manifest had a webhook. The forge
// has no credential: the code is the credential, and no error contains it.
func (f *Forge) Convert(ctx context.Context, code string, hooked bool) (Registered, error) {
	const noun = "the credentials of the new App"
	if !IsManifestCode(code) {
		return Registered{}, fault.New(fault.Invalid, "%s: GitHub sent no code back that could be one", noun)
	}
	var told conversion
	if err := f.post(ctx, "app-manifests/"+code+"/conversions", nil, &told); err != nil {
		return Registered{}, rest.Explain("GitHub", noun, err, f.answerOfConversion)
	}
	return f.registered(told, hooked)
}

// answerOfConversion adds what a 404 means here, including that the response to the
// first request, with the only copy of the key, was lost.
func (f *Forge) answerOfConversion(err error) (rest.Answer, bool) {
	told, ok := answerOf(err)
	if ok && told.Status == http.StatusNotFound {
		told.Advice = ": it does not know the code, which was used before or is older than an hour: delete the App, if there is one, at " +
			f.page + "/settings/apps, and make it again"
	}
	return told, ok
}

// registered rejects an incomplete response: an App without its key is useless, and
// the request cannot be repeated.
func (f *Forge) registered(told conversion, hooked bool) (Registered, error) {
	made := Registered{
		ID: told.ID, Slug: told.Slug, Owner: told.Owner.Login, ClientID: told.ClientID,
		Key: secret.New(told.PEM), ClientSecret: secret.New(told.ClientSecret),
	}
	if told.WebhookSecret != nil {
		made.WebhookSecret = secret.New(*told.WebhookSecret)
	}
	var lacks []string
	for _, field := range []struct {
		name string
		ok   bool
	}{
		{"id", made.ID > 0},
		{"slug", isName(made.Slug)},
		{"client_id", isName(made.ClientID)},
		{"client_secret", !made.ClientSecret.IsZero()},
		{"webhook_secret", !hooked || !made.WebhookSecret.IsZero()},
		{"pem", keyed(made.Key)},
	} {
		if !field.ok {
			lacks = append(lacks, field.name)
		}
	}
	if len(lacks) > 0 {
		return Registered{}, fault.New(fault.Invalid, "the credentials of the new App: GitHub's answer has no usable %s: delete the App at %s, and make it again",
			strings.Join(lacks, ", "), f.page+"/settings/apps")
	}
	made.Page = f.appPage(told.Slug, told.HTMLURL)
	made.Install = made.Page + installations
	made.Settings = f.settings(told.Owner) + "/apps/" + told.Slug
	return made, nil
}

func keyed(key secret.String) bool {
	_, err := parseKey(key)
	return err == nil
}

// installations is the path suffix of the page that installs an App.
const installations = "/installations/new"

// appPage returns the page of an App: the one that GitHub reports, if it is on its
// own host, because older servers have it elsewhere.
func (f *Forge) appPage(slug, told string) string {
	if shown, err := url.Parse(told); err == nil && strings.EqualFold(shown.Host, f.host) && shown.Path != "" {
		return f.page + strings.TrimRight(shown.EscapedPath(), "/")
	}
	return f.page + "/apps/" + slug
}
