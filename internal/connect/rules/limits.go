package rules

import (
	"slices"

	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/scm"
)

// Limits returns the limits of the server file for a repository that is open. Where several entries
// cover a deployment, all of them apply.
func Limits(file *serverconfig.Config, of scm.Repository) promotion.Limits {
	name := NameOf(of.Info())
	limits := slices.DeleteFunc(slices.Clone(file.Limits), func(l serverconfig.Limit) bool { return !name.isIn(l.Scope) })
	if len(limits) == 0 {
		return nil
	}
	return func(d promotion.Deployment) config.Limit { return combine(limits, d) }
}

// combine returns the limits of a deployment as one.
func combine(limits []serverconfig.Limit, d promotion.Deployment) config.Limit {
	scopes := make([]serverconfig.Scope, len(limits))
	for i, limit := range limits {
		scopes[i] = limit.Scope
	}
	applies := coverageOf(scopes, d)
	var out config.Limit
	for i, limit := range limits {
		if applies[i] == elsewhere {
			continue
		}
		out.Land = intersect(out.Land, limit.Land, setting.LandPR)
		out.Propose = intersect(out.Propose, limit.Propose, setting.ProposeNever)
		out.Approvals = max(out.Approvals, limit.Approvals)
		out.RollbackInWindows = out.RollbackInWindows || limit.RollbackInWindows
	}
	return out
}

// intersect returns what two lists both allow; an empty list allows everything. If they
// have nothing in common, only the strictest value is allowed.
func intersect[T comparable](a, b []T, strictest T) []T {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	common := slices.DeleteFunc(slices.Clone(a), func(value T) bool { return !slices.Contains(b, value) })
	if len(common) == 0 {
		return []T{strictest}
	}
	return common
}
