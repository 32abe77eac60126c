// Package receiver lists the kinds of webhook receivers: what the server file may
// name, and which credentials each sender can present. The configuration validates
// entries with it; package webhook adds how each kind is verified and decoded.
package receiver

// The credentials that an entry of `receivers` can have, by their keys in the file.
const (
	Secret     = "secret"     // signs the body, or is sent in a header
	PathSecret = "pathSecret" // the last segment of the URL
	Audience   = "audience"   // of an identity token that Google signs
	App        = "app"        // the webhook secret of a GitHub App
)

// Evidence is the name of the kind for reports about health from the checks of users.
const Evidence = "evidence"

// Kind is one kind of sender.
type Kind struct {
	Name string
	// Credentials are those that the sender can present; the first one is recommended.
	Credentials []string
	// CustomHeader reports whether users choose the header that carries the secret.
	CustomHeader bool
	// Health reports whether its webhooks report the health of environments: they count, so
	// they need a credential.
	Health bool
}

// Kinds returns all kinds, sorted by name.
func Kinds() []Kind {
	secret, path := []string{Secret}, []string{PathSecret}
	return []Kind{
		{Name: "acr", Credentials: secret, CustomHeader: true},
		{Name: "aliyun", Credentials: path},
		{Name: "argocd", Credentials: secret, CustomHeader: true, Health: true},
		{Name: "azuredevops", Credentials: secret, CustomHeader: true},
		{Name: "bitbucket", Credentials: secret},
		{Name: "cdevents", Credentials: secret, CustomHeader: true},
		{Name: "distribution", Credentials: secret, CustomHeader: true},
		{Name: "dockerhub", Credentials: path},
		{Name: "ecr", Credentials: secret, CustomHeader: true},
		{Name: Evidence, Credentials: secret, CustomHeader: true, Health: true},
		{Name: "flux", Credentials: secret, Health: true},
		{Name: "gar", Credentials: []string{Audience, PathSecret}},
		{Name: "generic", Credentials: secret, CustomHeader: true},
		{Name: "gitea", Credentials: secret},
		{Name: "github", Credentials: []string{Secret, App}},
		{Name: "gitlab", Credentials: secret},
		{Name: "gogs", Credentials: secret},
		{Name: "harbor", Credentials: secret, CustomHeader: true},
		{Name: "jfrog", Credentials: secret},
		{Name: "nexus", Credentials: secret},
		{Name: "quay", Credentials: path},
		{Name: "snapshot", Credentials: secret, CustomHeader: true},
		{Name: "tekton", Credentials: path},
		{Name: "zot", Credentials: secret, CustomHeader: true},
	}
}

// Names returns the names of all kinds, sorted.
func Names() []string {
	var names []string
	for _, kind := range Kinds() {
		names = append(names, kind.Name)
	}
	return names
}

// Find returns the kind of a name.
func Find(name string) (Kind, bool) {
	for _, kind := range Kinds() {
		if kind.Name == name {
			return kind, true
		}
	}
	return Kind{}, false
}
