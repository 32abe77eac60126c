package webhook

import (
	"strings"

	"promoter/internal/event"
)

// fluxSignature is the HMAC of the provider generic-hmac.
// https://fluxcd.io/flux/components/notification/providers/#generic-webhook-with-hmac
func fluxSignature(Options) proof { return signed("X-Signature", "sha256=") }

// flux reads an event of Flux's notification controller. It tells the object and
// no repository: which environments it deploys is known by their `health`.
// https://fluxcd.io/flux/components/notification/events/
func flux(r Request) (Delivery, error) {
	told, err := read[struct {
		Object struct {
			Kind      string `json:"kind"`
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"involvedObject"`
		Reason string `json:"reason"`
	}](r)
	of := told.Object
	switch {
	case err != nil:
		return Delivery{}, err
	case of.Kind == "" || of.Namespace == "" || of.Name == "":
		return Delivery{}, lacks("involvedObject")
	}
	subject := strings.ToLower(of.Kind) + "/" + of.Namespace + "/" + of.Name
	return Delivery{EventType: told.Reason, Events: []event.Event{{Kind: event.KindHealth, Subject: subject}}}, nil
}
