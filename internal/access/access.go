// Package access decides what a request to the HTTP API or the dashboard may read and do. A
// principal is a token of the server file, or a user of an OpenID Connect provider. Its roles
// and scope come from the server file alone: nothing that the request or a repository contains
// extends them. A browser has a session (sessions.go).
package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"

	"promoter/internal/glob"
	"promoter/internal/secret"
)

// Role is a set of requests.
type Role string

// The roles. Each contains Read, and Admin also contains Operate. Nothing contains Evidence: it is
// the identity of a reporter, and not a level.
const (
	Read    Role = "read"    // every GET
	Operate Role = "operate" // user decisions: hold, promote, and the others
	// Evidence posts reports about health, as the receiver with the name of the token. Users
	// cannot have it: no config names them.
	Evidence Role = "evidence"
	Admin    Role = "admin" // what concerns the service as a whole: to accept a delivery again
)

// contains reports whether a principal with the role has another one too.
func (r Role) contains(other Role) bool {
	return r == other || other == Read || r == Admin && other == Operate
}

// Roles returns all roles.
func Roles() []Role { return []Role{Read, Operate, Evidence, Admin} }

// UserRoles returns the roles that users can have.
func UserRoles() []Role { return []Role{Read, Operate, Admin} }

// Scope restricts what a principal reads and changes. Each list has patterns of package glob;
// an empty one does not restrict.
type Scope struct {
	Repositories []string // HOST/OWNER/NAME
	Applications []string
	Environments []string
}

// All stands for all environments or applications in a Target. A scope that names only some
// does not contain it.
const All = "_all"

// Target is what a request is about. An empty field is not restricted: a request about a
// repository as a whole has no environment.
type Target struct {
	Repository  string // HOST/OWNER/NAME
	Application string
	Environment string
}

// covers reports whether the scope contains all of a target.
func (s Scope) covers(t Target) bool {
	return allows(s.Repositories, t.Repository, matchRepository) && allows(s.Applications, t.Application, glob.Match) &&
		allows(s.Environments, t.Environment, glob.Match)
}

func allows(patterns []string, name string, match func(pattern, name string) bool) bool {
	if name == All {
		return len(patterns) == 0 || slices.Contains(patterns, "*") || slices.Contains(patterns, "**")
	}
	return len(patterns) == 0 || name == "" || slices.ContainsFunc(patterns, func(pattern string) bool { return match(pattern, name) })
}

// matchRepository matches without regard to case, as forges compare names.
func matchRepository(pattern, name string) bool {
	return glob.Match(strings.ToLower(pattern), strings.ToLower(name))
}

// PublicName is the name of the principal of requests without a credential.
const PublicName = "public"

// Principal is who sends a request.
type Principal struct {
	Name  string // "token NAME" or "user NAME", as it appears in user decisions and logs
	Roles []Role
	Scope Scope
	// Token is whether it is a token, which acts under its own name: the server file is its
	// authority.
	Token bool
	// Login is the user of the forge of this name in the server file, if api.oidc.users maps
	// the principal to one.
	Forge, Login string
}

// May reports whether the principal has a role for a target.
func (p Principal) May(role Role, t Target) bool { return p.Has(role) && p.Scope.covers(t) }

// MayRead reports whether the principal may read about a target of a repository. An empty name does
// not restrict.
func (p Principal) MayRead(repository, environment, application string) bool {
	return p.May(Read, Target{Repository: repository, Environment: environment, Application: application})
}

// MayAll reports whether the principal has a role for all of a repository, and not only for some
// of its applications or environments.
func (p Principal) MayAll(role Role, repository string) bool {
	return p.May(role, Target{Repository: repository}) && len(p.Scope.Applications)+len(p.Scope.Environments) == 0
}

// Has reports whether the principal has a role for some target.
func (p Principal) Has(role Role) bool {
	return slices.ContainsFunc(p.Roles, func(one Role) bool { return one.contains(role) })
}

// Restricted reports whether the principal may not read everything.
func (p Principal) Restricted() bool {
	return len(p.Scope.Repositories)+len(p.Scope.Applications)+len(p.Scope.Environments) > 0
}

// ReadFilter returns a function that reports which targets the principal may read, as MayRead does,
// for queries that read the targets of many repositories; nil: all of them.
func (p Principal) ReadFilter() func(repository, environment, application string) bool {
	if p.Has(Read) && !p.Restricted() {
		return nil
	}
	return p.MayRead
}

// Token is a principal with what proves it.
type Token struct {
	Principal Principal
	Secret    secret.String
}

// Tokens authenticate requests.
type Tokens []Token

// Authenticate returns the principal of the token in the header Authorization.
func (all Tokens) Authenticate(header http.Header) (Principal, bool) {
	text, bearer := strings.CutPrefix(header.Get("Authorization"), "Bearer ")
	principal, ok := all.Find(text)
	if !bearer || !ok {
		return Principal{}, false
	}
	return principal, true
}

// Find returns the principal of a token. All tokens are compared in constant time, so that the
// time reveals nothing. A token that two principals have, since the file of one was replaced, is
// that of neither.
func (all Tokens) Find(text string) (principal Principal, ok bool) {
	given, found := sha256.Sum256([]byte(text)), 0
	for _, one := range all {
		wanted := sha256.Sum256([]byte(one.Secret.Reveal()))
		if subtle.ConstantTimeCompare(given[:], wanted[:]) == 1 && !one.Secret.IsZero() {
			principal = one.Principal
			found++
		}
	}
	if found != 1 {
		return Principal{}, false
	}
	return principal, true
}

// named returns the token of a principal.
func (all Tokens) named(name string) (Token, bool) {
	i := slices.IndexFunc(all, func(one Token) bool { return one.Principal.Name == name })
	if i < 0 {
		return Token{}, false
	}
	return all[i], true
}
