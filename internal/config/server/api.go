package serverconfig

import (
	"slices"

	"promoter/internal/access"
	"promoter/internal/config"
	"promoter/internal/config/field"
	"promoter/internal/strictyaml"
)

// API is who may use the HTTP API. Its zero value is that there is none.
type API struct {
	Token  Reference // with the role admin for everything
	Tokens []APIToken
	Badges []APIToken // of badges alone
	// SessionKey signs the cookies of browsers; zero: the service makes one.
	SessionKey Reference
	// Public is what requests without a token may read; nil: nothing.
	Public *access.Scope
	// OIDC signs users in with OpenID Connect; nil: they sign in with tokens alone.
	OIDC *OIDC
}

// OIDC is a provider of OpenID Connect.
type OIDC struct {
	config.Position
	Mapping      access.Mapping
	ClientSecret Reference // zero: a public client
	Scopes       []string
	Insecure     bool // plain HTTP
}

// DefaultOIDCScopes are requested if the file names none.
func DefaultOIDCScopes() []string { return []string{"openid", "profile", "email"} }

// On reports whether there is an API.
func (a API) On() bool {
	return !a.Token.IsZero() || len(a.Tokens) > 0 || a.Public != nil || a.OIDC != nil
}

// APIToken is a token with its roles and scope.
type APIToken struct {
	config.Position
	Name  string
	Token Reference
	Roles []access.Role
	Scope access.Scope
}

// rawAPI is the authentication of the API and of the commands that query the service.
type rawAPI struct {
	strictyaml.Origin `holds:"secrets"`
	// Token of the commands that query the service, or decide through it, by reference. At least 32 characters. It has the
	// role `admin` for everything.
	Token strictyaml.Located[string] `yaml:"token"`
	// More tokens, by name. Default: none.
	Tokens strictyaml.Map[*rawToken] `yaml:"tokens"`
	// Tokens of badges, by name: images that show versions and states in a README. Default: none.
	Badges strictyaml.Map[*rawBadge] `yaml:"badges"`
	// Key that signs the cookies of browsers that are signed in, by reference. At least 32 characters. A new one
	// ends all sessions. Default: `serve` makes one.
	SessionKey strictyaml.Located[string] `yaml:"sessionKey"`
	// What anyone who reaches the service may read without signing in. Default: nothing.
	Public *rawPublic `yaml:"public"`
	// OpenID Connect: users sign in at a provider. Default: they sign in with tokens.
	OIDC *rawOIDC `yaml:"oidc"`
}

// rawOIDC is a provider of OpenID Connect. Its redirect URI is `url` of this file with `/sign-in/callback`.
type rawOIDC struct {
	strictyaml.Origin `holds:"secrets"`
	// URL of the provider, exactly as its discovery document names it: what is before `/.well-known/openid-configuration`.
	Issuer strictyaml.Located[string] `yaml:"issuer" required:"true"`
	// ID of promoter at the provider.
	ClientID strictyaml.Located[string] `yaml:"clientID" required:"true"`
	// Secret of promoter at the provider, by reference. Default: none, as for a public client.
	ClientSecret strictyaml.Located[string] `yaml:"clientSecret"`
	// Requested scopes. Must contain `openid`. Default: `[openid, profile, email]`.
	Scopes strictyaml.List `yaml:"scopes"`
	// Allow plain HTTP. The address must be in `networks`. Default: `false`.
	Insecure strictyaml.Located[bool] `yaml:"insecure"`
	// Roles of users, by claims of the identity token. The first entry that matches applies; users without one are refused.
	Roles []*rawClaimRoles `yaml:"roles" required:"true"`
	// Which users of a forge they are. Default: not known.
	Users *rawUsers `yaml:"users"`
}

// rawClaimRoles gives users with a claim their roles.
type rawClaimRoles struct {
	strictyaml.Origin
	// Name of the claim, as `groups`, or the path to it, as `realm_access.roles`. `email` counts only with `email_verified`.
	Claim strictyaml.Located[string] `yaml:"claim" required:"true"`
	// Values of the claim, one of which the user must have. They are compared exactly.
	Values strictyaml.List `yaml:"values" required:"true"`
	// Roles, as for tokens, without `evidence`. Default: `[read]`.
	Roles strictyaml.List `yaml:"roles"`
	// Globs of repositories: `HOST/OWNER/NAME`. Default: all.
	Repositories strictyaml.List `yaml:"repositories"`
	// Globs of applications. Default: all.
	Applications strictyaml.List `yaml:"applications"`
	// Globs of environments. Default: all.
	Environments strictyaml.List `yaml:"environments"`
}

