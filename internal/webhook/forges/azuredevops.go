package forges

import (
	"strings"

	"promoter/internal/webhook/payload"
)

// AzureDevOps decodes the service hooks of Azure DevOps. With fewer resource details than
// `All`, an event does not contain the repository.
// https://learn.microsoft.com/azure/devops/service-hooks/events
func AzureDevOps(r payload.Request) (payload.Delivery, error) {
	e, err := payload.Read[struct {
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
		return payload.Delivery{}, err
	case e.Type == "":
		return payload.Delivery{}, payload.Missing("eventType")
	case e.Type != "git.push" && !strings.HasPrefix(e.Type, "git.pullrequest."):
		return payload.Ignored(e.Type, "only pushes and pull requests matter")
	case repository.URL == "":
		return payload.Ignored(e.Type, "it does not name the repository: send all resource details")
	}
	events := payload.CloneEvents(repository.URL, azureSSH(repository.URL), repository.SSH)
	return payload.Delivery{ID: e.ID, EventType: e.Type, Events: events}, nil
}

// azureSSH returns the SSH address of a repository of Azure DevOps Services, whose host is
// another one than that of HTTPS; empty for other addresses. Without a project, the project
// has the name of the repository.
// https://learn.microsoft.com/azure/devops/repos/git/use-ssh-keys-to-authenticate
func azureSSH(address string) string {
	const host = "dev.azure.com"
	_, path, _ := strings.Cut(address, host+"/")
	project, name, found := strings.Cut(path, "/_git/")
	if !found || payload.HostOf(address) != host {
		return ""
	}
	if !strings.Contains(project, "/") {
		project += "/" + name
	}
	return "ssh://git@ssh." + host + "/v3/" + project + "/" + name
}
