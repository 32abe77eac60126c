package webhook

import (
	"context"
	"crypto/sha1" //nolint:gosec // what Nexus signs with
	"strings"

	"promoter/internal/event"
)

// nexusSignature is the HMAC-SHA1 of the body.
// https://help.sonatype.com/en/working-with-hmac-payloads.html
func nexusSignature(o Options) verifier {
	sign := hmacOf(sha1.New, []byte(o.Secret.Reveal()))
	return func(_ context.Context, r Request) bool {
		return isHex(r, "X-Nexus-Webhook-Signature", "", sign(r.Body))
	}
}

// nexus decodes the webhooks of a Sonatype Nexus repository, for components or assets. They
// contain neither host and port nor whether the name of the repository is part of the path:
// the events match any host, and both paths.
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
	action := strings.ToLower(done.Action)
	name, tag := done.Component.Name, done.Component.Version
	if name == "" {
		name, tag = manifestOf(done.Asset.Name)
	}
	switch {
	case err != nil:
		return Delivery{}, err
	case action == "":
		return Delivery{}, missing("action")
	case action != "created" && action != "updated":
		return ignored(action, "only created or updated images matter")
	case firstOf(done.Component.Format, done.Asset.Format) != "docker":
		return ignored(action, "only Docker images matter")
	case name == "" && done.Asset.Name != "":
		return ignored(action, "the asset is not a manifest")
	case name == "":
		return Delivery{}, missing("component or asset")
	}
	events := []event.Event{imageEvent("", name, tag, "")}
	if done.Repository != "" {
		events = append(events, imageEvent("", done.Repository+"/"+name, tag, ""))
	}
	return Delivery{ID: r.Header.Get("X-Nexus-Webhook-Delivery"), EventType: action, Events: events}, nil
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
