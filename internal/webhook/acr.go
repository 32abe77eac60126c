package webhook

import "promoter/internal/event"

// acr decodes the webhook of an Azure container registry.
// https://learn.microsoft.com/azure/container-registry/container-registry-webhook-reference
func acr(r Request) (Delivery, error) {
	done, err := read[struct {
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
		return Delivery{}, err
	case done.Action == "":
		return Delivery{}, missing("action")
	case done.Action != "push" && done.Action != "chart_push":
		return ignored(done.Action, "only pushes matter") // ping, delete, quarantine
	case done.Target.Repository == "":
		return Delivery{}, missing("target.repository")
	}
	e := imageEvent(done.Request.Host, done.Target.Repository, done.Target.Tag, done.Target.Digest)
	return Delivery{ID: done.ID, EventType: done.Action, Events: []event.Event{e}}, nil
}
