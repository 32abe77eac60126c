// Package decisions records the user decisions of the HTTP API and the dashboard: it implements
// api.Decisions.
//
// Each is validated and written by package decision, as on the command line. Here is who may
// decide: the role and the scope of the principal come from the server file. A token acts under
// its own name. A user acts as the login that api.oidc.users maps to, and needs the permission
// that the same command in a comment needs. Decision 0039 has the reasons.
package decisions

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"promoter/internal/access"
	"promoter/internal/api"
	"promoter/internal/connect"
	"promoter/internal/connect/rules"
	"promoter/internal/decision"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/scm"
	"promoter/internal/serverfile"
	"promoter/internal/service"
	"promoter/internal/verb"
)

// API implements api.Decisions.
type API struct {
	server  *serverfile.Server
	service *service.Service
	log     *slog.Logger
	dryRun  bool // nothing is written to any repository
	budget  *budget
}

// New returns the API of a service.
func New(s *serverfile.Server, svc *service.Service, log *slog.Logger, dryRun bool) *API {
	return &API{server: s, service: svc, log: log, dryRun: dryRun, budget: newBudget(s.Now)}
}

// maxReason limits the reason of a decision, in bytes.
const maxReason = 1000

// Decide implements api.Decisions.
func (a *API) Decide(ctx context.Context, by access.Principal, request api.Decision) (decided api.Decided, err error) {
	if a.dryRun && !request.DryRun {
		return decided, fault.New(fault.Conflict, "the service runs with --dry-run: it records no decisions")
	}
	if !verb.Administers(request.Verb) && !slices.Contains(verb.Decisions(), request.Verb) {
		return decided, fault.New(fault.Invalid, "%.50q is not a decision: use %s", request.Verb, fault.List(verb.Decisions()))
	}
	if len(request.Reason) > maxReason {
		return decided, fault.New(fault.Invalid, "the reason is longer than %d bytes", maxReason)
	}
	if err := a.budget.spend(by.Name); err != nil {
		return decided, err
	}
	what := decision.Decision{
		Verb: request.Verb, Environment: request.Environment, Application: request.Application, Reason: request.Reason,
		All: request.All, DryRun: request.DryRun, With: request.With, Bypass: request.Bypass, Images: request.Images, To: request.To,
		Until: request.Until, For: request.For, Downstream: request.Downstream,
	}
	err = a.service.Borrow(ctx, choice(by, request.Repository), func(ctx context.Context, b service.Borrowed) error {
		name := b.Host + "/" + b.Name
		authority := authority{server: a.server, repository: b.Repository, name: name, principal: by, decision: what}
		result, err := decision.RecordIn(ctx, b.Session, b.Repository, b.Workspace, what, authority)
		if err != nil {
			return err
		}
		result.Repository = name
		decided = decision.Answer(request.Verb, result)
		if result.DryRun {
			return nil
		}
		log := a.log.With(slog.String("repository", b.Repository.Name), slog.String("key", string(b.Repository.Key())))
		log.InfoContext(ctx, "user decision recorded", slog.String("principal", by.Name), slog.String("by", result.By.Login),
			slog.String("decision", result.Subject), slog.Bool("unchanged", result.Unchanged))
		if result.Unchanged {
			return nil
		}
		return a.service.Trigger(ctx, string(b.Repository.Key()))
	})
	return decided, api.Authenticated(err)
}

// choice returns the function that finds the repository among those that the principal may
// operate. Others are not distinguished from those that do not exist.
func choice(by access.Principal, named string) func([]*connect.Repository) (*connect.Repository, error) {
	return func(all []*connect.Repository) (*connect.Repository, error) {
		found := slices.DeleteFunc(slices.Clone(all), func(r *connect.Repository) bool {
			return !by.May(access.Operate, access.Target{Repository: r.Address()}) || named != "" && !r.IsNamed(named)
		})
		switch len(found) {
		case 1:
			return found[0], nil
		case 0:
			return nil, fault.New(fault.NotFound, "there is no repository %.200q", named)
		}
		return nil, fault.New(fault.Invalid, "%d repositories match: name one as HOST/OWNER/NAME", len(found))
	}
}

// authority is a principal that decides in one repository. It implements decision.Authority.
type authority struct {
	server     *serverfile.Server
	repository *connect.Repository
	name       string // HOST/OWNER/NAME
	principal  access.Principal
	decision   decision.Decision
}

// Covers implements decision.Authority.
func (a authority) Covers(target promotion.Target) bool {
	return a.principal.May(access.Operate,
		access.Target{Repository: a.name, Environment: target.Environment, Application: target.Application})
}

// Administers implements decision.Authority. What a moved branch lost may be holds that the
// principal itself wants to be rid of, so that operate does not suffice.
func (a authority) Administers() bool {
	return a.principal.May(access.Admin, access.Target{Repository: a.name, Environment: access.All, Application: access.All})
}

var (
	errScope = fault.New(fault.Unauthorized,
		"this decision is about more than what you may operate: name an environment and an application")
	errBypass = fault.New(fault.Unauthorized,
		"a bypass needs a user whom the forge knows, and this is a token: sign in, or use a comment or the command line")
)

// Authorize implements decision.Authority.
func (a authority) Authorize(
	ctx context.Context, targets []promotion.Target, deployments decision.Deployments,
) (identity.User, error) {
	if !a.principal.Has(access.Operate) || slices.ContainsFunc(targets, func(t promotion.Target) bool { return !a.Covers(t) }) {
		return identity.User{}, errScope
	}
	if a.principal.Token {
		if len(a.decision.Bypass) > 0 {
			return identity.User{}, errBypass
		}
		return identity.User{Login: a.principal.Name}, nil // not verified: no forge knows it
	}
	forge := a.repository.Forge.Config.Name
	if a.principal.Login == "" || a.principal.Forge != forge {
		const problem = "%s has no login on the forge %s, so that nothing is known of what this user may do there: " +
			"map users with api.oidc.users in the server file"
		return identity.User{}, fault.New(fault.Unauthorized, problem, a.principal.Name, forge)
	}
	// The account is recorded, and not only its login: its user must not approve after renaming it.
	user := identity.User{Host: a.repository.SCM.Info().Self.Host, Login: a.principal.Login}
	if accounts, ok := a.repository.SCM.(scm.Accounts); ok {
		account, err := accounts.Account(ctx, user.Login)
		if err != nil {
			return identity.User{}, err
		}
		if account.Login != "" { // else the forge does not show it
			user = account
		}
	}
	if verb.Administers(a.decision.Verb) { // the role admin suffices
		return user, nil
	}
	about, err := deployments(ctx)
	if err != nil {
		return identity.User{}, err
	}
	permission, err := rules.Permissions(a.server.File, a.repository.SCM).Allowed(ctx, user, a.decision.Verb, about...)
	if err != nil {
		return identity.User{}, err
	}
	if !permission.Allowed {
		return identity.User{}, fault.Wrap(fault.Unauthorized, errors.New(permission.Reason))
	}
	return user, nil
}
