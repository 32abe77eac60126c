package webhook

import (
	"errors"

	"promoter/internal/fault"
	"promoter/internal/snapshot"
)

// readSnapshot decodes the set of images that a release pipeline posts: a Snapshot resource,
// or plain JSON. See package snapshot for the forms.
func readSnapshot(r Request) (Delivery, error) {
	posted, err := snapshot.Parse(r.payload())
	switch {
	case errors.Is(err, snapshot.ErrOtherKind):
		other, err := read[struct {
			Kind string `json:"kind"`
		}](r)
		if err != nil {
			return Delivery{}, err
		}
		return ignored(other.Kind, "only Snapshots matter")
	case err != nil:
		return Delivery{}, fault.Wrap(fault.Invalid, err)
	}
	d := Delivery{ID: posted.UID, EventType: "Snapshot", Snapshot: &posted}
	for _, component := range posted.Components {
		if e, ok := referenceEvent(component.Image); ok {
			d.Events = append(d.Events, e)
		}
	}
	return d, nil
}
