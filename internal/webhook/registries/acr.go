package registries

import (
	"promoter/internal/event"
	"promoter/internal/webhook/payload"
)

// ACR decodes the webhook of an Azure container registry.
// https://learn.microsoft.com/azure/container-registry/container-registry-webhook-reference
func ACR(r payload.Request) (payload.Delivery, error) {
	done, err := payload.Read[struct {
		ID     string `json:"id"`
		Action string `json:"action"`
		Target struct {
			Repository string `json:"repository"`
			Tag        string `json:"tag"` // empty when pushed by digest
			Digest     string `json:"digest"`
		} `json:"target"`
		Request struct {
			Host string `json:"host"`
		} `json:"request"`
	}](r)
	switch {
	case err != nil:
		return payload.Delivery{}, err
	case done.Action == "":
		return payload.Delivery{}, payload.Missing("action")
	case done.Action != "push" && done.Action != "chart_push":
		return payload.Ignored(done.Action, "only pushes matter") // ping, delete, quarantine
	case done.Target.Repository == "":
		return payload.Delivery{}, payload.Missing("target.repository")
	}
	e := payload.ImageEvent(done.Request.Host, done.Target.Repository, done.Target.Tag, done.Target.Digest)
	return payload.Delivery{ID: done.ID, EventType: done.Action, Events: []event.Event{e}}, nil
}
