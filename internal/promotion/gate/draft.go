package gate

import (
	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
)

// draftGate keeps promoter from merging a draft.
func draftGate(in input.Target, _ []promotion.Move, open *promotion.Open) []promotion.Condition {
	if open == nil || !open.Draft || in.Settings.Land != setting.LandAutomerge {
		return nil
	}
	return []promotion.Condition{{Name: "draft", State: promotion.Pending, Reason: "the pull request is a draft"}}
}
