package config

import "slices"

// Settings of an environment are merged key by key: what the stronger layer does
// not say, the weaker one does. Lists are replaced as a whole.

// pick returns the stronger value where there is one.
func pick[T any](base, over at[T]) at[T] {
	if over.set() {
		return over
	}
	return base
}

// settings returns the part of an environment that may differ per application.
func (e *rawEnvironment) settings() rawOverride {
	return rawOverride{
		place: e.place, Propose: e.Propose, Land: e.Land, Newer: e.Newer,
		After: e.After, Gates: e.Gates, Health: e.Health, PullRequest: e.PullRequest,
	}
}

// merge puts one layer over another. Neither is changed.
func merge(base rawOverride, over *rawOverride) rawOverride {
	return rawOverride{
		place:       base.place,
		Propose:     pick(base.Propose, over.Propose),
		Land:        pick(base.Land, over.Land),
		Newer:       pick(base.Newer, over.Newer),
		After:       mergeAfter(base.After, over.After),
		Gates:       mergeGates(base.Gates, over.Gates),
		Health:      mergeHealth(base.Health, over.Health),
		PullRequest: mergePullRequest(base.PullRequest, over.PullRequest),
	}
}

// mergeAfter merges mappings parent by parent. The list form is a list and so
// replaces all parents and their conditions.
func mergeAfter(base, over rawAfter) rawAfter {
	if !over.set() {
		return base
	}
	if over.List || !base.set() {
		return over
	}
	merged := rawAfter{place: over.place}
	merged.Parents.Entries = slices.Clone(base.Parents.Entries)
	for _, e := range over.Parents.Entries {
		i := slices.IndexFunc(merged.Parents.Entries, func(b entry[*rawConditions]) bool { return b.Key.Value == e.Key.Value })
		if i < 0 {
			merged.Parents.Entries = append(merged.Parents.Entries, e)
			continue
		}
		merged.Parents.Entries[i] = entry[*rawConditions]{Key: e.Key, Value: mergeConditions(merged.Parents.Entries[i].Value, e.Value)}
	}
	return merged
}

func mergeConditions(base, over *rawConditions) *rawConditions {
	return &rawConditions{
		place:   over.place,
		Healthy: pick(base.Healthy, over.Healthy),
		Soak:    pick(base.Soak, over.Soak),
		Checks:  pick(base.Checks, over.Checks),
		Tagged:  pick(base.Tagged, over.Tagged),
	}
}

func mergeGates(base, over *rawGates) *rawGates {
	if base == nil || over == nil {
		return firstOf(over, base)
	}
	return &rawGates{
		place:     over.place,
		Windows:   pick(base.Windows, over.Windows),
		Checks:    pick(base.Checks, over.Checks),
		Approvals: mergeApprovals(base.Approvals, over.Approvals),
	}
}

func mergeApprovals(base, over *rawApprovals) *rawApprovals {
	if base == nil || over == nil {
		return firstOf(over, base)
	}
	return &rawApprovals{place: over.place, Count: pick(base.Count, over.Count), From: pick(base.From, over.From)}
}

// mergeHealth lets a layer that names a source replace the source of the other:
// an environment has one.
func mergeHealth(base, over *rawHealth) *rawHealth {
	if base == nil || over == nil {
		return firstOf(over, base)
	}
	merged := *over
	merged.From = pick(base.From, over.From)
	merged.Timeout = pick(base.Timeout, over.Timeout)
	merged.OnFailure = pick(base.OnFailure, over.OnFailure)
	if len(over.sources()) == 0 {
		merged.ArgoCD, merged.Flux, merged.Check = base.ArgoCD, base.Flux, base.Check
		merged.Deployment, merged.API = base.Deployment, base.API
	}
	return &merged
}

func mergePullRequest(base, over *rawPullRequest) *rawPullRequest {
	if base == nil || over == nil {
		return firstOf(over, base)
	}
	return &rawPullRequest{
		place:     over.place,
		Title:     pick(base.Title, over.Title),
		Body:      pick(base.Body, over.Body),
		Labels:    pick(base.Labels, over.Labels),
		Reviewers: pick(base.Reviewers, over.Reviewers),
		Assignees: pick(base.Assignees, over.Assignees),
		Draft:     pick(base.Draft, over.Draft),
		Group:     pick(base.Group, over.Group),
		Limit:     pick(base.Limit, over.Limit),
	}
}

// firstOf returns the first that is not nil.
func firstOf[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}
