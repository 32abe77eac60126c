package registries

import (
	"cmp"
	"strings"

	"promoter/internal/event"
	"promoter/internal/webhook/payload"
)

// DockerHub decodes the webhook of a repository. It contains no digest.
// https://docs.docker.com/docker-hub/repos/manage/webhooks/
func DockerHub(r payload.Request) (payload.Delivery, error) {
	push, err := payload.Read[struct {
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
		return payload.Delivery{}, err
	}
	own := strings.Trim(push.Repository.Namespace+"/"+push.Repository.Name, "/")
	path := cmp.Or(push.Repository.RepoName, own)
	switch {
	case path == "":
		return payload.Delivery{}, payload.Missing("repository.repo_name")
	case push.PushData.Tag == "":
		return payload.Delivery{}, payload.Missing("push_data.tag")
	}
	e, ok := payload.ReferenceEvent(path + ":" + push.PushData.Tag)
	if !ok {
		return payload.Delivery{}, payload.Missing("repository.repo_name of an image")
	}
	return payload.Delivery{EventType: "push", Events: []event.Event{e}}, nil
}
