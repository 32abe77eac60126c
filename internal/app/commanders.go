package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/verb"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/engine"
	"promoter/internal/identity"
	"promoter/internal/scm"
)

// commanders are the people who may give commands in comments on one repository:
// those whom the permissions of the server's file name, and where none covers what
// is meant, those who may write to it. Both are asked live. It is engine.Rights.
type commanders struct {
	permissions []config.Permission // that cover the repository
	signals     scm.Signals
	repository  string // for people
}

func (s *Server) commanders(of scm.Repository, named qualified) commanders {
	c := commanders{signals: of.Signals(), repository: of.Info().Name}
	for _, permission := range s.file.Permissions {
		if permission.Repositories == nil || named.fitsAny(permission.Repositories) {
			c.permissions = append(c.permissions, permission)
		}
	}
	return c
}

// Allowed implements engine.Rights.
func (c commanders) Allowed(ctx context.Context, person identity.User, v verb.Verb, targets ...promotion.Target) (engine.Permission, error) {
	asked := claim{commanders: c, person: person, teams: map[string]bool{}}
	if v == verb.Help || v == verb.Explain || v == verb.Refresh {
		return asked.any(ctx)
	}
	for _, target := range targets {
		if right, err := asked.about(ctx, v, target); err != nil || !right.Allowed {
			return right, err
		}
	}
	return engine.Permission{Allowed: len(targets) > 0}, nil
}

// claim is one question about one person. What it heard of the forge is asked
// once.
type claim struct {
	commanders
	person identity.User
	teams  map[string]bool
	writes *bool // nil: not asked yet
}

// any says whether the person has to do with the repository at all. Who is named
// need not be asked about: not every forge tells every account who may write.
func (a *claim) any(ctx context.Context) (engine.Permission, error) {
	for _, permission := range a.permissions {
		if named, err := a.named(ctx, permission.Who); err != nil || named {
			return engine.Permission{Allowed: named}, err
		}
	}
	may, err := a.mayWrite(ctx)
	return engine.Permission{Allowed: may}, err
}

// about asks for one place.
func (a *claim) about(ctx context.Context, v verb.Verb, target promotion.Target) (engine.Permission, error) {
	covered := false
	for _, permission := range a.permissions {
		if !slices.Contains(permission.Verbs, v) || !inScope(permission.Scope, target) {
			continue
		}
		covered = true
		if named, err := a.named(ctx, permission.Who); err != nil || named {
			return engine.Permission{Allowed: named}, err
		}
	}
	if covered {
		return engine.Permission{Reason: fmt.Sprintf("only those whom permissions in the server's file name may %s %s in %s", v, target.Application, target.Environment)}, nil
	}
	may, err := a.mayWrite(ctx)
	if err != nil || may {
		return engine.Permission{Allowed: may}, err
	}
	return engine.Permission{Reason: fmt.Sprintf("only those may %s here who may write to %s", v, a.repository)}, nil
}

// inScope says whether a rule is about a place. The repository was looked at before.
func inScope(scope config.Scope, target promotion.Target) bool {
	return (scope.Environments == nil || anyGlob(scope.Environments, target.Environment)) &&
		(scope.Applications == nil || anyGlob(scope.Applications, target.Application))
}

// named says whether a list names the person, or a team with the person in it.
func (a *claim) named(ctx context.Context, who []string) (bool, error) {
	for _, name := range who {
		team, isTeam := strings.CutPrefix(name, "team:")
		if !isTeam {
			if strings.EqualFold(name, a.person.Login) {
				return true, nil
			}
			continue
		}
		if in, err := a.member(ctx, team); err != nil || in {
			return in, err
		}
	}
	return false, nil
}

func (a *claim) member(ctx context.Context, team string) (bool, error) {
	in, known := a.teams[team]
	if known {
		return in, nil
	}
	in, err := a.signals.Member(ctx, team, a.person)
	if err != nil {
		return false, fmt.Errorf("ask whether %s is in %s: %w", a.person.Login, team, err)
	}
	a.teams[team] = in
	return in, nil
}

func (a *claim) mayWrite(ctx context.Context) (bool, error) {
	if a.writes != nil {
		return *a.writes, nil
	}
	may, err := a.signals.MayWrite(ctx, a.person)
	if err != nil {
		return false, fmt.Errorf("ask whether %s may write to %s: %w", a.person.Login, a.repository, err)
	}
	a.writes = &may
	return may, nil
}
