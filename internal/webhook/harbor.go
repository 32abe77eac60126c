package webhook

import "strings"

// harbor reads a notification of a Harbor project: PUSH_ARTIFACT, and pushImage of
// version 1. One may have several resources.
// https://goharbor.io/docs/2.13.0/working-with-projects/project-configuration/configure-webhooks/
func harbor(r Request) (Delivery, error) {
	pushed, err := read[struct {
		Type string `json:"type"`
		Data struct {
			Resources []struct {
				Digest string `json:"digest"`
				Tag    string `json:"tag"`
				URL    string `json:"resource_url"` // HOST/PROJECT/NAME:TAG, without a scheme
			} `json:"resources"`
			Repository struct {
				Name      string `json:"name"`
				Namespace string `json:"namespace"`
				FullName  string `json:"repo_full_name"`
			} `json:"repository"`
		} `json:"event_data"`
	}](r)
	switch {
	case err != nil:
		return Delivery{}, err
	case pushed.Type == "":
		return Delivery{}, lacks("type")
	case pushed.Type != "PUSH_ARTIFACT" && pushed.Type != "pushImage":
		return ignored(pushed.Type, "only pushes matter")
	case len(pushed.Data.Resources) == 0:
		return Delivery{}, lacks("event_data.resources")
	}
	of := pushed.Data.Repository
	path := firstOf(of.FullName, strings.Trim(of.Namespace+"/"+of.Name, "/"))
	d := Delivery{Event: pushed.Type}
	for _, resource := range pushed.Data.Resources {
		if hint, ok := referenceHint(resource.URL); ok && strings.Contains(resource.URL, "/") {
			hint.Image.Tag, hint.Image.Digest = resource.Tag, resource.Digest
			d.Hints = append(d.Hints, hint)
			continue
		}
		d.Hints = append(d.Hints, imageHint("", path, resource.Tag, resource.Digest))
	}
	return d, nil
}
