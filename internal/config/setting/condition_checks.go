package setting

import (
	"promoter/internal/config/field"
	"promoter/internal/strictyaml"
)

var checksCondition = condition{
	check: func(report *strictyaml.Report, parent string, raw *RawConditions) {
		field.CheckStatuses(report, raw.Checks, "after."+parent+".checks")
	},
	merged: func(*strictyaml.Report, string, *RawConditions, *environment) {},
	isSet:  func(raw *RawConditions) bool { return len(raw.Checks.Items) > 0 },
	load:   func(raw *RawConditions, out *Parent) { out.Checks = raw.Checks.Strings() },
}
