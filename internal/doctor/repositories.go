package doctor

import (
	"context"
	"slices"
	"strings"
	"sync"

	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/config/setting"
	"promoter/internal/connect"
	"promoter/internal/connect/rules"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/imports"
	"promoter/internal/promotion"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/unused"
	"promoter/internal/workspace"
)

// checkRepositories checks each repository, and the registries that their configs name.
func checkRepositories(ctx context.Context, session *connect.Session, f *findings) {
	for _, note := range session.Notes {
		f.warn("forges", "", "%s", note)
	}
	if len(session.Repositories) == 0 {
		f.warn("repositories", "add repositories, or install the App on some", "there are none to work on")
	}
	queried := &queries{seen: map[string]bool{}}
	var mutex sync.Mutex
	facts := unused.Facts{Now: session.Server.Now(), Server: session.Server.File, Complete: len(session.Notes) == 0}
	session.Each(func(r *connect.Repository) {
		loaded := checkRepository(ctx, session, r, f)
		if loaded != nil {
			checkRegistries(ctx, session, r, loaded, queried, f)
		}
		mutex.Lock()
		defer mutex.Unlock()
		facts.Complete = facts.Complete && loaded != nil
		facts.Repositories = append(facts.Repositories, unused.Repository{Config: loaded, Matches: r.Matches})
		facts.Names = append(facts.Names, r.Matches)
	})
	checkUnused(facts, f)
	for _, entry := range session.Server.File.Registries {
		if entry.HasCredentials() && queried.first(entry.Host) {
			f.warn("registry "+entry.Host, "check usableBy, or take the entry out",
				"no repository that was checked follows an image there: its credential was not tried")
		}
	}
}

// checkUnused warns about what the server file names and no repository uses, if all repositories can be worked on.
func checkUnused(facts unused.Facts, f *findings) {
	if !facts.Complete || len(facts.Repositories) == 0 {
		return
	}
	for _, one := range unused.Find(facts) {
		if one.File == facts.Server.File {
			f.warn("server file", one.Hint, "line %d: %s", one.Line, one.Message)
		}
	}
}

// checkRepository returns the config of the repository if it can be worked on.
func checkRepository(ctx context.Context, session *connect.Session, r *connect.Repository, f *findings) *config.Config {
	subject := "repository " + r.Name
	if r.Err != nil {
		fix := fixFor(r.Err, "see docs/forges.md for the rights that are needed")
		if r.Forge != nil && f.failed("forge "+r.Forge.Config.Name) { // such as for a missing secret
			fix = "correct the forge " + r.Forge.Config.Name + " first"
		}
		f.fail(subject, fix, "%s", strings.TrimPrefix(r.Err.Error(), subject+": "))
		return nil
	}
	info := r.SCM.Info()
	switch {
	case info.Archived:
		f.warn(subject, "take it out of the file, or unarchive it", "it is archived: nothing can be done there")
		return nil
	case !info.MayPush:
		f.fail(subject, "give the credential the right to write", "the credential may read it and not push")
		return nil
	}
	checkStateBranch(ctx, session, r, subject, f)
	var loaded *config.Config
	var writers config.Problems
	var gone []promotion.GoneDecision
	var unsealed []string
	err := workspace.Try(ctx, session, r, workspace.Options{}, func(ctx context.Context, w *workspace.Workspace) (err error) {
		if loaded, _, err = w.Config(ctx); err != nil {
			return err
		}
		if gone, unsealed, err = recorded(ctx, w); err != nil {
			return err
		}
		writers, err = otherWriters(ctx, w, loaded)
		return err
	})
	if err != nil {
		f.fail(subject, fixFor(err, "check it with promoter validate"), "%s", strings.TrimPrefix(err.Error(), subject+": "))
		return nil
	}
	checkCommands(ctx, r, subject, f)
	checkSettings(ctx, session, r, subject, f)
	checkHeads(ctx, r, loaded, subject, f)
	checkTeams(r, loaded, subject, f)
	checkSignatures(loaded, subject, f)
	if r.Forge.Config.Kind == serverconfig.ForgeGit { // which reports permissions only on a push
		f.ok(subject, "opens, and has a valid config")
	} else {
		f.ok(subject, "opens, may be pushed to, and has a valid config")
	}
	checkSources(ctx, session, r, loaded, subject, f)
	for _, one := range gone {
		f.warn(subject, one.Fix(), "%s", one)
	}
	if len(unsealed) > 0 {
		fix := "inspect the times with promoter seals adopt --dry-run, then adopt them with promoter seals adopt"
		const what = "recorded times have no seal and do not count, so soaks, minAge, and settle begin again: %s"
		f.warn(subject, fix, what, fault.List(unsealed))
	}
	for _, writer := range writers {
		f.warn(subject, writer.Hint, "%s", writer.Message)
	}
	facts := unused.Facts{
		Now: session.Server.Now(), Server: session.Server.File, Repositories: []unused.Repository{{Config: loaded, Matches: r.Matches}},
	}
	for _, one := range unused.Find(facts) {
		f.warn(subject, one.Hint, "%s", one.Message)
	}
	for _, unknown := range rules.UnknownEnvironments(session.Server.File, loaded, r.Matches) {
		f.warn(subject, unknown.Hint, "%s", unknown.Message)
	}
	return loaded
}

