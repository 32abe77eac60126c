package rules

import (
	"context"
	"slices"
	"strings"
	"testing"

	"promoter/internal/config/setting"
	"promoter/internal/verb"

	"promoter/internal/promotion"

	"promoter/internal/config"
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

func target(environment, application string) promotion.Deployment {
	return promotion.Deployment{Target: promotion.Target{Environment: environment, Application: application}}
}

func TestPermissions_decideWhoMayCommand(t *testing.T) {
	t.Parallel()
	c := permissions{repository: "acme/gitops", rules: []serverconfig.Permission{
		permission("hold resume", "prod-*", "", "team:acme/sre", "Cho"),
		permission("hold", "prod-eu", "shop", "dan"),
		permission("promote", "", "blog", "eve"),
		permission("hold", "staging", "", "ann", "zoe"),
	}}
	prodEU, prodUS, staging := target("prod-eu", "shop"), target("prod-us", "shop"), target("staging", "shop")
	for _, test := range []struct {
		who    string
		verb   verb.Verb
		places []promotion.Deployment
		want   string // empty: they may
	}{
		{"ann", verb.Hold, []promotion.Deployment{staging}, ""},
		{"ann", verb.Reject, []promotion.Deployment{prodEU}, ""},                  // the verb is not covered
		{"ann", verb.Hold, []promotion.Deployment{prodEU}, "permissions"},         // a writer alone
		{"ann", verb.Hold, []promotion.Deployment{staging, prodUS}, "prod-us"},    // all are needed
		{"sam", verb.Hold, []promotion.Deployment{prodEU, prodUS}, ""},            // in the team
		{"sam", verb.Hold, []promotion.Deployment{staging}, "permissions"},        // and nothing else
		{"cho", verb.Resume, []promotion.Deployment{prodEU}, ""},                  // by name, in any case
		{"dan", verb.Hold, []promotion.Deployment{prodEU}, ""},                    // by the second entry
		{"dan", verb.Hold, []promotion.Deployment{prodUS}, "permissions"},         // which is not about this target
		{"dan", verb.Resume, []promotion.Deployment{prodEU}, "permissions"},       // nor about this verb
		{"ann", verb.Promote, []promotion.Deployment{target("dev", "blog")}, "e"}, // in every environment
		{"ann", verb.Hold, nil, "no place"},
		{"zoe", verb.Reject, []promotion.Deployment{staging}, "may write"},
		{"ann", verb.Resume, []promotion.Deployment{staging}, "permissions"}, // no rule of resume knows it
		{"sam", verb.Resume, []promotion.Deployment{staging}, ""},            // the strictest
		{"ann", verb.Promote, []promotion.Deployment{staging}, "permissions"},
		{"ann", verb.Help, nil, ""},
		{"dan", verb.Explain, nil, ""},
		{"sam", verb.Refresh, nil, ""},
		{"lea", verb.Help, nil, "no"},
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
	for v, at := range map[verb.Verb]promotion.Deployment{verb.Hold: target("prod", "shop"), verb.Resume: target("dev", "shop")} {
		if right, err := c.Allowed(t.Context(), identity.User{Login: "ann"}, v, at); err == nil || right.Allowed {
			t.Errorf("%v: %v", right, err)
		}
	}
	if _, err := c.Allowed(t.Context(), identity.User{Login: "ann"}, verb.Help); err == nil {
		t.Error("no error")
	}
}

// A name in the server file is that account, and none that readers take for it.
func TestPermissions_ofLookalikes(t *testing.T) {
	t.Parallel()
	rules := []serverconfig.Permission{permission("hold", "prod", "", "kris")}
	signals := &asked{}
	p := permissions{rules: rules, signals: signals}
	b := bypasses{
		host:    "forge.example",
		rules:   []serverconfig.Bypass{{Scope: rules[0].Scope, Conditions: []string{verb.BypassApprovals}, Who: []string{"kris"}}},
		request: func(user identity.User) request { return request{permissions: p, user: user, teams: map[string]bool{}} },
	}
	for login, want := range map[string]bool{
		"kris": true, "KRIS": true,
		"\u212aris": false, "kri\u017f": false, "k\u0433is": false, "kr\u200dis": false, "kris\u0323": false, "\uff4bris": false, "kris ": false, "": false,
		"unverified: kris": false, "team:acme/sre": false, "ghost": false, "ghost1": false, "Ghost": false,
	} {
		t.Run(login, func(t *testing.T) {
			user := identity.User{Host: "forge.example", Login: login}
			if right, err := p.Allowed(t.Context(), user, verb.Hold, target("prod", "shop")); err != nil || right.Allowed != want {
				t.Errorf("%q may hold: %+v, %v", login, right, err)
			}
			if right, err := b.MayBypass(t.Context(), user, verb.BypassApprovals, target("prod", "shop")); err != nil || right.Allowed != want {
				t.Errorf("%q may bypass: %+v, %v", login, right, err)
			}
		})
	}
}

// However many places are meant, a forge is asked once.
func TestCommanders_asksOnce(t *testing.T) {
	t.Parallel()
	signals := &asked{writers: []string{"ann"}, members: []string{"ann"}}
	c := permissions{signals: signals, rules: []serverconfig.Permission{permission("hold", "prod", "", "team:acme/sre"), permission("hold", "dev", "", "team:acme/sre")}}
	var many []promotion.Deployment
	for _, environment := range []string{"dev", "prod"} {
		for _, application := range []string{"a", "b", "c", "d"} {
			many = append(many, target(environment, application))
		}
	}
	if right, err := c.Allowed(t.Context(), identity.User{Login: "ann"}, verb.Hold, many...); err != nil || !right.Allowed {
		t.Errorf("%v, %v", right, err)
	}
	if signals.count != 1 {
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
		targets []promotion.Deployment
		want    string
		covered bool
	}{
		{verb.Hold, []promotion.Deployment{eu}, "cho team:acme/sre", true},
		{verb.Reject, []promotion.Deployment{eu}, "cho dan team:acme/sre", true},
		{verb.Reject, []promotion.Deployment{eu, us, dev}, "team:acme/sre", true},
		{verb.Hold, []promotion.Deployment{eu, dev}, "", true}, // no name is in both
		{verb.Hold, []promotion.Deployment{qa}, "", true},      // no rule knows it, and no name is in all
		{verb.Reject, []promotion.Deployment{qa}, "", true},
		{verb.Promote, []promotion.Deployment{eu}, "", false},
		{verb.Promote, nil, "", false},
	} {
		named, covered := p.Named(test.verb, test.targets...)
		if got := strings.Join(named, " "); got != test.want || covered != test.covered {
			t.Errorf("%s %v: %q, %v", test.verb, test.targets, got, covered)
		}
	}
}

// A user who can write to a repository chooses the names of environments and applications,
// the branch, and the paths. Whatever is renamed, also to names of which rules ask less, no
// limit and no permission gets looser for what was under them.
func TestRules_renamingLoosensNothing(t *testing.T) {
	t.Parallel()
	promote := []verb.Verb{verb.Promote}
	names := serverconfig.Scope{Environments: []string{"dev", "staging"}, Applications: []string{"blog", "shop"}}
	for name, test := range map[string]struct {
		strict, lax serverconfig.Scope
		isLax       func(promotion.Deployment) bool // what really is somewhere else
	}{
		"branches": {
			serverconfig.Scope{Branches: []string{"main"}},
			serverconfig.Scope{Branches: []string{"dev"}},
			func(d promotion.Deployment) bool { return d.Branch == "dev" },
		},
		"paths": {
			serverconfig.Scope{Paths: []string{"prod/**"}},
			serverconfig.Scope{Paths: []string{"dev/{application}/**"}},
			func(d promotion.Deployment) bool { return slices.Equal(d.Files, []string{"dev/shop/web.yaml"}) },
		},
		"environments": {
			serverconfig.Scope{Environments: []string{"prod*"}},
			names,
			func(d promotion.Deployment) bool { return slices.Contains(names.Environments, d.Target.Environment) },
		},
		"applications": {
			serverconfig.Scope{Applications: []string{"shop"}},
			serverconfig.Scope{Applications: []string{"blog"}},
			func(d promotion.Deployment) bool { return d.Target.Application == "blog" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := []serverconfig.Limit{
				{Scope: test.strict, Land: []setting.Land{setting.LandPR}, Propose: []setting.Propose{setting.ProposeManual}, Approvals: 2},
				{Scope: test.lax, Land: []setting.Land{setting.LandPush, setting.LandAutomerge, setting.LandPR}},
			}
			rules := []serverconfig.Permission{{Scope: test.strict, Verbs: promote, Who: []string{"sam"}}, {Scope: test.lax, Verbs: promote, Who: []string{"eve", "sam"}}}
			if test.strict.Environments == nil && test.strict.Applications == nil {
				limits = append(limits, serverconfig.Limit{Scope: names, Land: []setting.Land{setting.LandPush}})
				rules = append(rules, serverconfig.Permission{Scope: names, Verbs: promote, Who: []string{"eve"}})
			}
			for _, d := range deploymentsOfAllNames() {
				if test.isLax(d) {
					continue
				}
				if got := combine(limits, d); got.Approvals != 2 || len(got.Land) != 1 || got.Land[0] != setting.LandPR || len(got.Propose) != 1 {
					t.Errorf("%v: the limit is %v", d, got)
				}
				c := permissions{rules: rules, signals: &asked{writers: []string{"eve"}}}
				if right, err := c.Allowed(t.Context(), identity.User{Login: "eve"}, verb.Promote, d); err != nil || right.Allowed {
					t.Errorf("%v: a writer may promote: %v, %v", d, right, err)
				}
				if named, covered := c.Named(verb.Promote, d); !covered || slices.Contains(named, "eve") {
					t.Errorf("%v: %v may promote", d, named)
				}
			}
		})
	}
}

func deploymentsOfAllNames() (all []promotion.Deployment) {
	for _, environment := range []string{"prod", "prod-eu", "dev", "staging", "live"} {
		for _, application := range []string{"shop", "blog", "other"} {
			for _, branch := range []string{"main", "dev", "live"} {
				for _, files := range [][]string{
					{"prod/shop/web.yaml"},
					{"dev/shop/web.yaml"},
					{"dev/shop/web.yaml", "prod/shop/web.yaml"},
					{"dev/shop/web.yaml", "live/shop/web.yaml"},
					{"live/web.yaml"},
					nil,
				} {
					at := promotion.Target{Environment: environment, Application: application}
					all = append(all, promotion.Deployment{Target: at, Branch: branch, Files: files})
				}
			}
		}
	}
	return all
}

// An environment that no entry of a kind knows is reported, with its line.
func TestUnknownEnvironments(t *testing.T) {
	t.Parallel()
	loaded, problems := config.Load("p.yaml", []byte("version: 1\ncomponents:\n  web: {image: quay.io/acme/web, select: {semver: '>=1'}}\n"+
		"environments:\n  dev: {paths: [dev]}\n  prod-eu: {paths: [prod]}\n"))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	file := &serverconfig.Config{
		Limits: []serverconfig.Limit{
			{Scope: serverconfig.Scope{Environments: []string{"prod-*"}}, Approvals: 1},
			{Scope: serverconfig.Scope{Repositories: []string{"other/*"}, Environments: []string{"dev"}}, Approvals: 1},
		},
		Permissions: []serverconfig.Permission{permission("hold", "prod-*", "", "ann"), permission("hold", "d*", "", "ann"), permission("promote", "", "", "ann")},
	}
	found := UnknownEnvironments(file, loaded, func([]string) bool { return false })
	if len(found) != 1 || found[0].Line != 5 || !strings.Contains(found[0].Message, "no entry of limits in the server file knows the environment dev") {
		t.Errorf("got %v", found)
	}
	if found := UnknownEnvironments(file, loaded, func([]string) bool { return true }); len(found) != 0 {
		t.Errorf("got %v", found)
	}
}
