package setting

import (
	"slices"
	"strings"

	"promoter/internal/config/field"
	"promoter/internal/strictyaml"
)

// Approvals are the approvals that a pull request needs.
type Approvals struct {
	Count int
	From  []string // NAME or team:GROUP/NAME; nil: every user with write access
}

// MaxApprovals is more than the rules of any forge require.
const MaxApprovals = 50

// rawApprovals is the approvals that a pull request needs.
type rawApprovals struct {
	strictyaml.Origin
	// Number of required approvals, 1 to 50. At most the number of users in `from`. Default: `1`.
	Count strictyaml.Located[int] `yaml:"count"`
	// Users whose approvals count: `NAME` or `team:GROUP/NAME`. Default: all users with write access.
	From strictyaml.List `yaml:"from"`
}

var approvalsGate = gate{
	key: "approvals",
	check: func(f *File, raw *rawGates) {
		a := raw.Approvals
		if a == nil || a.Invalid {
			return
		}
		if a.Count.Valid() && (a.Count.Value < 1 || a.Count.Value > MaxApprovals) {
			f.Report.Errorf(a.Count.Position, "remove approvals when none is needed", "approvals.count must be 1 to %d", MaxApprovals)
		}
		f.Report.ErrorIf(a.From.IsEmpty(), a.From.Position, "remove from to let every user with write access approve",
			"approvals.from is an empty list, so no user could approve")
		field.CheckUsers(f.Report, a.From, "approvals.from")
	},
	// There must be enough users to approve. A team counts as many, because its members
	// are not known here.
	merged: func(report *strictyaml.Report, raw *rawGates) {
		if raw.Approvals == nil {
			return
		}
		a, users := raw.Approvals, raw.Approvals.From.Strings()
		team := slices.ContainsFunc(users, func(user string) bool { return strings.HasPrefix(user, field.TeamPrefix) })
		if len(users) > 0 && !team && a.Count.Or(1) > len(users) {
			fix := "lower count, or name more users" + also(a.From.Origin, a.Count.Origin, "from")
			report.Errorf(a.Count.Position, fix,
				"%d approvals are required from %d users: %s", a.Count.Value, len(users), strings.Join(users, ", "))
		}
	},
	needsPullRequest: func(raw *rawGates) (none strictyaml.Origin) {
		if raw.Approvals != nil {
			return raw.Approvals.Origin
		}
		return none
	},
	withoutPullRequest: "write land: automerge, or propose: manual",
	load: func(raw *rawGates, out *Gates) {
		if raw.Approvals != nil {
			out.Approvals = &Approvals{Count: raw.Approvals.Count.Or(1), From: raw.Approvals.From.Strings()}
		}
	},
}
