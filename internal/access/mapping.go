package access

import (
	"cmp"
	"slices"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/printable"
)

// Identity is what a provider of OpenID Connect says about a user.
type Identity struct {
	Subject string `json:"subject"`
	// Claims are those that the mapping names, each with its values.
	Claims map[string][]string `json:"claims,omitempty"`
}

// Mapping gives users of a provider their roles. Only what it names counts.
type Mapping struct {
	Issuer, ClientID string
	Roles            []ClaimRoles // the first that matches decides
	// UserClaim is the claim with the login of the user on the forge UserForge; empty: users
	// have no login.
	UserClaim, UserForge string
}

// ClaimRoles are the roles and the scope of users with one of the values of a claim.
type ClaimRoles struct {
	Claim  string
	Values []string
	Roles  []Role
	Scope  Scope
}

// maxName limits the name of a user in messages and logs.
const maxName = 100

func (c ClaimRoles) matches(identity Identity) bool {
	return slices.ContainsFunc(identity.Claims[c.Claim], func(value string) bool { return slices.Contains(c.Values, value) })
}

// Claims returns the claims that the mapping reads.
func (m *Mapping) Claims() []string {
	names := m.roleClaims()
	if m.UserClaim != "" {
		names = append(names, m.UserClaim)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// roleClaims returns the claims that give roles.
func (m *Mapping) roleClaims() (names []string) {
	for _, one := range m.Roles {
		names = append(names, one.Claim)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Principal returns what the user may do. Users whom the mapping gives no role are refused with
// the reason.
func (m *Mapping) Principal(identity Identity) (Principal, error) {
	i := slices.IndexFunc(m.Roles, func(one ClaimRoles) bool { return one.matches(identity) })
	if i < 0 {
		subject := printable.ShortLine(identity.Subject, maxName)
		claims := fault.List(m.roleClaims())
		return Principal{}, fault.New(fault.Unauthorized,
			"%s knows you as %q, but no entry of api.oidc.roles matches: they read %s of the identity token", m.Issuer, subject, claims)
	}
	p := Principal{Roles: m.Roles[i].Roles, Scope: m.Roles[i].Scope}
	if values := identity.Claims[m.UserClaim]; m.UserClaim != "" && len(values) == 1 && values[0] != "" {
		p.Forge, p.Login = m.UserForge, values[0]
	}
	p.Name = "user " + printable.ShortLine(cmp.Or(p.Login, identity.Subject), maxName)
	return p, nil
}

// reduce removes the values that the mapping does not read, so that a cookie can contain the
// identity of a user in many groups.
func (m *Mapping) reduce(identity Identity) Identity {
	reduced := Identity{Subject: identity.Subject, Claims: map[string][]string{}}
	for _, one := range m.Roles {
		for _, value := range identity.Claims[one.Claim] {
			if slices.Contains(one.Values, value) && !slices.Contains(reduced.Claims[one.Claim], value) {
				reduced.Claims[one.Claim] = append(reduced.Claims[one.Claim], strings.Clone(value))
			}
		}
	}
	if m.UserClaim != "" {
		reduced.Claims[m.UserClaim] = identity.Claims[m.UserClaim]
	}
	return reduced
}
