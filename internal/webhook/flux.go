package webhook

import (
	"strings"

	"promoter/internal/event"
)

// fluxSignature is the HMAC of the provider generic-hmac.
// https://fluxcd.io/flux/components/notification/providers/#generic-webhook-with-hmac
func fluxSignature(Options) verifier { return signed("X-Signature", "sha256=") }

// flux decodes an event of Flux's notification controller. It names an object but no
// repository: the `health` of an environment names the object that deploys it.
// https://fluxcd.io/flux/components/notification/events/
func flux(r Request) (Delivery, error) {
	body, err := read[struct {
		Object struct {
			Kind      string `json:"kind"`
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"involvedObject"`
		Reason string `json:"reason"`
	}](r)
	of := body.Object
	switch {
	case err != nil:
		return Delivery{}, err
	case of.Kind == "" || of.Namespace == "" || of.Name == "":
		return Delivery{}, missing("involvedObject")
	}
	subject := strings.ToLower(of.Kind) + "/" + of.Namespace + "/" + of.Name
	return Delivery{EventType: body.Reason, Events: []event.Event{{Kind: event.KindHealth, Subject: subject}}}, nil
}
