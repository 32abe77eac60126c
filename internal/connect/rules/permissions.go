package rules

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/comments"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/scm"
	"promoter/internal/verb"
)

// permissions decide which users may give commands in comments on a repository: those
// that the permissions of the server file name, and where none covers a target, those
// who may write to the repository. It implements comments.Permissions.
type permissions struct {
	rules      []serverconfig.Permission // that cover the repository
	signals    scm.Signals
	repository string // its name
}

// Permissions returns the permissions of a repository that is open. The forge is asked
// for each command.
func Permissions(file *serverconfig.Config, of scm.Repository) comments.Permissions {
	p, name := permissions{signals: of.Signals(), repository: of.Info().Name}, NameOf(of.Info())
	p.rules = slices.DeleteFunc(slices.Clone(file.Permissions), func(r serverconfig.Permission) bool { return !name.isIn(r.Scope) })
	return p
}

// bypasses decide which users may bypass conditions and gates: only those that the server file
// names. It implements comments.Bypasses.
type bypasses struct {
	rules   []serverconfig.Bypass // that cover the repository
	host    string                // of the forge
	request func(identity.User) request
}

// Bypasses returns who may bypass conditions and gates in a repository that is open.
func Bypasses(file *serverconfig.Config, of scm.Repository) comments.Bypasses {
	info := of.Info()
	p, name := permissions{signals: of.Signals(), repository: info.Name}, NameOf(info)
	b := bypasses{host: info.Self.Host, request: func(user identity.User) request {
		return request{permissions: p, user: user, teams: map[string]bool{}}
	}}
	b.rules = slices.DeleteFunc(slices.Clone(file.Bypass), func(r serverconfig.Bypass) bool { return !name.isIn(r.Scope) })
	return b
}

// MayBypass implements comments.Bypasses. A rule grants something, so that one which does not
// know the target, or only some of its files, grants nothing.
func (b bypasses) MayBypass(
	ctx context.Context, user identity.User, condition string, target promotion.Deployment,
) (comments.Permission, error) {
	if !user.Verified() || !strings.EqualFold(user.Host, b.host) {
		return comments.Permission{Reason: fmt.Sprintf("only a user whom the forge authenticated may bypass %s", condition)}, nil
	}
	asked := b.request(user)
	for _, d := range eachFile(target) {
		named, err := asked.named(ctx, b.who(condition, d))
		if err != nil {
			return comments.Permission{}, err
		}
		if !named {
			return comments.Permission{
				Reason: fmt.Sprintf("only users named by bypass in the server file may bypass %s of %s", condition, target.Target.Name()),
			}, nil
		}
	}
	return comments.Permission{Allowed: true}, nil
}

// eachFile returns the deployment once for each of its files.
func eachFile(d promotion.Deployment) []promotion.Deployment {
	if len(d.Files) == 0 {
		return []promotion.Deployment{d}
	}
	all := make([]promotion.Deployment, len(d.Files))
	for i, file := range d.Files {
		all[i] = d
		all[i].Files = []string{file}
	}
	return all
}

// who returns the users and teams whom rules allow to bypass a condition. If some of the rules
// that cover the target name branches or paths, only these count, because the names of the
// target are up to the writers of the repository.
func (b bypasses) who(condition string, d promotion.Deployment) []string {
	var scopes []serverconfig.Scope
	for _, rule := range b.rules {
		scopes = append(scopes, rule.Scope)
	}
	var byName, byFiles []string
	bound := false
	for i, applies := range coverageOf(scopes, d) {
		rule := b.rules[i]
		switch {
		case applies != covered:
		case rule.Branches != nil || rule.Paths != nil:
			if bound = true; slices.Contains(rule.Conditions, condition) {
				byFiles = append(byFiles, rule.Who...)
			}
		case slices.Contains(rule.Conditions, condition):
			byName = append(byName, rule.Who...)
		}
	}
	if bound {
		return byFiles
	}
	return byName
}

// Allowed implements comments.Permissions.
func (p permissions) Allowed(
	ctx context.Context, user identity.User, v verb.Verb, targets ...promotion.Deployment,
) (comments.Permission, error) {
	r := request{permissions: p, user: user, teams: map[string]bool{}}
	if v == verb.Help || v == verb.Explain || v == verb.Refresh {
		return r.related(ctx)
	}
	for _, target := range targets {
		if right, err := r.about(ctx, v, target); err != nil || !right.Allowed {
			return right, err
		}
	}
	return comments.Permission{Allowed: len(targets) > 0}, nil
}

// Named implements comments.Permissions.
func (p permissions) Named(v verb.Verb, targets ...promotion.Deployment) (all []string, named bool) {
	for _, target := range targets {
		for _, who := range p.required(v, target) {
			if !named {
				all, named = slices.Clone(who), true
				continue
			}
			all = slices.DeleteFunc(all, func(name string) bool { return !slices.Contains(who, name) })
		}
	}
	slices.Sort(all)
	return slices.Compact(all), named
}

