package pipelines

import (
	"errors"

	"promoter/internal/fault"
	"promoter/internal/snapshot"
	"promoter/internal/webhook/payload"
)

// Snapshot decodes the set of images that a release pipeline posts: a Snapshot resource,
// or plain JSON. See package snapshot for the forms.
func Snapshot(r payload.Request) (payload.Delivery, error) {
	posted, err := snapshot.Parse(r.JSON())
	switch {
	case errors.Is(err, snapshot.ErrOtherKind):
		other, err := payload.Read[struct {
			Kind string `json:"kind"`
		}](r)
		if err != nil {
			return payload.Delivery{}, err
		}
		return payload.Ignored(other.Kind, "only Snapshots matter")
	case err != nil:
		return payload.Delivery{}, fault.Wrap(fault.Invalid, err)
	}
	d := payload.Delivery{ID: posted.UID, EventType: "Snapshot", Snapshot: &posted}
	for _, component := range posted.Components {
		if e, ok := payload.ReferenceEvent(component.Image); ok {
			d.Events = append(d.Events, e)
		}
	}
	return d, nil
}
