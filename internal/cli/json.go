package cli

import (
	"io"

	"promoter/internal/checkout"
	"promoter/internal/promotion"

	"promoter/internal/edit"
	"promoter/internal/fault"
)

// planSchema is the number of the JSON format. It goes up when a reader of the
// old one would misread the new one; new keys alone do not count.
const planSchema = 1

type planJSON struct {
	Schema       int         `json:"schema"`
	Errors       []errorJSON `json:"errors"`
	Environments []placeJSON `json:"environments"`
}

type errorJSON struct {
	Component string     `json:"component"`
	Kind      fault.Kind `json:"kind"`
	Message   string     `json:"message"`
}

type placeJSON struct {
	Name        string                `json:"name"`
	Application string                `json:"application"`
	Branch      string                `json:"branch,omitempty"`
	Snapshot    string                `json:"snapshot"`
	State       promotion.State       `json:"state"`
	Reason      string                `json:"reason"`
	Changes     []edit.Change         `json:"changes"`
	Refused     []edit.Refusal        `json:"refused"`
	Conditions  []promotion.Condition `json:"conditions"`
	Gates       []promotion.Condition `json:"gates"`
}

// jsonRenderer prints the preview for programs. Lists are never null.
type jsonRenderer struct{}

func (jsonRenderer) render(w io.Writer, preview *checkout.Preview) error {
	out := planJSON{Schema: planSchema, Errors: []errorJSON{}, Environments: []placeJSON{}}
	for _, e := range preview.Errors {
		out.Errors = append(out.Errors, errorJSON{e.Component, fault.KindOf(e.Err), e.Err.Error()})
	}
	for i := range preview.Targets {
		out.Environments = append(out.Environments, placeToJSON(&preview.Targets[i]))
	}
	return writeJSON(w, out)
}

func placeToJSON(target *checkout.TargetPreview) placeJSON {
	return placeJSON{
		Name:        target.Environment,
		Application: target.Application,
		Branch:      target.Branch,
		Snapshot:    target.Snapshot.ID(),
		State:       target.State,
		Reason:      target.Reason.String(),
		Changes:     list(target.Changes),
		Refused:     list(target.Refusals),
		Conditions:  list(target.Conditions),
		Gates:       list(target.Gates),
	}
}

// list turns a nil slice into an empty one.
func list[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}
