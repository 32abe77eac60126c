package webhook

import (
	"strings"

	"promoter/internal/event"
)

// dockerHub decodes the webhook of a repository. It contains no digest.
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
		return Delivery{}, missing("repository.repo_name")
	case push.PushData.Tag == "":
		return Delivery{}, missing("push_data.tag")
	}
	e, ok := referenceEvent(path + ":" + push.PushData.Tag)
	if !ok {
		return Delivery{}, missing("repository.repo_name of an image")
	}
	return Delivery{EventType: "push", Events: []event.Event{e}}, nil
}
