package webhook

import (
	"promoter/internal/evidence"
)

// fluxSignature is the HMAC of the provider generic-hmac.
// https://fluxcd.io/flux/components/notification/providers/#generic-webhook-with-hmac
func fluxSignature(Options) verifier { return signed("X-Signature", "sha256=") }

// flux decodes an event of Flux's notification controller. It names an object but no
// repository: the `health` of an environment names the object that deploys it.
// https://fluxcd.io/flux/components/notification/events/
func flux(r Request) (Delivery, error) {
	body, err := read[evidence.FluxEvent](r)
	if err != nil {
		return Delivery{}, err
	}
	report, why, err := body.Report()
	switch {
	case err != nil:
		return Delivery{}, err
	case why != "":
		return ignored(body.Reason, why)
	}
	return Delivery{EventType: body.Reason, Events: report.Events(), Reports: []evidence.Report{report}}, nil
}
