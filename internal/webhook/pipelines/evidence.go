package pipelines

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"promoter/internal/evidence"
	"promoter/internal/fault"
	"promoter/internal/webhook/payload"
)

// Evidence decodes a report about health that a user posts, for instance a pipeline after its
// smoke tests: {"repository": "github.com/acme/gitops", "environment": "staging",
// "status": "Healthy", "revision": "…"}.
func Evidence(r payload.Request) (payload.Delivery, error) {
	decoder := json.NewDecoder(bytes.NewReader(r.JSON()))
	decoder.DisallowUnknownFields()
	var body evidence.Posted
	if err := decoder.Decode(&body); err != nil {
		if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
			return payload.Delivery{}, fault.New(fault.Invalid, "it has the unknown field %s", name)
		}
		if _, isTime := errors.AsType[*time.ParseError](err); isTime {
			return payload.Delivery{}, fault.New(fault.Invalid, "its at is no time such as 2026-11-20T10:00:00Z")
		}
		return payload.Delivery{}, fault.JSON(err)
	}
	report, err := body.Report()
	if err != nil {
		return payload.Delivery{}, err
	}
	return payload.Delivery{EventType: string(report.Health.Status), Events: report.Events(), Reports: []evidence.Report{report}}, nil
}
