package webhook

// snapshot decodes a Snapshot resource that a release pipeline posts: the images of the
// components of one application.
// https://konflux-ci.dev/docs/reference/kube-apis/application-api/#snapshot
func snapshot(r Request) (Delivery, error) {
	resource, err := read[struct {
		Kind     string `json:"kind"`
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
		Spec struct {
			Components []struct {
				Image string `json:"containerImage"`
			} `json:"components"`
		} `json:"spec"`
	}](r)
	switch {
	case err != nil:
		return Delivery{}, err
	case resource.Kind == "":
		return Delivery{}, missing("kind")
	case resource.Kind != "Snapshot":
		return ignored(resource.Kind, "only Snapshots matter")
	}
	d := Delivery{ID: resource.Metadata.UID, EventType: resource.Kind}
	for _, component := range resource.Spec.Components {
		if e, ok := referenceEvent(component.Image); ok {
			d.Events = append(d.Events, e)
		}
	}
	return d, nil
}
