package serverconfig

import (
	"promoter/internal/access"
	"promoter/internal/config"
	"promoter/internal/strictyaml"
)

// API is who may use the HTTP API. Its zero value is that there is none.
type API struct {
	Token  Reference // that may read everything, and accept deliveries again
	Tokens []APIToken
	// SessionKey signs the cookies of browsers; zero: the service makes one.
	SessionKey Reference
	// Public is what requests without a token may read; nil: nothing.
	Public *access.Scope
}

// On reports whether there is an API.
func (a API) On() bool { return !a.Token.IsZero() || len(a.Tokens) > 0 || a.Public != nil }

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
	strictyaml.Origin
	// Token of the commands `status`, `history`, and `replay`, by reference. At least 32 characters. It can read everything and accept deliveries again, and changes no repository.
	Token strictyaml.Located[string] `yaml:"token"`
	// More tokens, by name. Default: none.
	Tokens strictyaml.Map[*rawToken] `yaml:"tokens"`
	// Key that signs the cookies of browsers that are signed in, by reference. At least 32 characters. A new one ends all sessions. Default: `serve` makes one.
	SessionKey strictyaml.Located[string] `yaml:"sessionKey"`
	// What anyone who reaches the service may read without signing in. Default: nothing.
	Public *rawPublic `yaml:"public"`
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
	strictyaml.Origin
	// Token that clients send as `Authorization: Bearer TOKEN`, by reference. At least 32 characters.
	Token strictyaml.Located[string] `yaml:"token" required:"true"`
	// What it is for: `read` for every GET, `admin` also for deliveries and backoffs of the service, and to accept deliveries again. Default: `[read]`.
	Roles strictyaml.List `yaml:"roles"`
	// Globs of repositories: `HOST/OWNER/NAME`. Others do not exist for the token. Default: all.
	Repositories strictyaml.List `yaml:"repositories"`
	// Globs of applications. Others do not exist for the token. Default: all.
	Applications strictyaml.List `yaml:"applications"`
	// Globs of environments. Others do not exist for the token. Default: all.
	Environments strictyaml.List `yaml:"environments"`
}

// Sensitive implements strictyaml.Sensitive.
func (*rawAPI) Sensitive() {}

// Sensitive implements strictyaml.Sensitive.
func (*rawToken) Sensitive() {}

func loadAPI(in *input) (api API) {
	raw := in.raw.API
	if raw == nil || raw.Invalid {
		return api
	}
	if !raw.Token.IsSet() && len(raw.Tokens.Entries) == 0 && raw.Public == nil {
		in.report.Errorf(raw.Position, "add token: env:NAME", "api has no token")
	}
	if raw.Token.IsSet() {
		api.Token = in.reference(raw.Token, "api.token")
	}
	config.CheckNames(in.report, "token", raw.Tokens.Keys())
	for _, e := range raw.Tokens.Entries {
		if e.Value.Invalid {
			continue
		}
		api.Tokens = append(api.Tokens, loadToken(in, e.Key.Value, e.Value))
	}
	api.SessionKey = in.reference(raw.SessionKey, "api.sessionKey")
	if public := raw.Public; public != nil && !public.Invalid {
		if !public.Repositories.IsSet() {
			in.report.Errorf(public.Position, `add repositories: ["**"] for all`, "api.public has no repositories")
		}
		scope := accessScope(in, public.Repositories, public.Applications, public.Environments)
		api.Public = &scope
	}
	return api
}

func loadToken(in *input, name string, raw *rawToken) APIToken {
	token := APIToken{Position: raw.Position, Name: name, Token: in.reference(raw.Token, "api.tokens."+name+".token")}
	token.Roles = loadRoles(in, raw.Roles, "of the token "+name)
	token.Scope = accessScope(in, raw.Repositories, raw.Applications, raw.Environments)
	return token
}

func loadRoles(in *input, raw strictyaml.List, of string) (roles []access.Role) {
	if !raw.IsSet() {
		return []access.Role{access.Read}
	}
	if raw.IsEmpty() {
		in.report.Errorf(raw.Position, "name at least one, or remove roles for read", "roles %s is empty", of)
	}
	var known []string
	for _, role := range access.Roles() {
		known = append(known, string(role))
	}
	for i := range raw.Items {
		if in.report.OneOf(&raw.Items[i], "roles", known) {
			roles = append(roles, access.Role(raw.Items[i].Value))
		}
	}
	return roles
}

func accessScope(in *input, repositories, applications, environments strictyaml.List) access.Scope {
	scope := loadScope(in.report, scopeLists{repositories: repositories, applications: applications, environments: environments})
	return access.Scope{Repositories: scope.Repositories, Applications: scope.Applications, Environments: scope.Environments}
}
