package pipelines

import (
	"promoter/internal/evidence"
	"promoter/internal/webhook/payload"
)

// Flux decodes an event of Flux's notification controller. It names an object but no
// repository: the `health` of an environment names the object that deploys it.
// https://fluxcd.io/flux/components/notification/events/
func Flux(r payload.Request) (payload.Delivery, error) {
	body, err := payload.Read[evidence.FluxEvent](r)
	if err != nil {
		return payload.Delivery{}, err
	}
	report, why, err := body.Report()
	switch {
	case err != nil:
		return payload.Delivery{}, err
	case why != "":
		return payload.Ignored(body.Reason, why)
	}
	return payload.Delivery{EventType: body.Reason, Events: report.Events(), Reports: []evidence.Report{report}}, nil
}
