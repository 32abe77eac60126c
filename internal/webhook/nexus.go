package webhook

import (
	"strings"

	"promoter/internal/event"
)

// nexus reads the webhook of a Sonatype Nexus repository, of its components or its
// assets. It does not tell under which host and port the repository is reached, and
// whether by its name in the path: any is meant, and both paths.
// https://help.sonatype.com/en/example-headers-and-payloads.html
func nexus(r Request) (Delivery, error) {
	done, err := read[struct {
		Action     string `json:"action"`
		Repository string `json:"repositoryName"`
		Component  struct {
			Format, Name, Version string
		} `json:"component"`
		Asset struct {
			Format, Name string
		} `json:"asset"`
	}](r)
	happened := strings.ToLower(done.Action)
	name, tag := done.Component.Name, done.Component.Version
	if name == "" {
		name, tag = manifestOf(done.Asset.Name)
	}
	switch {
	case err != nil:
		return Delivery{}, err
	case happened == "":
		return Delivery{}, lacks("action")
	case happened != "created" && happened != "updated":
		return ignored(happened, "only what is created or updated matters")
	case firstOf(done.Component.Format, done.Asset.Format) != "docker":
		return ignored(happened, "only Docker images matter")
	case name == "" && done.Asset.Name != "":
		return ignored(happened, "the asset is no manifest")
	case name == "":
		return Delivery{}, lacks("component or asset")
	}
	hints := []event.Event{imageHint("", name, tag, "")}
	if done.Repository != "" {
		hints = append(hints, imageHint("", done.Repository+"/"+name, tag, ""))
	}
	return Delivery{ID: r.Header.Get("X-Nexus-Webhook-Delivery"), EventType: happened, Events: hints}, nil
}

// manifestOf takes the path of an asset apart: v2/NAME/manifests/TAG, or the digest
// at its end; newer releases begin it with a slash.
func manifestOf(asset string) (name, tag string) {
	path, ok := strings.CutPrefix(strings.Trim(asset, "/"), "v2/")
	name, tag, found := strings.Cut(path, "/manifests/")
	if !ok || !found {
		return "", ""
	}
	return name, tag
}
