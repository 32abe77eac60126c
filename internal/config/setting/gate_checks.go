package setting

import (
	"promoter/internal/config/field"
	"promoter/internal/strictyaml"
)

var checksGate = gate{
	key:    "checks",
	check:  func(f *File, raw *rawGates) { field.CheckStatuses(f.Report, raw.Checks, "gates.checks") },
	merged: valid,
	needsPullRequest: func(raw *rawGates) (none strictyaml.Origin) {
		if len(raw.Checks.Items) > 0 {
			return raw.Checks.Origin
		}
		return none
	},
	withoutPullRequest: "write land: automerge, or require the checks under after of a child",
	load:               func(raw *rawGates, out *Gates) { out.Checks = raw.Checks.Strings() },
}
