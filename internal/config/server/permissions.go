package serverconfig

import (
	"errors"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/config/field"
	"promoter/internal/config/setting"
	"promoter/internal/glob"
	"promoter/internal/strictyaml"
	"promoter/internal/verb"
)

// Scope is where a rule of the server file applies. Lists are patterns; nil means
// everywhere.
type Scope struct {
	Repositories []string
	Applications []string
	Environments []string
	Branches     []string
	Paths        []string
}

// Permission allows users to use verbs.
type Permission struct {
	config.Position
	Scope
	Verbs []verb.Verb
	Who   []string // NAME or team:GROUP/NAME
}

// Bypass allows users to bypass conditions and gates with a request or a rollback.
type Bypass struct {
	config.Position
	Scope
	Conditions []string // of verb.Bypassable
	Who        []string // NAME or team:GROUP/NAME
}

// Limit is what config files may not exceed.
type Limit struct {
	config.Position
	Scope
	Land      []setting.Land    // nil: any
	Propose   []setting.Propose // nil: any
	Approvals int               // at least
	// RollbackInWindows lets automatic rollbacks wait for windows.
	RollbackInWindows bool
}

// rawPermission is a rule about who can use commands in comments.
type rawPermission struct {
	strictyaml.Origin
	// Commands that the rule is about. `rollback`, `freeze`, and `thaw` do not exist as commands in comments.
	Verbs strictyaml.List `yaml:"verbs" required:"true"`
	// Globs of repositories where the rule applies: `HOST/OWNER/NAME`. Default: all.
	Repositories strictyaml.List `yaml:"repositories"`
	// Globs of applications where the rule applies. Default: all.
	Applications strictyaml.List `yaml:"applications"`
	// Globs of environments where the rule applies. Default: all.
	Environments strictyaml.List `yaml:"environments"`
	// Globs of branches where the rule applies; an environment without a branch has the default branch. Default: all.
	Branches strictyaml.List `yaml:"branches"`
	// Paths, as in [`environments.<name>.paths`](config.md#environmentsnamepaths), where the rule applies if a file
	// of the application is there. Default: all.
	Paths strictyaml.List `yaml:"paths"`
	// Users who can use the commands: `NAME` or `team:GROUP/NAME`.
	Who strictyaml.List `yaml:"who" required:"true"`
}

// rawBypass is a rule about who can bypass conditions and gates.
type rawBypass struct {
	strictyaml.Origin
	// Conditions and gates that a request or a rollback can bypass: `soak`, `healthy`, `checks`, `tagged`, `windows`,
	// `approvals`, and `freeze`.
	Conditions strictyaml.List `yaml:"conditions" required:"true"`
	// Globs of repositories where the rule applies: `HOST/OWNER/NAME`. Default: all.
	Repositories strictyaml.List `yaml:"repositories"`
	// Globs of applications where the rule applies. Default: all.
	Applications strictyaml.List `yaml:"applications"`
	// Globs of environments where the rule applies. Default: all.
	Environments strictyaml.List `yaml:"environments"`
	// Globs of branches where the rule applies; an environment without a branch has the default branch. Default: all.
	Branches strictyaml.List `yaml:"branches"`
	// Paths, as in [`environments.<name>.paths`](config.md#environmentsnamepaths), where the rule applies if all
	// files of the application are there. Default: all.
	Paths strictyaml.List `yaml:"paths"`
	// Users who can bypass them: `NAME` or `team:GROUP/NAME`.
	Who strictyaml.List `yaml:"who" required:"true"`
}

// rawLimit is a restriction of config files.
type rawLimit struct {
	strictyaml.Origin
	// Globs of repositories where the limit applies: `HOST/OWNER/NAME`. Default: all.
	Repositories strictyaml.List `yaml:"repositories"`
	// Globs of applications where the limit applies. Default: all.
	Applications strictyaml.List `yaml:"applications"`
	// Globs of environments where the limit applies. Default: all.
	Environments strictyaml.List `yaml:"environments"`
	// Globs of branches where the limit applies; an environment without a branch has the default branch. Default: all.
	Branches strictyaml.List `yaml:"branches"`
	// Paths, as in [`environments.<name>.paths`](config.md#environmentsnamepaths), where the limit applies if a
	// file of the application is there. Default: all.
	Paths strictyaml.List `yaml:"paths"`
	// Allowed values of `land`. Default: any.
	Land strictyaml.List `yaml:"land" values:"pr automerge push"`
	// Allowed values of `propose`. Default: any.
	Propose strictyaml.List `yaml:"propose" values:"automatic manual never"`
	// Minimum number of required approvals. Default: none.
	Approvals strictyaml.Located[int] `yaml:"approvals"`
	// Automatic rollbacks wait for the windows of their environment, as promotions do. See
	// docs/guides/rollback.md#automatic-rollback. Default: `false`.
	RollbackInWindows strictyaml.Located[bool] `yaml:"rollbackInWindows"`
}

func loadPermissions(in *input) (permissions []Permission) {
	for _, raw := range in.raw.Permissions {
		required(in.report, raw.Origin, "permission", "verbs", raw.Verbs)
		required(in.report, raw.Origin, "permission", "who", raw.Who)
		field.CheckUsers(in.report, raw.Who, "who")
		permissions = append(permissions, Permission{
			Position: raw.Position, Verbs: valuesOf(in, raw.Verbs, "verbs", verb.Decisions()), Who: raw.Who.Strings(),
			Scope: loadScope(in.report, scopeLists{raw.Repositories, raw.Applications, raw.Environments, raw.Branches, raw.Paths}),
		})
	}
	return permissions
}