// recorded returns the decisions whose target is gone, and the targets with times that do not count because they have
// no seal.
func recorded(ctx context.Context, w *workspace.Workspace) (gone []promotion.GoneDecision, unsealed []string, err error) {
	clients := w.Reconciler.Clients
	s, err := clients.StateBranch().State(ctx)
	if err == nil && len(s.Targets()) > 0 {
		s, err = clients.Located(ctx, s)
	}
	for _, target := range s.SetAside() {
		unsealed = append(unsealed, promotion.Target(target).Name())
	}
	return promotion.GoneDecisions(s), unsealed, err
}

// otherWriters warns of other tools that update what a config follows, in the files of the default
// branch.
func otherWriters(ctx context.Context, w *workspace.Workspace, loaded *config.Config) (config.Problems, error) {
	_, commit, err := w.Default(ctx)
	if err != nil {
		return nil, err
	}
	files, err := w.Files(ctx, commit)
	if err != nil {
		return nil, err
	}
	found, err := imports.Find(ctx, files, 0)
	if err != nil {
		return nil, err
	}
	return imports.OtherWriters(loaded, found), nil
}

// checkStateBranch checks that the rules of the forge permit to push the state branch.
func checkStateBranch(ctx context.Context, session *connect.Session, r *connect.Repository, subject string, f *findings) {
	ruled, ok := r.SCM.(scm.Ruled)
	if !ok || !r.SCM.Features().Rules {
		return
	}
	rules, err := ruled.Rules(ctx, state.Branch)
	if rules.Note != "" {
		f.ok(subject, "%s", rules.Note)
	}
	const fix = "leave " + state.Branch + " out of the rule for branches, or let promoter go past it"
	switch {
	case fault.KindOf(err) == fault.NotFound: // the branch is created with the first entry
	case err != nil:
		f.warn(subject, fixFor(err, "see docs/forges.md"), "the rules for %s cannot be read: %v", state.Branch, err)
	case rules.Signed && !session.Server.SignsCommits(r.Forge.Config):
		f.fail(subject, fix, "%s may not be pushed to: the forge wants signed commits there", state.Branch)
	case rules.Queue:
		f.fail(subject, fix, "%s may not be pushed to: the forge wants a merge queue there", state.Branch)
	case rules.PullRequests || rules.Approvals > 0 || len(rules.Checks) > 0: // the forge does not report whether promoter is exempt
		f.warn(subject, fix, "the forge wants pull requests or checks for %s, unless promoter may go past that", state.Branch)
	}
}

// checkCommands checks that the forge shows which users may give commands in comments.
func checkCommands(ctx context.Context, r *connect.Repository, subject string, f *findings) {
	limited, ok := r.SCM.(scm.LimitsPermissions)
	if !ok || !r.SCM.Features().Comments {
		return
	}
	limit, err := limited.PermissionLimit(ctx)
	users := "some users"
	if limit.All {
		users = "all users"
	}
	switch {
	case err != nil:
		f.warn(subject, fixFor(err, "see docs/forges.md"), "the permissions of users cannot be read: %v", err)
	case limit.Reason != "":
		f.warn(subject, limit.Fix, "commands in comments are refused for %s that permissions does not name: %s", users, limit.Reason)
	}
}

// checkSettings reports what the settings of the repository limit.
func checkSettings(ctx context.Context, session *connect.Session, r *connect.Repository, subject string, f *findings) {
	inspected, ok := r.SCM.(scm.Inspected)
	if !ok {
		return
	}
	notices, err := inspected.Inspect(ctx, session.Server.File.URL)
	if err != nil {
		f.warn(subject, fixFor(err, "see docs/forges.md"), "its settings cannot be read: %v", err)
	}
	for _, notice := range notices {
		f.warn(subject, notice.Fix, "%s", notice.Message)
	}
}

