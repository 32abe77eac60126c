package app

import (
	"context"
	"slices"
	"sync"
	"time"

	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/workspace"
)

// repositories looks at each of them, and at the registries that their configs name.
func (d *doctor) repositories(ctx context.Context, session *connect.Session) {
	for _, note := range session.Notes {
		d.say(VerdictWarn, "forges", "", "%s", note)
	}
	if len(session.Repositories) == 0 {
		d.say(VerdictWarn, "repositories", "add repositories, or install the App on some", "there are none to work on")
	}
	asked := &registriesAsked{seen: map[string]bool{}}
	session.Each(func(r *connect.Repository) { d.repository(ctx, session, r, asked) })
	d.unasked(asked)
}

func (d *doctor) repository(ctx context.Context, session *connect.Session, r *connect.Repository, asked *registriesAsked) {
	subject := "repository " + r.Name
	if r.Err != nil {
		d.say(VerdictFail, subject, fixOf(r.Err, "see docs/forges.md for the rights that are needed"), "%v", r.Err)
		return
	}
	info := r.SCM.Info()
	switch {
	case info.Archived:
		d.say(VerdictWarn, subject, "take it out of the file, or unarchive it", "it is archived: nothing can be done there")
		return
	case !info.MayPush:
		d.say(VerdictFail, subject, "give the credential the right to write", "the credential may read it and not push")
		return
	}
	d.stateBranch(ctx, r, subject)
	var loaded *config.Config
	err := workspace.Try(ctx, session, r, workspace.Options{}, func(w *workspace.Workspace) (err error) {
		loaded, _, err = w.Config(ctx)
		return err
	})
	if err != nil {
		d.say(VerdictFail, subject, fixOf(err, "check it with promoter validate"), "%v", err)
		return
	}
	words := "opens, may be pushed to, and has a valid config"
	if r.Forge.Config.Kind == serverconfig.ForgeGit { // which is not told before the push
		words = "opens, and has a valid config"
	}
	d.say(VerdictOK, subject, "", "%s", words)
	d.registries(ctx, session, r, loaded, asked)
}

// stateBranch asks whether the forge lets promoter push what it remembers.
func (d *doctor) stateBranch(ctx context.Context, r *connect.Repository, subject string) {
	ruled, ok := r.SCM.(scm.Ruled)
	if !ok || !r.SCM.Features().Rules {
		return
	}
	rules, err := ruled.Rules(ctx, state.Branch)
	const fix = "leave " + state.Branch + " out of the rule for branches, or let promoter go past it"
	switch {
	case fault.KindOf(err) == fault.NotFound: // the branch is made with the first thing to remember
	case err != nil:
		d.say(VerdictWarn, subject, fixOf(err, "see docs/forges.md"), "the rules for %s cannot be read: %v", state.Branch, err)
	case rules.Signed:
		d.say(VerdictFail, subject, fix, "%s may not be pushed to: the forge wants signed commits there", state.Branch)
	case rules.Queue:
		d.say(VerdictFail, subject, fix, "%s may not be pushed to: the forge wants a merge queue there", state.Branch)
	case rules.PullRequests || rules.Approvals > 0 || len(rules.Checks) > 0: // whether they hold for promoter is not told
		d.say(VerdictWarn, subject, fix, "the forge wants pull requests or checks for %s, unless promoter may go past that", state.Branch)
	}
}

// registriesAsked are the registries that were asked for somebody.
type registriesAsked struct {
	mu   sync.Mutex
	seen map[string]bool // host, and who asked
}

func (a *registriesAsked) first(key string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.seen[key]
	a.seen[key] = true
	return !known
}

// askedTag is a tag that need not be there: that a registry says so is an answer.
const askedTag = "latest"

// registries asks each host for one image that the repository follows, with the
// repository's right.
func (d *doctor) registries(ctx context.Context, session *connect.Session, r *connect.Repository, loaded *config.Config, asked *registriesAsked) {
	key := r.SCM.Info().Key
	for _, component := range loaded.Components {
		followed, ok := component.Pattern.Repository()
		if !ok || !asked.first(followed.Host()+" "+string(key)) {
			continue
		}
		asked.first(followed.Host())
		subject := "registry " + followed.Host()
		err := session.CheckCredential(key, followed)
		if err == nil {
			_, err = session.Registry(key).Resolve(ctx, image.Reference{Repository: followed, Tag: askedTag})
		}
		if err == nil || fault.KindOf(err) == fault.NotFound {
			d.say(VerdictOK, subject, "", "answers %s about %s", r.Name, followed.Path())
			continue
		}
		d.say(VerdictFail, subject, fixOf(err, "check its credential and usableBy in the server's file"), "%s: %v", r.Name, err)
	}
}

// unasked names credentials that nothing tried.
func (d *doctor) unasked(asked *registriesAsked) {
	for _, entry := range d.file.Registries {
		if entry.HasCredentials() && asked.first(entry.Host) {
			d.say(VerdictWarn, "registry "+entry.Host, "check usableBy, or take the entry out", "no repository that was looked at follows an image there: its credential was not tried")
		}
	}
}

// What is worth a word.
const (
	largestSkew  = 30 * time.Second
	fewRemaining = 200
)

// hosts says what forges told in passing about their clocks and limits.
func (d *doctor) hosts() {
	var names []string
	for host := range d.heard {
		names = append(names, host)
	}
	slices.Sort(names)
	for _, host := range names {
		d.host(host, d.heard[host])
	}
}

func (d *doctor) host(host string, said heard) {
	subject := "forge " + host
	if skew := said.answer.Skew.Round(time.Second); skew.Abs() > largestSkew {
		d.say(VerdictWarn, subject, "set the clock of this machine, for instance with NTP", "its clock differs from this machine's by %v", skew)
	}
	switch {
	case said.remaining < 0:
		d.say(VerdictOK, subject, "", "answers")
	case said.remaining < fewRemaining:
		d.say(VerdictWarn, subject, "poll less often, or use a GitHub App, which has more", "answers, and allows %d requests more for now", said.remaining)
	default:
		d.say(VerdictOK, subject, "", "answers, and allows %d requests more for now", said.remaining)
	}
}
