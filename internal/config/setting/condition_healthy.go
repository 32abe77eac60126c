package setting

import "promoter/internal/strictyaml"

var healthyCondition = condition{
	check: func(*strictyaml.Report, string, *RawConditions) {},
	merged: func(report *strictyaml.Report, child string, raw *RawConditions, parent *environment) {
		const problem = "%[1]s requires that %[2]s is healthy, but %[2]s has no health: nothing would ever report it"
		if raw.Healthy.Value && parent.raw.Health == nil {
			report.Errorf(raw.Healthy.Position, "add health to "+parent.name+", or remove healthy", problem, child, parent.name)
		}
	},
	isSet: func(raw *RawConditions) bool { return raw.Healthy.Value },
	load:  func(raw *RawConditions, out *Parent) { out.Healthy = raw.Healthy.Value },
}
