package webhook

import (
	"strings"

	"promoter/internal/event"
)

// dockerHub reads the webhook of a repository. It names no digest.
// https://docs.docker.com/docker-hub/repos/manage/webhooks/
func dockerHub(r Request) (Delivery, error) {
	push, err := read[struct {
		Repository struct {
			RepoName  string `json:"repo_name"`
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"repository"`
		PushData struct {
			Tag string `json:"tag"`
		} `json:"push_data"`
	}](r)
	if err != nil {
		return Delivery{}, err
	}
	own := strings.Trim(push.Repository.Namespace+"/"+push.Repository.Name, "/")
	path := firstOf(push.Repository.RepoName, own)
	switch {
	case path == "":
		return Delivery{}, lacks("repository.repo_name")
	case push.PushData.Tag == "":
		return Delivery{}, lacks("push_data.tag")
	}
	hint, ok := referenceHint(path + ":" + push.PushData.Tag)
	if !ok {
		return Delivery{}, lacks("repository.repo_name of an image")
	}
	return Delivery{EventType: "push", Events: []event.Event{hint}}, nil
}
