package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/engine"
	"promoter/internal/fault"
	"promoter/internal/pullrequest"
	"promoter/internal/scan"
	"promoter/internal/scm"
	"promoter/internal/suggest"
	"promoter/internal/updater"
	"promoter/internal/workspace"
)

// asking offers a config file to the repository of a lane. What it knows was read in
// this pass.
type asking struct {
	workspace  *workspace.Workspace
	reconciler *engine.Reconciler // that of workspace
	o          *onboarding
	refs       engine.Refs
	base       string // the default branch
	at         string // its commit
	head       string // the commit of the onboarding branch; empty: there is none
	open       []scm.PullRequest
	ours       *scm.PullRequest // the onboarding pull request, if it is open
}

// mayOnboard says whether the server's file lets the repository of the lane be
// offered a config file, and whether anything may be.
func mayOnboard(w *workspace.Workspace, o *onboarding) bool {
	repository := w.Reconciler.Repository
	info := repository.Info()
	return o != nil && w.Repository.Matches(o.globs) && repository.Features().PullRequests &&
		!info.Archived && !info.Fork && info.MayPush
}

// onboard offers a config file to a listed repository in which a pass found none. It
// is nil where that is not so.
func onboard(ctx context.Context, w *workspace.Workspace, o *onboarding, report engine.Report) (*Onboarding, error) {
	if report.Config != nil || report.Unusable == "" || !mayOnboard(w, o) {
		return nil, nil //nolint:nilnil // there is nothing to tell
	}
	a, err := newAsking(ctx, w, o)
	if err != nil || a == nil {
		return nil, err
	}
	key, mark := w.Repository.Key(), a.at+" "+a.head
	if known := o.memory.has(key, mark); known != nil {
		return known, nil
	}
	came, err := a.offer(ctx)
	if err == nil && came != nil {
		o.memory.settle(key, mark, *came, false)
		err = o.memory.save()
	}
	return came, err
}

// newAsking lists the branches. It is nil for an empty repository.
func newAsking(ctx context.Context, w *workspace.Workspace, o *onboarding) (*asking, error) {
	refs, err := w.Reconciler.Remote.Refs(ctx)
	if err != nil {
		return nil, err
	}
	a := &asking{
		workspace: w, reconciler: &w.Reconciler, o: o,
		refs: refs, base: cmp.Or(refs.Default, w.Reconciler.Repository.Info().DefaultBranch),
	}
	a.at, a.head = refs.Branches[a.base], refs.Branches[pullrequest.OnboardingBranch]
	if a.at == "" {
		return nil, nil //nolint:nilnil // nothing to look at, and no failure
	}
	return a, nil
}

