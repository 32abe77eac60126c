package github

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/scm/rest"
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
		delete(wanted, permission.Name)
	}
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
var accountName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9])?$`)

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
	case !accountName.MatchString(organization):
		return "", fault.New(fault.Invalid, "%q is not the name of an organization: write it as it stands in its address", organization)
	}
	return at + "/organizations/" + organization + "/settings/apps/new", nil
}
