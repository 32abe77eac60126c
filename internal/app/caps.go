package app

import (
	"slices"

	"promoter/internal/promotion"

	"promoter/internal/config"
)

// caps are the limits of the file for one repository. Where several name an
// environment, each holds.
func (s *Server) caps(repository qualified) promotion.Limits {
	var limits []config.Limit
	for _, limit := range s.file.Limits {
		if limit.Repositories == nil || repository.fitsAny(limit.Repositories) {
			limits = append(limits, limit)
		}
	}
	if len(limits) == 0 {
		return nil
	}
	return func(environment string) promotion.Limit { return capOf(limits, environment) }
}

func capOf(limits []config.Limit, environment string) promotion.Limit {
	var out promotion.Limit
	for _, limit := range limits {
		if limit.Environments != nil && !anyGlob(limit.Environments, environment) {
			continue
		}
		out.Land = common(out.Land, limit.Land, config.LandPR)
		out.Propose = common(out.Propose, limit.Propose, config.ProposeNever)
		out.Approvals = max(out.Approvals, limit.Approvals)
	}
	return out
}

// common returns what two lists both allow; none allows anything. Where they have
// nothing in common only the strictest is left.
func common[T comparable](a, b []T, strictest T) []T {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	left := slices.DeleteFunc(slices.Clone(a), func(value T) bool { return !slices.Contains(b, value) })
	if len(left) == 0 {
		return []T{strictest}
	}
	return left
}

func anyGlob(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { return config.MatchGlob(glob, name) })
}
