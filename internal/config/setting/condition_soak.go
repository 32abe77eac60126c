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
		settings, soak := parent.raw, raw.Soak
		automatic := settings.Propose.Or(string(ProposeAutomatic)) == string(ProposeAutomatic)
		lands := settings.Land.Value == string(LandAutomerge) || settings.Land.Value == string(LandPush)
		if soak.Value > 0 && automatic && lands && settings.Newer.Or(string(NewerRefresh)) == string(NewerRefresh) {
			const problem = "each newer snapshot in %[1]s restarts the %[2]s soak of %[3]s: " +
				"if they arrive more often, none reaches %[3]s"
			report.Warnf(soak.Position, "write newer: drain in "+parent.name, problem,
				parent.name, schedule.FormatDuration(soak.Value), child)
		}
	},
	isSet: func(raw *RawConditions) bool { return raw.Soak.Value > 0 },
	load:  func(raw *RawConditions, out *Parent) { out.Soak = raw.Soak.Value },
}
