package promotion

import "promoter/internal/config"

// draftGate keeps promoter from merging a draft.
func draftGate(in *input, open *Open) []Condition {
	if open == nil || !open.Draft || in.settings.Land != config.LandAutomerge {
		return nil
	}
	return []Condition{{Name: "draft", State: Pending, Reason: "the pull request is a draft"}}
}
