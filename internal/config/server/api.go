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
	strictyaml.Origin
	// Token of the commands `status`, `history`, and `replay`, by reference. At least 32 characters. It can read everything and accept deliveries again, and changes no repository.
	Token strictyaml.Located[string] `yaml:"token"`
	// More tokens, by name. Default: none.
	Tokens strictyaml.Map[*rawToken] `yaml:"tokens"`
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
	if !raw.Token.IsSet() && len(raw.Tokens.Entries) == 0 {
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
	return api
}

func loadToken(in *input, name string, raw *rawToken) APIToken {
	token := APIToken{Position: raw.Position, Name: name, Token: in.reference(raw.Token, "api.tokens."+name+".token"), Roles: []access.Role{access.Read}}
	if raw.Roles.IsEmpty() {
		in.report.Errorf(raw.Roles.Position, "name at least one, or remove roles for read", "roles of the token %s is empty", name)
	}
	if raw.Roles.IsSet() {
		token.Roles = nil
	}
	var known []string
	for _, role := range access.Roles() {
		known = append(known, string(role))
	}
	for i := range raw.Roles.Items {
		if in.report.OneOf(&raw.Roles.Items[i], "roles", known) {
			token.Roles = append(token.Roles, access.Role(raw.Roles.Items[i].Value))
		}
	}
	scope := loadScope(in.report, scopeLists{repositories: raw.Repositories, applications: raw.Applications, environments: raw.Environments})
	token.Scope = access.Scope{Repositories: scope.Repositories, Applications: scope.Applications, Environments: scope.Environments}
	return token
}
