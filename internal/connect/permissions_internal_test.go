package connect

import (
	"context"
	"slices"
	"strings"
	"testing"

	"promoter/internal/verb"

	"promoter/internal/promotion"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
)

// asked is a forge that counts what it is asked about people.
type asked struct {
	scm.Signals
	writers, members, broken []string
	count                    int
}

func (a *asked) MayWrite(_ context.Context, person identity.User) (bool, error) {
	if a.count++; slices.Contains(a.broken, person.Login) {
		return false, fault.New(fault.Temporary, "an accident")
	}
	return slices.Contains(a.writers, person.Login), nil
}

func (a *asked) Member(_ context.Context, team string, person identity.User) (bool, error) {
	if a.count++; team == "acme/broken" {
		return false, fault.New(fault.Temporary, "an accident")
	}
	return team == "acme/sre" && slices.Contains(a.members, person.Login), nil
}

func permission(verbs, environments, applications string, who ...string) serverconfig.Permission {
	listed := func(text string) []string {
		if text == "" {
			return nil
		}
		return strings.Fields(text)
	}
	var allowed []verb.Verb
	for _, name := range strings.Fields(verbs) {
		allowed = append(allowed, verb.Verb(name))
	}
	return serverconfig.Permission{Scope: serverconfig.Scope{Environments: listed(environments), Applications: listed(applications)}, Verbs: allowed, Who: who}
}

func target(environment, application string) promotion.Target {
	return promotion.Target{Environment: environment, Application: application}
}

func TestPermissions_decideWhoMayCommand(t *testing.T) {
	t.Parallel()
	c := permissions{repository: "acme/gitops", rules: []serverconfig.Permission{
		permission("hold resume", "prod-*", "", "team:acme/sre", "Cho"),
		permission("hold", "prod-eu", "shop", "dan"),
		permission("promote", "", "blog", "eve"),
	}}
	prodEU, prodUS, staging := target("prod-eu", "shop"), target("prod-us", "shop"), target("staging", "shop")
	for _, test := range []struct {
		who    string
		verb   verb.Verb
		places []promotion.Target
		want   string // empty: they may
	}{
		{"ann", verb.Hold, []promotion.Target{staging}, ""},                   // may write
		{"ann", verb.Reject, []promotion.Target{prodEU}, ""},                  // the verb is not covered
		{"ann", verb.Hold, []promotion.Target{prodEU}, "permissions"},         // a writer alone
		{"ann", verb.Hold, []promotion.Target{staging, prodUS}, "prod-us"},    // all are needed
		{"sam", verb.Hold, []promotion.Target{prodEU, prodUS}, ""},            // in the team
		{"sam", verb.Hold, []promotion.Target{staging}, "may write"},          // and nothing else
		{"cho", verb.Resume, []promotion.Target{prodEU}, ""},                  // by name, in any case
		{"dan", verb.Hold, []promotion.Target{prodEU}, ""},                    // by the second entry
		{"dan", verb.Hold, []promotion.Target{prodUS}, "permissions"},         // which is not about this target
		{"dan", verb.Resume, []promotion.Target{prodEU}, "permissions"},       // nor about this verb
		{"ann", verb.Promote, []promotion.Target{target("dev", "blog")}, "e"}, // in every environment
		{"ann", verb.Hold, nil, "no place"},
		{"zoe", verb.Hold, []promotion.Target{staging}, "may write"},
		{"ann", verb.Help, nil, ""},
		{"dan", verb.Explain, nil, ""},
		{"sam", verb.Refresh, nil, ""},
		{"zoe", verb.Help, nil, "no"},
	} {
		c.signals = &asked{writers: []string{"ann"}, members: []string{"sam"}}
		right, err := c.Allowed(t.Context(), identity.User{Login: test.who}, test.verb, test.places...)
		if err != nil || right.Allowed != (test.want == "") {
			t.Errorf("%s may %s %v: %v, %v", test.who, test.verb, test.places, right, err)
		}
		if len(test.want) > 2 && len(test.places) > 0 && !strings.Contains(right.Reason, test.want) {
			t.Errorf("%s may not %s because %q, want %q in it", test.who, test.verb, right.Reason, test.want)
		}
	}
}

// What could not be asked is neither yes nor no.
func TestCommanders_noAnswer(t *testing.T) {
	t.Parallel()
	c := permissions{rules: []serverconfig.Permission{permission("hold", "prod", "", "team:acme/broken", "ann")}, signals: &asked{broken: []string{"ann"}}}
	for _, at := range []promotion.Target{target("prod", "shop"), target("dev", "shop")} {
		if right, err := c.Allowed(t.Context(), identity.User{Login: "ann"}, verb.Hold, at); err == nil || right.Allowed {
			t.Errorf("%v: %v", right, err)
		}
	}
	if _, err := c.Allowed(t.Context(), identity.User{Login: "ann"}, verb.Help); err == nil {
		t.Error("no error")
	}
}

// However many places are meant, a forge is asked once.
func TestCommanders_asksOnce(t *testing.T) {
	t.Parallel()
	signals := &asked{writers: []string{"ann"}, members: []string{"ann"}}
	c := permissions{signals: signals, rules: []serverconfig.Permission{permission("hold", "prod", "", "team:acme/sre")}}
	var many []promotion.Target
	for _, environment := range []string{"dev", "prod", "staging"} {
		for _, application := range []string{"a", "b", "c", "d"} {
			many = append(many, target(environment, application))
		}
	}
	if right, err := c.Allowed(t.Context(), identity.User{Login: "ann"}, verb.Hold, many...); err != nil || !right.Allowed {
		t.Errorf("%v, %v", right, err)
	}
	if signals.count != 2 {
		t.Errorf("asked %d times", signals.count)
	}
}

func TestPermissions_Named(t *testing.T) {
	t.Parallel()
	p := permissions{rules: []serverconfig.Permission{
		permission("hold reject", "prod-*", "", "team:acme/sre", "cho"),
		permission("reject", "prod-eu", "", "dan"),
		permission("reject", "dev", "", "team:acme/sre"),
		permission("hold", "dev", "", "eve"),
	}}
	eu, us, dev, qa := target("prod-eu", "shop"), target("prod-us", "shop"), target("dev", "shop"), target("qa", "shop")
	for _, test := range []struct {
		verb    verb.Verb
		targets []promotion.Target
		want    string
		covered bool
	}{
		{verb.Hold, []promotion.Target{eu}, "cho team:acme/sre", true},
		{verb.Reject, []promotion.Target{eu}, "cho dan team:acme/sre", true},
		{verb.Reject, []promotion.Target{eu, us, dev, qa}, "team:acme/sre", true},
		{verb.Hold, []promotion.Target{eu, dev}, "", true}, // no name is in both
		{verb.Hold, []promotion.Target{qa}, "", false},
		{verb.Promote, []promotion.Target{eu}, "", false},
		{verb.Promote, nil, "", false},
	} {
		named, covered := p.Named(test.verb, test.targets...)
		if got := strings.Join(named, " "); got != test.want || covered != test.covered {
			t.Errorf("%s %v: %q, %v", test.verb, test.targets, got, covered)
		}
	}
}
