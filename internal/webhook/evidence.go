package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"promoter/internal/evidence"
	"promoter/internal/fault"
)

// posted decodes a report about health that a user posts, for instance a pipeline after its
// smoke tests: {"repository": "github.com/acme/gitops", "environment": "staging",
// "status": "Healthy", "revision": "…"}.
func posted(r Request) (Delivery, error) {
	decoder := json.NewDecoder(bytes.NewReader(r.payload()))
	decoder.DisallowUnknownFields()
	var body evidence.Posted
	if err := decoder.Decode(&body); err != nil {
		if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
			return Delivery{}, fault.New(fault.Invalid, "it has the unknown field %s", name)
		}
		if _, isTime := errors.AsType[*time.ParseError](err); isTime {
			return Delivery{}, fault.New(fault.Invalid, "its at is no time such as 2026-11-20T10:00:00Z")
		}
		return Delivery{}, unreadable(err)
	}
	report, err := body.Report()
	if err != nil {
		return Delivery{}, err
	}
	return Delivery{EventType: string(report.Health.Status), Events: report.Events(), Reports: []evidence.Report{report}}, nil
}