// required returns lists of users and teams for a verb on a target, of which a user must be
// in each; none if no rule covers it. Where no rule for unreject does, those for resume count.
func (p permissions) required(v verb.Verb, d promotion.Deployment) (lists [][]string) {
	lists = p.requiredOf(v, d)
	if v == verb.Unreject && lists == nil {
		lists = p.requiredOf(verb.Resume, d)
	}
	return lists
}

func (p permissions) requiredOf(v verb.Verb, d promotion.Deployment) (lists [][]string) {
	var rules []serverconfig.Permission
	var scopes []serverconfig.Scope
	for _, rule := range p.rules {
		if slices.Contains(rule.Verbs, v) {
			rules, scopes = append(rules, rule), append(scopes, rule.Scope)
		}
	}
	if !slices.ContainsFunc(scopes, func(scope serverconfig.Scope) bool { return scope.Paths != nil }) || len(d.Files) == 0 {
		return requiredBy(rules, coverageOf(scopes, d))
	}
	// Each file counts for itself: a rule for one of them allows nothing for the others.
	for _, file := range d.Files {
		one := d
		one.Files = []string{file}
		for _, who := range requiredBy(rules, coverageOf(scopes, one)) {
			if !slices.ContainsFunc(lists, func(known []string) bool { return slices.Equal(known, who) }) {
				lists = append(lists, who)
			}
		}
	}
	return lists
}

// requiredBy returns the lists of rules. Those that cover a target are one list together;
// if some of them name branches or paths, only these, because the names of the target are
// up to the writers of the repository. Each rule that applies because none knows the target
// is a list of its own.
func requiredBy(rules []serverconfig.Permission, applies []coverage) (lists [][]string) {
	var together, bound []string
	for i, rule := range rules {
		switch {
		case applies[i] == notKnown:
			lists = append(lists, rule.Who)
		case applies[i] == elsewhere:
		case rule.Branches != nil || rule.Paths != nil:
			bound = append(bound, rule.Who...)
		default:
			together = append(together, rule.Who...)
		}
	}
	if bound != nil {
		together = bound
	}
	if together != nil {
		lists = append(lists, together)
	}
	return lists
}

// request is the command of one user. Each fact is asked of the forge once.
type request struct {
	permissions permissions
	user        identity.User
	teams       map[string]bool
	writes      *bool // nil: not asked yet
}

// related reports whether a rule names the user, or the user may write. The rules come
// first, because not every forge tells every account who may write.
func (r *request) related(ctx context.Context) (comments.Permission, error) {
	for _, rule := range r.permissions.rules {
		if named, err := r.named(ctx, rule.Who); err != nil || named {
			return comments.Permission{Allowed: named}, err
		}
	}
	may, err := r.mayWrite(ctx)
	return comments.Permission{Allowed: may}, err
}

// about decides about one target.
func (r *request) about(ctx context.Context, v verb.Verb, at promotion.Deployment) (comments.Permission, error) {
	lists := r.permissions.required(v, at)
	for _, who := range lists {
		named, err := r.named(ctx, who)
		if err != nil {
			return comments.Permission{}, err
		}
		if !named {
			return comments.Permission{Reason: fmt.Sprintf("only users named by permissions in the server file may %s %s in %s",
				v, at.Target.Application, at.Target.Environment)}, nil
		}
	}
	if len(lists) > 0 {
		return comments.Permission{Allowed: true}, nil
	}
	may, err := r.mayWrite(ctx)
	if err != nil || may {
		return comments.Permission{Allowed: may}, err
	}
	return comments.Permission{Reason: fmt.Sprintf("only users who may write to %s may %s here", r.permissions.repository, v)}, nil
}

// named reports whether a list names the user, or a team of the user.
func (r *request) named(ctx context.Context, who []string) (bool, error) {
	for _, name := range who {
		team, isTeam := strings.CutPrefix(name, "team:")
		if !isTeam {
			if identity.SameLogin(name, r.user.Login) {
				return true, nil
			}
			continue
		}
		member, known := r.teams[team]
		if !known {
			var err error
			if member, err = r.permissions.signals.Member(ctx, team, r.user); err != nil {
				return false, fmt.Errorf("ask whether %s is in %s: %w", r.user.Login, team, err)
			}
			r.teams[team] = member
		}
		if member {
			return true, nil
		}
	}
	return false, nil
}

func (r *request) mayWrite(ctx context.Context) (bool, error) {
	if r.writes == nil {
		may, err := r.permissions.signals.MayWrite(ctx, r.user)
		if err != nil {
			return false, fmt.Errorf("ask whether %s may write to %s: %w", r.user.Login, r.permissions.repository, err)
		}
		r.writes = &may
	}
	return *r.writes, nil
}
