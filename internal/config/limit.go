package config

import (
	"slices"

	"promoter/internal/config/setting"
)

// Limit is what no repository config may exceed. A setting that is not allowed
// becomes the nearest stricter one that is: push, then automerge, then pr;
// automatic, then manual, then never. A setting stricter than all allowed ones
// stays. The zero Limit allows everything.
type Limit struct {
	Land      []setting.Land    // nil: any
	Propose   []setting.Propose // nil: any
	Approvals int               // at least; with it, what would be pushed becomes a pull request
	// RollbackInWindows lets automatic rollbacks wait for the windows of the environment.
	RollbackInWindows bool
}

// Apply returns the settings of an environment within the limit.
func (l Limit) Apply(settings Environment) Environment {
	wanted := settings.Propose
	settings.Land = l.land(settings.Land)
	settings.Propose = stricter(wanted, l.Propose, setting.ProposeAutomatic, setting.ProposeManual, setting.ProposeNever)
	if settings.Propose != wanted && settings.Propose == setting.ProposeManual {
		settings.Newer = setting.NewerQueue // a request stays for what was requested
	}
	settings.Gates.Approvals = l.approvals(settings.Gates.Approvals)
	settings.Gates.RollbackInWindows = l.RollbackInWindows
	return settings
}

// land turns a push into a pull request if approvals are required.
func (l Limit) land(wanted setting.Land) setting.Land {
	land := stricter(wanted, l.Land, setting.LandPush, setting.LandAutomerge, setting.LandPR)
	if land != setting.LandPush || l.Approvals == 0 {
		return land
	}
	if len(l.Land) > 0 && !slices.Contains(l.Land, setting.LandAutomerge) {
		return setting.LandPR
	}
	return setting.LandAutomerge
}

func (l Limit) approvals(wanted *setting.Approvals) *setting.Approvals {
	switch {
	case l.Approvals == 0 || wanted != nil && wanted.Count >= l.Approvals:
		return wanted
	case wanted == nil:
		return &setting.Approvals{Count: l.Approvals}
	}
	return &setting.Approvals{Count: l.Approvals, From: wanted.From}
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
