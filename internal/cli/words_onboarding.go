package cli

import (
	"promoter/internal/onboarding"
)

// onboardingInWords says what came of offering a config file to a repository.
func onboardingInWords(came onboarding.Result) string {
	text := "onboarding pull request "
	if came.Number > 0 {
		text += pullRequestName(came.Number, came.URL) + " "
	}
	text += string(came.State)
	if came.Reason != "" {
		text += ": " + came.Reason
	}
	return text
}