// offer opens the one pull request, or leaves it as it is. Nil: there is a config.
func (a *asking) offer(ctx context.Context) (*Onboarding, error) {
	if came, err := a.asked(ctx); came != nil || err != nil {
		return came, err
	}
	heads, err := a.reconciler.Remote.Fetch(ctx, a.base)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", a.base, err)
	}
	a.at = heads[a.base]
	if there, err := a.holdsConfig(a.at); there || err != nil {
		return nil, err
	}
	made, err := a.suggest(ctx)
	if errors.Is(err, suggest.ErrNothing) {
		return &Onboarding{State: OnboardingNothing, Reason: err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	came, err := a.write(ctx, made)
	if fault.KindOf(err) == fault.Conflict { // the next pass sees what they did
		return &Onboarding{State: OnboardingLeft, Reason: "somebody else was faster"}, nil
	}
	return came, err
}

// asked says what the forge knows of an earlier offer: the forge alone remembers it,
// so that nothing that promoter may lose lets it ask twice.
func (a *asking) asked(ctx context.Context) (*Onboarding, error) {
	pulls := a.reconciler.Repository.PullRequests()
	var err error
	if a.open, err = pulls.Open(ctx); err != nil {
		return nil, fmt.Errorf("list the open pull requests: %w", err)
	}
	i := slices.IndexFunc(a.open, func(pr scm.PullRequest) bool { return pr.Head.Own && pr.Head.Branch == pullrequest.OnboardingBranch })
	if i < 0 {
		return a.declined(ctx)
	}
	a.ours = &a.open[i]
	left := &Onboarding{State: OnboardingLeft, Number: a.ours.Number, URL: a.ours.URL}
	switch {
	case !a.reconciler.Repository.Info().Self.Same(a.ours.Author):
		left.Reason = "another account opened the pull request from " + pullrequest.OnboardingBranch
	case a.head == "":
		return a.headless(ctx, left)
	default:
		return nil, nil //nolint:nilnil // it goes on
	}
	return left, nil
}

// headless is an open pull request whose branch was not among those that were listed:
// it was deleted, and some forges leave the pull request open then, or somebody pushed
// and opened it since. A decline is for ever, so the branches are listed once more.
func (a *asking) headless(ctx context.Context, left *Onboarding) (*Onboarding, error) {
	refs, err := a.reconciler.Remote.Refs(ctx)
	if err != nil {
		return nil, err
	}
	if refs.Branches[pullrequest.OnboardingBranch] != "" {
		left.Reason = "somebody else was faster"
		return left, nil
	}
	left.State, left.Reason = OnboardingDeclined, "its branch was deleted"
	return left, nil
}

// declined looks for one that was closed or merged, by anybody.
func (a *asking) declined(ctx context.Context) (*Onboarding, error) {
	closed, err := a.reconciler.Repository.PullRequests().Closed(ctx, pullrequest.OnboardingBranch, 1)
	if err != nil || len(closed) == 0 {
		return nil, err
	}
	return &Onboarding{
		State: OnboardingDeclined, Number: closed[0].Number, URL: closed[0].URL, Reason: fmt.Sprintf("pull request #%d is %s", closed[0].Number, closed[0].State),
	}, nil
}

func (a *asking) holdsConfig(commit string) (bool, error) {
	_, err := a.reconciler.Objects.Read(commit, ConfigFile, config.MaxSize)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	return err == nil, err
}

// suggest makes a config for the files of the default branch.
func (a *asking) suggest(ctx context.Context) (*suggest.Suggestion, error) {
	entries, err := a.workspace.List(ctx, a.at)
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", a.base, err)
	}
	files := func(yield func(updater.File, error) bool) {
		for _, entry := range entries {
			file := scan.GitFile(entry, func() ([]byte, error) { return a.workspace.Content(entry, scan.ReadLimit) })
			if !yield(file, nil) {
				return
			}
		}
	}
	found := suggest.Found{ForPullRequest: true}
	found.References, found.Files, err = scan.All(ctx, files, a.o.maxFileSize)
	if err != nil {
		return nil, fmt.Errorf("scan the files of %s: %w", a.base, err)
	}
	return suggest.Config(found)
}

// stands says whether the branch has the settings that are offered, or why it is not
// to be touched: only one commit of ours with this one file is.
func (a *asking) stands(ctx context.Context, text string) (same bool, why string, err error) {
	if a.head == "" {
		return false, "", nil
	}
	if _, err := a.reconciler.Remote.Fetch(ctx, pullrequest.OnboardingBranch); err != nil {
		return false, "", fmt.Errorf("fetch %s: %w", pullrequest.OnboardingBranch, err)
	}
	commit, err := a.reconciler.Objects.Commit(a.head)
	if err != nil {
		return false, "", fmt.Errorf("read the head of %s: %w", pullrequest.OnboardingBranch, err)
	}
	if commit.Committer.Email != a.reconciler.By.Email || commit.Committer.Name != a.reconciler.By.Name || len(commit.Parents) != 1 {
		return false, "the branch " + pullrequest.OnboardingBranch + " holds a commit of " + commit.Committer.Name, nil
	}
	content, err := a.reconciler.Objects.Read(a.head, ConfigFile, config.MaxSize)
	if err != nil {
		return false, "", ignoring(fault.NotFound, err)
	}
	return slices.Equal(settings(string(content)), settings(text)), "", nil
}

// settings are the lines of a config that are no comment: those tell what stands in
// the files now, and a newer version there is no reason to push.
func settings(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return line == "" || strings.HasPrefix(line, "#")
	})
}

// maxOthersLooked is how many open pull requests are looked into for a config file.
const maxOthersLooked = 30

// added says which open pull request adds a config file by itself. Those of forks are
// not looked into: whoever opens one must not keep the offer away.
func (a *asking) added(ctx context.Context) (string, error) {
	looked := 0
	for _, pr := range slices.Backward(a.open) {
		if !pr.Head.Own || pr.Base != a.base || a.refs.Branches[pr.Head.Branch] == "" {
			continue
		}
		if looked++; looked > maxOthersLooked {
			break
		}
		heads, err := a.reconciler.Remote.Fetch(ctx, pr.Head.Branch)
		if err != nil {
			return "", fmt.Errorf("fetch %s: %w", pr.Head.Branch, err)
		}
		if there, err := a.holdsConfig(heads[pr.Head.Branch]); err == nil && there {
			return fmt.Sprintf("pull request #%d adds %s", pr.Number, ConfigFile), nil
		}
	}
	return "", nil
}

// ignoring drops an error of a kind.
func ignoring(kind fault.Kind, err error) error {
	if fault.KindOf(err) == kind {
		return nil
	}
	return err
}
