package forge

import (
	"slices"

	"promoter/internal/app"
	"promoter/internal/cli/render"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/strictyaml"
)

// checkNames refuses names that no repository has. A repository that cannot be read may
// have any name.
func checkNames(results []app.Result, environment, application string, wanted func(promotion.Target) bool) error {
	if slices.ContainsFunc(results, isUnreadable) {
		return nil
	}
	var environments, applications []string
	for i := range results {
		for _, decision := range results[i].Report.Decisions {
			if wanted(decision.Target) {
				return nil
			}
			environments = render.AppendNew(environments, decision.Environment)
			if environment == "" || decision.Environment == environment {
				applications = render.AppendNew(applications, decision.Application)
			}
		}
	}
	if len(applications) > 0 {
		in := ""
		if environment != "" {
			in = " in " + environment
		}
		return fault.New(fault.Invalid, "no application %s%s%s; the applications are %s",
			application, in, meant(application, applications), fault.List(applications))
	}
	return fault.New(fault.Invalid, "no environment %s%s; the environments are %s",
		environment, meant(environment, environments), fault.List(environments))
}

// meant returns the name that a user probably meant, in parentheses.
func meant[Name ~string](written string, known []Name) string {
	if near := strictyaml.Nearest(written, known); near != "" {
		return " (did you mean " + string(near) + "?)"
	}
	return ""
}

func isUnreadable(result app.Result) bool { return result.Err != nil || result.Report.Unusable != "" }