// rawUsers is how users of the provider are known to a forge.
type rawUsers struct {
	strictyaml.Origin
	// Claim that contains the login on the forge. Use one that the provider assigns: users must not be able to change it.
	Claim strictyaml.Located[string] `yaml:"claim" required:"true"`
	// Name of the forge in `forges`.
	Forge strictyaml.Located[string] `yaml:"forge" required:"true"`
}

// rawPublic is what can be read without a token.
type rawPublic struct {
	strictyaml.Origin
	// Globs of repositories: `HOST/OWNER/NAME`; `"**"` for all.
	Repositories strictyaml.List `yaml:"repositories" required:"true"`
	// Globs of applications. Default: all.
	Applications strictyaml.List `yaml:"applications"`
	// Globs of environments. Default: all.
	Environments strictyaml.List `yaml:"environments"`
}

// rawToken is a token of the API.
type rawToken struct {
	strictyaml.Origin `holds:"secrets"`
	// Token that clients send as `Authorization: Bearer TOKEN`, by reference. At least 32 characters.
	Token strictyaml.Located[string] `yaml:"token" required:"true"`
	// What it is for: `read` for every GET, `operate` also for user decisions, `admin` for these and to accept
	// deliveries again, `evidence` to read and to report health as a receiver with the name of the token.
	// Default: `[read]`.
	Roles strictyaml.List `yaml:"roles"`
	// Globs of repositories: `HOST/OWNER/NAME`. Others do not exist for the token. Default: all.
	Repositories strictyaml.List `yaml:"repositories"`
	// Globs of applications. Others do not exist for the token. Default: all.
	Applications strictyaml.List `yaml:"applications"`
	// Globs of environments. Others do not exist for the token. Default: all.
	Environments strictyaml.List `yaml:"environments"`
}

// rawBadge is a token of badges, `/badges/TOKEN/APPLICATION.svg`. It reads nothing else.
type rawBadge struct {
	strictyaml.Origin `holds:"secrets"`
	// Token, by reference. At least 32 characters, of letters and digits. Every reader of a page with the badge knows it.
	Token strictyaml.Located[string] `yaml:"token" required:"true"`
	// Globs of repositories: `HOST/OWNER/NAME`; `"**"` for all.
	Repositories strictyaml.List `yaml:"repositories" required:"true"`
	// Globs of applications. Default: all.
	Applications strictyaml.List `yaml:"applications"`
	// Globs of environments. Default: all.
	Environments strictyaml.List `yaml:"environments"`
}

func loadAPI(in *input) (api API) {
	raw := in.raw.API
	if raw == nil || raw.Invalid {
		return api
	}
	if !raw.Token.IsSet() && len(raw.Tokens.Entries) == 0 && raw.Public == nil && raw.OIDC == nil && len(raw.Badges.Entries) == 0 {
		in.report.Errorf(raw.Position, "add token: env:NAME", "api has no token")
	}
	if raw.Token.IsSet() {
		api.Token = in.reference(raw.Token, "api.token")
	}
	field.CheckNames(in.report, "token", raw.Tokens.Keys())
	for _, e := range raw.Tokens.Entries {
		if e.Value.Invalid {
			continue
		}
		api.Tokens = append(api.Tokens, loadToken(in, e.Key.Value, e.Value))
	}
	field.CheckNames(in.report, "badge", raw.Badges.Keys())
	for _, e := range raw.Badges.Entries {
		if one := e.Value; !one.Invalid {
			key := "api.badges." + e.Key.Value
			mustHave(in, one.Position, key, "repositories", one.Repositories.IsSet())
			api.Badges = append(api.Badges, APIToken{
				Position: one.Position, Name: e.Key.Value, Token: in.reference(one.Token, key+".token"), Roles: []access.Role{access.Read},
				Scope: accessScope(in, one.Repositories, one.Applications, one.Environments),
			})
		}
	}
	api.SessionKey = in.reference(raw.SessionKey, "api.sessionKey")
	if public := raw.Public; public != nil && !public.Invalid {
		in.report.ErrorIf(!public.Repositories.IsSet(), public.Position, `add repositories: ["**"] for all`,
			"api.public has no repositories")
		scope := accessScope(in, public.Repositories, public.Applications, public.Environments)
		api.Public = &scope
	}
	if raw.OIDC != nil && !raw.OIDC.Invalid {
		api.OIDC = loadOIDC(in, raw.OIDC)
	}
	return api
}

