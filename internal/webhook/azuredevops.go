package webhook

import (
	"context"
	"encoding/base64"
	"strings"
)

// azureDevOpsCredential is the secret in a header of choice, or the password of basic
// authentication, whose user is not verified.
// https://learn.microsoft.com/azure/devops/service-hooks/services/webhooks
func azureDevOpsCredential(o Options) verifier {
	return either(headerSecret(o), func(_ context.Context, r Request) bool {
		encoded, found := strings.CutPrefix(r.Header.Get("Authorization"), "Basic ")
		given, err := base64.StdEncoding.DecodeString(encoded)
		_, password, hasUser := strings.Cut(string(given), ":")
		return equal(password, o.Secret.Reveal()) && found && err == nil && hasUser
	})
}

// azureDevOps decodes the service hooks of Azure DevOps. With fewer resource details than
// `All`, an event does not contain the repository.
// https://learn.microsoft.com/azure/devops/service-hooks/events
func azureDevOps(r Request) (Delivery, error) {
	e, err := read[struct {
		ID       string `json:"id"`
		Type     string `json:"eventType"`
		Resource struct {
			Repository struct {
				URL string `json:"remoteUrl"`
				SSH string `json:"sshUrl"` // not of a push
			} `json:"repository"`
		} `json:"resource"`
	}](r)
	repository := e.Resource.Repository
	switch {
	case err != nil:
		return Delivery{}, err
	case e.Type == "":
		return Delivery{}, missing("eventType")
	case e.Type != "git.push" && !strings.HasPrefix(e.Type, "git.pullrequest."):
		return ignored(e.Type, "only pushes and pull requests matter")
	case repository.URL == "":
		return ignored(e.Type, "it does not name the repository: send all resource details")
	}
	return Delivery{ID: e.ID, EventType: e.Type, Events: cloneEvents(repository.URL, azureSSH(repository.URL), repository.SSH)}, nil
}

// azureSSH returns the SSH address of a repository of Azure DevOps Services, whose host is
// another one than that of HTTPS; empty for other addresses. Without a project, the project
// has the name of the repository.
// https://learn.microsoft.com/azure/devops/repos/git/use-ssh-keys-to-authenticate
func azureSSH(address string) string {
	const host = "dev.azure.com"
	_, path, _ := strings.Cut(address, host+"/")
	project, name, found := strings.Cut(path, "/_git/")
	if !found || hostOf(address) != host {
		return ""
	}
	if !strings.Contains(project, "/") {
		project += "/" + name
	}
	return "ssh://git@ssh." + host + "/v3/" + project + "/" + name
}