func loadBypass(in *input) (rules []Bypass) {
	for _, raw := range in.raw.Bypass {
		required(in.report, raw.Origin, "bypass rule", "conditions", raw.Conditions)
		required(in.report, raw.Origin, "bypass rule", "who", raw.Who)
		field.CheckUsers(in.report, raw.Who, "who")
		rules = append(rules, Bypass{
			Position: raw.Position, Who: raw.Who.Strings(), Conditions: valuesOf(in, raw.Conditions, "conditions", verb.Bypassable()),
			Scope: loadScope(in.report, scopeLists{raw.Repositories, raw.Applications, raw.Environments, raw.Branches, raw.Paths}),
		})
	}
	return rules
}

// valuesOf returns the values of a list that are permitted. Others are problems.
func valuesOf[T ~string](in *input, list strictyaml.List, key string, permitted []T) (values []T) {
	known := textsOf(permitted)
	for i := range list.Items {
		if in.report.OneOf(&list.Items[i], key, known) {
			values = append(values, T(list.Items[i].Value))
		}
	}
	return values
}

func textsOf[T ~string](values []T) (texts []string) {
	for _, one := range values {
		texts = append(texts, string(one))
	}
	return texts
}

// required requires a list that is not empty: an empty one would never apply, although
// its author believes that it does.
func required(report *strictyaml.Report, section strictyaml.Origin, what, key string, values strictyaml.List) {
	switch {
	case values.IsEmpty():
		report.Errorf(values.Position, "name at least one", "%s of a %s is empty", key, what)
	case !section.Invalid && !values.IsSet():
		report.Errorf(section.Position, "add "+key+": […]", "a %s has no %s", what, key)
	}
}

// scopeLists are the lists of a scope as they are written.
type scopeLists struct{ repositories, applications, environments, branches, paths strictyaml.List }

func loadScope(report *strictyaml.Report, lists scopeLists) Scope {
	checkRepositoryPatterns(report, lists.repositories, "repositories")
	for _, list := range []struct {
		key, kind string
		names     bool
		strictyaml.List
	}{
		{"repositories", "repository", false, lists.repositories},
		{"applications", "application", true, lists.applications},
		{"environments", "environment", true, lists.environments},
		{"branches", "branch", false, lists.branches},
		{"paths", "path", false, lists.paths},
	} {
		// Without the list the entry applies everywhere, which an empty one does not
		// suggest.
		report.ErrorIf(list.IsEmpty(), list.Position, "name at least one, or remove "+list.key+" to apply to all", "%s is empty", list.key)
		for _, pattern := range list.Items {
			if list.names && pattern.Valid() && !field.ValidNamePattern(pattern.Value) {
				report.Errorf(pattern.Position, "use "+field.NameRule+", and * for any part",
					"no %s can have a name like %q", list.kind, pattern.Value)
			}
		}
	}
	for _, pattern := range lists.branches.Items {
		if pattern.Valid() && (pattern.Value == "" || strings.HasPrefix(pattern.Value, "refs/") ||
			strings.ContainsAny(pattern.Value, " ?[]{}~^:\\")) {
			report.Errorf(pattern.Position, "write the name without refs/heads/, and * for any part",
				"no branch can have a name like %q", pattern.Value)
		}
	}
	for _, pattern := range lists.paths.Items {
		var invalid *glob.Error
		if _, err := glob.ParsePath(pattern.Value); pattern.Valid() && errors.As(err, &invalid) {
			report.Errorf(pattern.Position, invalid.Hint, "%q: %s", pattern.Value, invalid.Message)
		}
	}
	return Scope{
		Repositories: lists.repositories.Strings(), Applications: lists.applications.Strings(), Environments: lists.environments.Strings(),
		Branches: lists.branches.Strings(), Paths: lists.paths.Strings(),
	}
}

func loadLimits(in *input) []Limit {
	var limits []Limit
	for _, raw := range in.raw.Limits {
		if raw.Invalid {
			continue
		}
		lists := scopeLists{raw.Repositories, raw.Applications, raw.Environments, raw.Branches, raw.Paths}
		limit := Limit{
			Position: raw.Position, Approvals: raw.Approvals.Value, RollbackInWindows: raw.RollbackInWindows.Value,
			Scope: loadScope(in.report, lists),
		}
		for _, land := range raw.Land.Strings() {
			limit.Land = append(limit.Land, setting.Land(land))
		}
		for _, propose := range raw.Propose.Strings() {
			limit.Propose = append(limit.Propose, setting.Propose(propose))
		}
		if !raw.Land.IsSet() && !raw.Propose.IsSet() && !raw.Approvals.IsSet() && !raw.RollbackInWindows.Value {
			const add = "add land: [pr, automerge], propose, approvals, or rollbackInWindows: true"
			in.report.Errorf(raw.Position, add, "a limit has no effect")
		}
		in.report.ErrorIf(raw.Land.IsEmpty(), raw.Land.Position, "name what is allowed", "land of a limit allows nothing")
		in.report.ErrorIf(raw.Propose.IsEmpty(), raw.Propose.Position, "name what is allowed", "propose of a limit allows nothing")
		if raw.Approvals.Valid() && (raw.Approvals.Value < 1 || raw.Approvals.Value > setting.MaxApprovals) {
			in.report.Errorf(raw.Approvals.Position, "remove approvals when none is needed",
				"approvals must be 1 to %d", setting.MaxApprovals)
		}
		if raw.Approvals.Value > 0 && slices.Contains(limit.Land, setting.LandPush) {
			in.report.Errorf(raw.Approvals.Position, "remove push from land",
				"a limit requires approvals and allows land: push, which has none")
		}
		limits = append(limits, limit)
	}
	return limits
}
