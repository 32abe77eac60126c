package webhook

import (
	"strings"
)

// jfrogSignature is the secret itself, or with "Use secret for payload signing" the
// HMAC of the body.
// https://jfrog.com/help/r/jfrog-platform-administration-documentation/webhooks
func jfrogSignature(o Options) proof {
	const header = "X-JFrog-Event-Auth"
	return either(signed(header, ""), inHeader(header, o.Secret))
}

// jfrog reads a webhook of the Docker events. Under which host the repository is
// reached, and whether its key is part of the path, is up to who set it up: any
// host is meant, and both paths. What a remote repository fetched is told of its
// cache, NAME-cache, and pulled by its name.
// https://docs.jfrog.com/administration/docs/event-types
func jfrog(r Request) (Delivery, error) {
	done, err := read[struct {
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
		return Delivery{}, err
	case done.Domain == "":
		return Delivery{}, lacks("domain")
	case done.Domain != "docker" || done.Type != "pushed" && done.Type != "promoted":
		return ignored(done.Domain+" "+done.Type, "only pushed and promoted Docker images matter")
	case done.Data.Image == "":
		return Delivery{}, lacks("data.image_name")
	}
	digest := ""
	if done.Data.SHA256 != "" {
		digest = "sha256:" + done.Data.SHA256
	}
	d := Delivery{EventType: done.Type}
	for _, path := range []string{
		done.Data.Repository + "/" + done.Data.Image, done.Data.Image,
		strings.TrimSuffix(done.Data.Repository, "-cache") + "/" + done.Data.Image,
	} {
		d.Events = append(d.Events, imageHint("", path, done.Data.Tag, digest))
	}
	return d, nil
}
