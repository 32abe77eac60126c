package rest_test

import (
	"testing"

	"promoter/internal/identity"
	"promoter/internal/scm/rest"
)

func TestRobots(t *testing.T) {
	t.Parallel()
	robots := rest.Robots{Bots: []string{"stale"}, Trusted: []string{"ChatOps[bot]"}}
	for name, test := range map[string]struct {
		of              identity.User
		person, account bool // is a bot
	}{
		"a user":                       {identity.User{Login: "ann"}, false, false},
		"a bot of the forge":           {identity.User{Login: "renovate[bot]", Bot: true}, true, true},
		"a listed bot":                 {identity.User{Login: "Stale"}, true, true},
		"a trusted bot":                {identity.User{Login: "chatops[bot]", Bot: true}, false, true},
		"a user with a similar name":   {identity.User{Login: "chatops"}, false, false},
		"an account that was deleted":  {identity.User{}, false, false},
		"a trusted one, not shown yet": {identity.User{Login: "chatops[bot]"}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := robots.Person(test.of); got.Bot != test.person || got.Login != test.of.Login {
				t.Errorf("the person is %+v", got)
			}
			if got := robots.Account(test.of); got.Bot != test.account {
				t.Errorf("the account is %+v", got)
			}
		})
	}
}
