package setting

import (
	"promoter/internal/schedule"
	"promoter/internal/strictyaml"
)

var soakCondition = condition{
	check: func(*strictyaml.Report, string, *RawConditions) {},
	// Newer snapshots can keep a soak from ever passing: the parent accepts each of them
	// without a user, and none stays long enough.
	merged: func(report *strictyaml.Report, child string, raw *RawConditions, parent *environment) {
		settings := parent.raw
		automatic := settings.Propose.Or(string(ProposeAutomatic)) == string(ProposeAutomatic)
		lands := settings.Land.Value == string(LandAutomerge) || settings.Land.Value == string(LandPush)
		if raw.Soak.Value > 0 && automatic && lands && settings.Newer.Or(string(NewerRefresh)) == string(NewerRefresh) {
			report.Warnf(raw.Soak.Position, "write newer: drain in "+parent.name,
				"each newer snapshot in %s restarts the %s soak of %s: if they arrive more often, none reaches %s",
				parent.name, schedule.FormatDuration(raw.Soak.Value), child, child)
		}
	},
	isSet: func(raw *RawConditions) bool { return raw.Soak.Value > 0 },
	load:  func(raw *RawConditions, out *Parent) { out.Soak = raw.Soak.Value },
}
