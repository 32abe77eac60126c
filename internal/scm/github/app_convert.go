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

// Registered is a GitHub App that was made from a manifest, with its credentials,
// which GitHub shows this once.
type Registered struct {
	ID       int64
	Slug     string // in its address and in the name of its account
	Owner    string // the account that it belongs to
	ClientID string
	Page     string // for people
	// Install is the page on which it is installed.
	Install string
	// Settings is the page on which its owner makes a new key, or deletes it.
	Settings      string
	Key           secret.String // PEM
	WebhookSecret secret.String // absent: it has no webhook
	ClientSecret  secret.String
}

// conversion is GitHub's answer to a code.
type conversion struct {
	appAnswer
	ClientID      string  `json:"client_id"`
	ClientSecret  string  `json:"client_secret"`
	WebhookSecret *string `json:"webhook_secret"`
	PEM           string  `json:"pem"`
}

// manifestCode is what GitHub sends the browser back with: forty characters in
// hex today.
var manifestCode = regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`)

// IsManifestCode says whether a text may be the code of a manifest.
func IsManifestCode(text string) bool { return manifestCode.MatchString(text) }

// Convert exchanges the code that GitHub sent a browser back with for the App that
// was made. A code works once and for an hour. Hooked says that the manifest had a
// webhook. The forge is one without a credential: the code is the credential, and
// no error shows it.
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

// answerOfConversion adds what a 404 means here: also that the answer to the first
// request was lost, and with it the only key.
func (f *Forge) answerOfConversion(err error) (rest.Answer, bool) {
	told, ok := answerOf(err)
	if ok && told.Status == http.StatusNotFound {
		told.Advice = ": it does not know the code, which was used before or is older than an hour: delete the App, if there is one, at " +
			f.page + "/settings/apps, and make it again"
	}
	return told, ok
}

// registered takes nothing of an answer that lacks anything: an App without its key
// is of no use, and asking again is not possible.
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

// installations stands behind the page of an App for the page that installs it.
const installations = "/installations/new"

// appPage is the page of an App: the one that GitHub names, if it is on its own
// host, where older servers have it elsewhere.
func (f *Forge) appPage(slug, told string) string {
	if shown, err := url.Parse(told); err == nil && strings.EqualFold(shown.Host, f.host) && shown.Path != "" {
		return f.page + strings.TrimRight(shown.EscapedPath(), "/")
	}
	return f.page + "/apps/" + slug
}