func loadOIDC(in *input, raw *rawOIDC) *OIDC {
	in.checkHTTP("api.oidc", raw.Issuer, raw.Insecure)
	provider := &OIDC{
		Position: raw.Position, ClientSecret: in.reference(raw.ClientSecret, "api.oidc.clientSecret"),
		Insecure: raw.Insecure.Value, Scopes: DefaultOIDCScopes(),
		Mapping: access.Mapping{Issuer: raw.Issuer.Value, ClientID: raw.ClientID.Value},
	}
	mustHave(in, raw.Position, "api.oidc", "issuer", raw.Issuer.IsSet())
	in.url(raw.Issuer, "api.oidc.issuer")
	mustHave(in, raw.Position, "api.oidc", "clientID", raw.ClientID.Value != "")
	mustHave(in, raw.Position, "api.oidc", "roles", len(raw.Roles) > 0)
	in.report.ErrorIf(in.raw.URL.Value == "", raw.Position, "write url: https://HOST",
		"api.oidc needs the address of this service, to which the provider sends users back")
	if raw.Scopes.IsSet() {
		provider.Scopes = raw.Scopes.Strings()
		in.report.ErrorIf(!slices.Contains(provider.Scopes, "openid"), raw.Scopes.Position, "add openid",
			"without the scope openid there is no identity token")
	}
	for _, one := range raw.Roles {
		if one == nil || one.Invalid {
			continue
		}
		mustHave(in, one.Position, "an entry of api.oidc.roles", "claim", one.Claim.Value != "")
		mustHave(in, one.Position, "an entry of api.oidc.roles", "values", len(one.Values.Items) > 0)
		provider.Mapping.Roles = append(provider.Mapping.Roles, access.ClaimRoles{
			Claim: one.Claim.Value, Values: one.Values.Strings(),
			Roles: loadRoles(in, one.Roles, "of an entry of api.oidc.roles", access.UserRoles()),
			Scope: accessScope(in, one.Repositories, one.Applications, one.Environments),
		})
	}
	if users := raw.Users; users != nil && !users.Invalid {
		mustHave(in, users.Position, "api.oidc.users", "claim", users.Claim.Value != "")
		mustHave(in, users.Position, "api.oidc.users", "forge", users.Forge.Value != "")
		if users.Forge.Value != "" {
			in.report.Known("forge", users.Forge, strictyaml.NamesOf(in.raw.Forges.Keys()))
		}
		provider.Mapping.UserClaim, provider.Mapping.UserForge = users.Claim.Value, users.Forge.Value
	}
	return provider
}

func mustHave(in *input, at strictyaml.Position, what, key string, ok bool) {
	in.report.ErrorIf(!ok, at, "add "+key, "%s has no %s", what, key)
}

func loadToken(in *input, name string, raw *rawToken) APIToken {
	token := APIToken{Position: raw.Position, Name: name, Token: in.reference(raw.Token, "api.tokens."+name+".token")}
	token.Roles = loadRoles(in, raw.Roles, "of the token "+name, access.Roles())
	token.Scope = accessScope(in, raw.Repositories, raw.Applications, raw.Environments)
	return token
}

func loadRoles(in *input, raw strictyaml.List, of string, permitted []access.Role) []access.Role {
	if !raw.IsSet() {
		return []access.Role{access.Read}
	}
	in.report.ErrorIf(raw.IsEmpty(), raw.Position, "name at least one, or remove roles for read", "roles %s is empty", of)
	return valuesOf(in, raw, "roles", permitted)
}

func accessScope(in *input, repositories, applications, environments strictyaml.List) access.Scope {
	scope := loadScope(in.report, scopeLists{repositories: repositories, applications: applications, environments: environments})
	return access.Scope{Repositories: scope.Repositories, Applications: scope.Applications, Environments: scope.Environments}
}
