package registries

import (

	//nolint:gosec // what Nexus signs with
	"cmp"
	"strings"

	"promoter/internal/event"
	"promoter/internal/webhook/payload"
)

// Nexus decodes the webhooks of a Sonatype Nexus repository, for components or assets. They
// contain neither host and port nor whether the name of the repository is part of the path:
// the events match any host, and both paths.
// https://help.sonatype.com/en/example-headers-and-payloads.html
func Nexus(r payload.Request) (payload.Delivery, error) {
	done, err := payload.Read[struct {
		Action     string `json:"action"`
		Repository string `json:"repositoryName"`
		Component  struct {
			Format, Name, Version string
		} `json:"component"`
		Asset struct {
			Format, Name string
		} `json:"asset"`
	}](r)
	action := strings.ToLower(done.Action)
	name, tag := done.Component.Name, done.Component.Version
	if name == "" {
		name, tag = manifestOf(done.Asset.Name)
	}
	switch {
	case err != nil:
		return payload.Delivery{}, err
	case action == "":
		return payload.Delivery{}, payload.Missing("action")
	case action != "created" && action != "updated":
		return payload.Ignored(action, "only created or updated images matter")
	case cmp.Or(done.Component.Format, done.Asset.Format) != "docker":
		return payload.Ignored(action, "only Docker images matter")
	case name == "" && done.Asset.Name != "":
		return payload.Ignored(action, "the asset is not a manifest")
	case name == "":
		return payload.Delivery{}, payload.Missing("component or asset")
	}
	events := []event.Event{payload.ImageEvent("", name, tag, "")}
	if done.Repository != "" {
		events = append(events, payload.ImageEvent("", done.Repository+"/"+name, tag, ""))
	}
	return payload.Delivery{ID: r.Header.Get("X-Nexus-Webhook-Delivery"), EventType: action, Events: events}, nil
}

// manifestOf splits the path of an asset: v2/NAME/manifests/TAG, or with a digest; in newer
// releases it begins with a slash.
func manifestOf(asset string) (name, tag string) {
	path, ok := strings.CutPrefix(strings.Trim(asset, "/"), "v2/")
	name, tag, found := strings.Cut(path, "/manifests/")
	if !ok || !found {
		return "", ""
	}
	return name, tag
}
