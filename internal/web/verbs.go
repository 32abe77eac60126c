package web

import (
	"promoter/internal/access"
	"promoter/internal/api"
	"promoter/internal/promotion"
	"promoter/internal/store"
	"promoter/internal/verb"
	"promoter/internal/view"
)

// mayDecide reports whether a principal may decide about a target with a verb. Freeze and thaw
// are about all of its applications.
func mayDecide(p access.Principal, what verb.Verb, repository string, target promotion.Target) bool {
	if ofEnvironment(what) {
		target.Application = access.All
	}
	return p.May(access.Operate, access.Target{Repository: repository, Environment: target.Environment, Application: target.Application})
}

// ofEnvironment reports whether a verb is about a whole environment.
func ofEnvironment(what verb.Verb) bool { return what == verb.Freeze || what == verb.Thaw }

// verbLink leads to the page of a verb.
type verbLink struct{ Name, URL string }

// verbLinks returns the verbs with which a principal may decide about a target of an application,
// and that change something there.
func verbLinks(p access.Principal, found view.Application, target view.Target) (links []verbLink) {
	about := promotion.Target{Environment: target.Environment, Application: found.Application}
	for _, what := range verb.Decisions() {
		if applies(what, target) && mayDecide(p, what, found.Repository, about) {
			links = append(links, verbLink{what.Title(), decideURL(found.Repository, about, what)})
		}
	}
	return links
}

// applies reports whether a verb can change something about a target. A hold and a freeze can be
// in effect together, and only one of them is known.
func applies(what verb.Verb, target view.Target) bool {
	kind := ""
	if target.Hold != nil {
		kind = target.Hold.Kind
	}
	switch what {
	case verb.Hold:
		return kind != store.HoldHold
	case verb.Resume:
		return kind != "" || target.Status == view.Failed
	case verb.Unreject:
		return target.Status == view.Rejected
	case verb.Freeze:
		return kind != store.HoldFreeze
	case verb.Thaw:
		return kind != ""
	default:
		return true
	}
}

// whyNotDecide returns why a principal who has signed in gets no verbLinks.
func whyNotDecide(p access.Principal) string {
	switch {
	case !p.Has(access.Operate):
		return "You may read this application, and not decide about it: that needs the role " + string(access.Operate) +
			" in the server file."
	case !hasLogin(p):
		return "You may not decide about this application: api.oidc.users in the server file maps you to no user of a forge."
	}
	return "You may not decide about this application: it is not in your scope in the server file."
}

// hasLogin reports whether a decision can be recorded for a principal: a token acts under its
// own name, a user as a login of the forge.
func hasLogin(p access.Principal) bool { return p.Token || p.Login != "" }

// decideURL returns the URL of the page of a verb.
func decideURL(repository string, target promotion.Target, what verb.Verb) string {
	return api.PathWith(applicationPath(target.Application)+"/decide", map[string]string{
		"repository": repository, "environment": target.Environment, "verb": string(what),
	})
}

// question is what the page of a verb asks.
type question struct {
	Effect string // what the decision does
	Wide   string // what the choice of all environments is called; empty: there is none
	// Versions is what the field of versions is called; empty: there is none.
	Versions     string
	NeedVersions bool
	To, Until    bool
	Downstream   string // what the choice of the environments downstream is called; empty: there is none
	Confirm      string // what the user confirms; empty: nothing
}

// questionOf returns what the page of a verb asks a principal about a target.
func questionOf(p access.Principal, what verb.Verb, found view.Application, target view.Target) question {
	name := promotion.Target{Environment: target.Environment, Application: found.Application}.Name()
	every := ""
	if mayDecide(p, what, found.Repository, promotion.Target{Environment: access.All, Application: found.Application}) {
		every = "In all environments of " + found.Application
		if ofEnvironment(what) {
			every = "In all environments of " + found.Repository
		}
	}
	switch what {
	case verb.Promote:
		return question{
			Effect:   "Requests the promotion of " + name + ". Conditions and gates still apply.",
			Versions: "Versions, instead of those that it waits for",
		}
	case verb.Hold:
		return question{
			Effect: "promoter proposes and merges nothing for " + name + " until a user resumes it. Open pull requests stay open.",
			Wide:   every,
		}
	case verb.Resume:
		return question{
			Effect: "Ends the hold, the rollback, and the failures of " + name + ". Rejected versions and a freeze stay.",
			Wide:   every,
		}
	case verb.Unreject:
		return question{
			Effect: "Allows these versions of " + name + " again, although users rejected, closed, or reverted them. " +
				"A rejection of more than " + name + " stays.",
			Versions: "Versions", NeedVersions: true, Wide: every, Confirm: "Allow these versions again",
		}
	case verb.Reject:
		return question{
			Effect: "promoter never proposes these versions for " + name + " again, and closes a pull request that has them. " +
				"Newer versions proceed.",
			Versions: "Versions", NeedVersions: true, Wide: every, Confirm: "Reject these versions",
		}
	case verb.Rollback:
		return question{
			Effect: "Restores earlier versions of " + name + ", and holds it until a user resumes it. " +
				"Until then, the versions that are there now go to no environment that follows " + target.Environment + ". " +
				"The change lands as promotions do there, with land: " + target.Land + ".",
			To: true, Confirm: "Roll back " + name,
			Downstream: "Also in each environment that follows " + target.Environment + " and has these versions",
		}
	case verb.Freeze:
		return question{
			Effect: "promoter proposes and merges nothing for any application in " + target.Environment + " until the freeze ends.",
			Until:  true, Wide: every,
		}
	case verb.Thaw:
		return question{Effect: "Ends the freeze of " + target.Environment + " for all its applications. Holds stay.", Wide: every}
	}
	return question{}
}
