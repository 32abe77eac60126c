package config

import "slices"

// Limit is what no repository config may exceed. A setting that is not allowed
// becomes the nearest stricter one that is: push, then automerge, then pr;
// automatic, then manual, then never. A setting stricter than all allowed ones
// stays. The zero Limit allows everything.
type Limit struct {
	Land      []Land    // nil: any
	Propose   []Propose // nil: any
	Approvals int       // at least; with it, what would be pushed becomes a pull request
}

// Apply returns the settings of an environment within the limit.
func (l Limit) Apply(settings Environment) Environment {
	wanted := settings.Propose
	settings.Land = l.land(settings.Land)
	settings.Propose = stricter(wanted, l.Propose, ProposeAutomatic, ProposeManual, ProposeNever)
	if settings.Propose != wanted && settings.Propose == ProposeManual {
		settings.Newer = NewerQueue // a request stays for what was requested
	}
	settings.Gates.Approvals = l.approvals(settings.Gates.Approvals)
	return settings
}

// land turns a push into a pull request if approvals are required.
func (l Limit) land(wanted Land) Land {
	land := stricter(wanted, l.Land, LandPush, LandAutomerge, LandPR)
	if land != LandPush || l.Approvals == 0 {
		return land
	}
	if len(l.Land) > 0 && !slices.Contains(l.Land, LandAutomerge) {
		return LandPR
	}
	return LandAutomerge
}

func (l Limit) approvals(wanted *Approvals) *Approvals {
	switch {
	case l.Approvals == 0 || wanted != nil && wanted.Count >= l.Approvals:
		return wanted
	case wanted == nil:
		return &Approvals{Count: l.Approvals}
	}
	return &Approvals{Count: l.Approvals, From: wanted.From}
}

// stricter returns the first allowed value from the wanted one on; the order is
// from the most permissive to the strictest.
func stricter[T comparable](wanted T, allowed []T, order ...T) T {
	if len(allowed) == 0 {
		return wanted
	}
	for _, value := range order[max(0, slices.Index(order, wanted)):] {
		if slices.Contains(allowed, value) {
			return value
		}
	}
	return wanted
}
