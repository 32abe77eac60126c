package config

import (
	"promoter/internal/config/field"
	"promoter/internal/strictyaml"
)

var checksCondition = condition{
	check: func(report *strictyaml.Report, parent string, raw *rawConditions) {
		field.CheckStatuses(report, raw.Checks, "after."+parent+".checks")
	},
	merged: func(*strictyaml.Report, string, *rawConditions, *settings) {},
	isSet:  func(raw *rawConditions) bool { return len(raw.Checks.Items) > 0 },
	load:   func(raw *rawConditions, out *Parent) { out.Checks = raw.Checks.Strings() },
}