// checkHeads checks that the forge accepts our commits, signed or not, on the
// branches of pull requests. One environment stands for all.
func checkHeads(ctx context.Context, r *connect.Repository, loaded *config.Config, subject string, f *findings) {
	ruled, ok := r.SCM.(scm.HeadRuled)
	if !ok {
		return
	}
	for _, environment := range loaded.Environments {
		if environment.Land == setting.LandPush {
			continue
		}
		reason, err := ruled.Unpushable(ctx, promotion.HeadBranch(environment.Name, "example"))
		if err == nil && reason != "" {
			f.fail(subject, "", "no pull request can be opened: %s", reason)
		}
		return
	}
}

// checkTeams checks that the credential may read teams if the config names one.
func checkTeams(r *connect.Repository, loaded *config.Config, subject string, f *findings) {
	reader, ok := r.SCM.(scm.TeamReader)
	if !ok || reader.TeamsHidden() == "" {
		return
	}
	isTeam := func(name string) bool { return strings.HasPrefix(name, "team:") }
	for _, environment := range loaded.Environments {
		names := slices.Clone(environment.PullRequest.Reviewers)
		if approvals := environment.Gates.Approvals; approvals != nil {
			names = append(names, approvals.From...)
		}
		if i := slices.IndexFunc(names, isTeam); i >= 0 {
			const problem = "environment %s names %s: its review is not requested, and its members are unknown: %s"
			f.warn(subject, "add it to the App, then an owner of the account accepts it", problem,
				environment.Name, names[i], reader.TeamsHidden())
			return
		}
	}
}

// maxProbed is how many sources of one repository are probed.
const maxProbed = 20

// checkSources asks for the sources and releases that the config names, as they are read for
// pull requests and versions.
func checkSources(
	ctx context.Context, session *connect.Session, r *connect.Repository, loaded *config.Config, subject string, f *findings,
) {
	seen := map[string]bool{"": true}
	for _, component := range loaded.Components {
		named := []string{component.Source}
		if source, released := loaded.Policy(component.Name).Release(); released {
			named = append(named, source)
		}
		for _, source := range named {
			if seen[source] || len(seen) > maxProbed {
				continue
			}
			seen[source] = true
			if err := session.Sources(r).Probe(ctx, source); err != nil {
				f.warn(subject, "add an entry of sources to the server file if the repository is private: see docs/operate/security.md",
					"the source of component %s cannot be read: %v", component.Name, err)
			}
		}
	}
}

// queries remembers which registries were queried, so that each is queried once for each
// repository.
type queries struct {
	mutex sync.Mutex
	seen  map[string]bool // the host, or host and repository
}

// first reports whether the key is new, and adds it.
func (q *queries) first(key string) bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	known := q.seen[key]
	q.seen[key] = true
	return !known
}

// probeTag is the tag that is queried. It need not exist: the registry answers all the
// same.
const probeTag = "latest"

// checkRegistries queries each host for one image that the repository follows, or has in a
// mirror, with the credentials that the repository may use.
func checkRegistries(
	ctx context.Context, session *connect.Session, r *connect.Repository, loaded *config.Config, queried *queries, f *findings,
) {
	key := r.SCM.Info().Key
	var named []image.Repository
	for _, component := range loaded.Components {
		followed, one := component.Pattern.Repository()
		if !one {
			continue
		}
		named = append(named, followed)
		for i := range loaded.Environments {
			if written, mirrored := loaded.Environments[i].MirrorOf(followed); mirrored {
				named = append(named, written)
			}
		}
	}
	for _, followed := range named {
		if !queried.first(followed.Host() + " " + string(key)) {
			continue
		}
		queried.first(followed.Host())
		subject := "registry " + followed.Host()
		err := query(ctx, session, key, followed)
		if err == nil || fault.KindOf(err) == fault.NotFound {
			f.ok(subject, "answers %s about %s", r.Name, followed.Path())
			continue
		}
		f.fail(subject, fixFor(err, "check its credential and usableBy in the server file"), "%s: %v", r.Name, err)
	}
}

// query asks a registry about an image.
func query(ctx context.Context, session *connect.Session, key identity.RepositoryKey, followed image.Repository) error {
	if err := session.CheckCredential(key, followed); err != nil {
		return err
	}
	_, err := session.Registry(key).Resolve(ctx, image.Reference{Repository: followed, Tag: probeTag})
	return err
}
