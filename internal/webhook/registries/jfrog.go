package registries

import (
	"strings"

	"promoter/internal/webhook/payload"
)

// JFrog decodes the webhooks of Docker events. The host of the repository, and whether its
// key is part of the path, depend on the installation: the events match any host, and both
// paths. An artifact that a remote repository fetched is reported for its cache, NAME-cache,
// and pulled by the name of the repository.
// https://docs.jfrog.com/administration/docs/event-types
func JFrog(r payload.Request) (payload.Delivery, error) {
	done, err := payload.Read[struct {
		Domain string `json:"domain"`
		Type   string `json:"event_type"`
		Data   struct {
			Repository string `json:"repo_key"`
			Image      string `json:"image_name"`
			Tag        string `json:"tag"`
			SHA256     string `json:"sha256"` // of the manifest
		} `json:"data"`
	}](r)
	switch {
	case err != nil:
		return payload.Delivery{}, err
	case done.Domain == "":
		return payload.Delivery{}, payload.Missing("domain")
	case done.Domain != "docker" || done.Type != "pushed" && done.Type != "promoted":
		return payload.Ignored(done.Domain+" "+done.Type, "only pushed and promoted Docker images matter")
	case done.Data.Image == "":
		return payload.Delivery{}, payload.Missing("data.image_name")
	}
	digest := ""
	if done.Data.SHA256 != "" {
		digest = "sha256:" + done.Data.SHA256
	}
	d := payload.Delivery{EventType: done.Type}
	for _, path := range []string{
		done.Data.Repository + "/" + done.Data.Image, done.Data.Image,
		strings.TrimSuffix(done.Data.Repository, "-cache") + "/" + done.Data.Image,
	} {
		d.Events = append(d.Events, payload.ImageEvent("", path, done.Data.Tag, digest))
	}
	return d, nil
}
