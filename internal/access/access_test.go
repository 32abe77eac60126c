package access_test

import (
	"net/http"
	"slices"
	"testing"

	"promoter/internal/access"
	"promoter/internal/secret"
)

func TestPrincipal_may(t *testing.T) {
	t.Parallel()
	shop := access.Principal{Roles: []access.Role{access.Read}, Scope: access.Scope{
		Repositories: []string{"github.com/acme/shop-*"}, Environments: []string{"dev", "prod-*"},
	}}
	all := access.Principal{Roles: []access.Role{access.Admin}}
	for name, test := range map[string]struct {
		principal access.Principal
		role      access.Role
		target    access.Target
		want      bool
	}{
		"everything in its scope":        {shop, access.Read, access.Target{Repository: "github.com/acme/shop-eu", Environment: "prod-eu", Application: "web"}, true},
		"in any case":                    {shop, access.Read, access.Target{Repository: "GitHub.com/Acme/shop-eu"}, true},
		"another repository":             {shop, access.Read, access.Target{Repository: "github.com/acme/billing"}, false},
		"the same name on another host":  {shop, access.Read, access.Target{Repository: "gitlab.com/acme/shop-eu"}, false},
		"a folder below":                 {shop, access.Read, access.Target{Repository: "github.com/acme/shop-eu/x"}, false},
		"another environment":            {shop, access.Read, access.Target{Repository: "github.com/acme/shop-eu", Environment: "staging"}, false},
		"a role that it does not have":   {shop, access.Admin, access.Target{Repository: "github.com/acme/shop-eu"}, false},
		"who has another role may read":  {all, access.Read, access.Target{Repository: "github.com/acme/billing", Environment: "prod"}, true},
		"without a role":                 {access.Principal{}, access.Read, access.Target{}, false},
		"all environments of a scope":    {shop, access.Read, access.Target{Repository: "github.com/acme/shop-eu", Environment: access.All}, false},
		"all environments":               {all, access.Admin, access.Target{Environment: access.All, Application: access.All}, true},
		"of a repository without a name": {shop, access.Read, access.Target{Environment: "dev"}, true},
	} {
		if got := test.principal.May(test.role, test.target); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	if !shop.Restricted() || all.Restricted() {
		t.Error("only a principal with a scope is restricted")
	}
}

func TestTokens_authenticate(t *testing.T) {
	t.Parallel()
	const one, two = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
	tokens := access.Tokens{
		{Principal: access.Principal{Name: "token one"}, Secret: secret.New(one)},
		{Principal: access.Principal{Name: "token two"}, Secret: secret.New(two)},
		{Principal: access.Principal{Name: "token none"}},
	}
	for header, want := range map[string]string{
		"Bearer " + one: "token one", "Bearer " + two: "token two",
		"": "", "Bearer ": "", "bearer " + one: "", one: "", "Bearer " + one + "0": "", "Basic " + one: "",
	} {
		principal, ok := tokens.Authenticate(http.Header{"Authorization": {header}})
		if principal.Name != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", header, principal.Name, ok)
		}
	}
}

// A role contains others as it is documented, with which principals are compared in every entrance.
func TestPrincipal_has(t *testing.T) {
	t.Parallel()
	contained := map[access.Role][]access.Role{
		access.Read:     {access.Read},
		access.Operate:  {access.Read, access.Operate},
		access.Evidence: {access.Read, access.Evidence},
		access.Admin:    {access.Read, access.Operate, access.Admin},
	}
	for _, role := range access.Roles() {
		for _, other := range access.Roles() {
			if got := (access.Principal{Roles: []access.Role{role}}).Has(other); got != slices.Contains(contained[role], other) {
				t.Errorf("%s has %s: %v", role, other, got)
			}
		}
	}
	if (access.Principal{}).Has(access.Read) {
		t.Error("a principal without a role reads")
	}
}
