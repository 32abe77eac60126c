package onboarding

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/suggest"
	"promoter/internal/workspace"
)

// offer is a repository that is offered a config file, as it was read just now.
type offer struct {
	workspace  *workspace.Workspace
	reconciler *reconcile.Reconciler // of workspace
	reserve    func() bool           // reports whether one more pull request may be opened
	maxSize    int64                 // bytes over which a file is not parsed
	refs       repo.Refs
	base       string // the default branch
	commit     string // of the default branch
	head       string // the commit of the onboarding branch; empty: it does not exist
}

// newOffer lists the branches. It is nil for an empty repository.
func newOffer(ctx context.Context, w *workspace.Workspace, maxSize int64, reserve func() bool) (*offer, error) {
	refs, err := w.Reconciler.Clients.Remote.Refs(ctx)
	if err != nil {
		return nil, err
	}
	o := &offer{
		workspace: w, reconciler: &w.Reconciler, reserve: reserve, maxSize: maxSize,
		refs: refs, base: cmp.Or(refs.Default, w.Reconciler.Clients.Forge.Info().DefaultBranch),
	}
	o.commit, o.head = refs.Branches[o.base], refs.Branches[pullrequest.OnboardingBranch]
	if o.commit == "" {
		return nil, nil //nolint:nilnil // there is nothing to read, and nothing failed
	}
	return o, nil
}

// concurrentChange is the reason if the branch or the pull request changed while it was
// read. A later reconciliation sees the change.
const concurrentChange = "its branch changed at the same time"

// run opens the pull request or updates it. The result is nil if there is a config file.
func (o *offer) run(ctx context.Context) (*Result, error) {
	pulls, settled, err := o.readPullRequests(ctx)
	if settled != nil || err != nil {
		return settled, err
	}
	heads, err := o.reconciler.Clients.Remote.Fetch(ctx, o.base)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", o.base, err)
	}
	o.commit = heads[o.base] // it may have moved since it was listed
	if exists, err := o.hasConfig(o.commit); exists || err != nil {
		return nil, err
	}
	suggestion, err := o.suggestConfig(ctx)
	if errors.Is(err, suggest.ErrNothing) {
		return &Result{State: NothingFound, Reason: err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	result, current, err := o.decide(ctx, pulls, suggestion)
	if err == nil && (result.State == ToOpen || result.State == ToRefresh) {
		page := o.prepare(ctx, suggestion)
		if result.Config = suggestion.Text; !o.reconciler.Clients.ReadOnly {
			err = o.write(ctx, pulls.ours, page, current, result)
		}
	}
	if fault.KindOf(err) == fault.Conflict {
		return &Result{State: LeftAlone, Reason: concurrentChange}, nil
	}
	return result, err
}

// pullRequests are the open pull requests of the repository.
type pullRequests struct {
	open []scm.PullRequest
	ours *scm.PullRequest // the onboarding pull request, if it is open
}

// readPullRequests reads what the forge knows about an earlier offer. The result is nil
// if the offer may continue.
func (o *offer) readPullRequests(ctx context.Context) (pulls pullRequests, settled *Result, err error) {
	if pulls.open, err = o.reconciler.Clients.Forge.PullRequests().Open(ctx); err != nil {
		return pulls, nil, fmt.Errorf("list the open pull requests: %w", err)
	}
	i := slices.IndexFunc(pulls.open, func(pr scm.PullRequest) bool {
		return pr.Head.Own && pr.Head.Branch == pullrequest.OnboardingBranch
	})
	if i < 0 {
		settled, err = o.readDeclined(ctx)
		return pulls, settled, err
	}
	pulls.ours = &pulls.open[i]
	settled = &Result{State: LeftAlone, Number: pulls.ours.Number, URL: pulls.ours.URL}
	switch {
	case !o.reconciler.Clients.Forge.Info().Self.Same(pulls.ours.Author):
		settled.Reason = "another account opened the pull request from " + pullrequest.OnboardingBranch
		return pulls, settled, nil
	case o.head != "":
		return pulls, nil, nil
	}
	// The branch was not listed. Either it was deleted, and some forges then leave the
	// pull request open; or another process pushed it since. A decline is forever, so the
	// branches are listed again.
	refs, err := o.reconciler.Clients.Remote.Refs(ctx)
	if err != nil {
		return pulls, nil, err
	}
	if refs.Branches[pullrequest.OnboardingBranch] != "" {
		settled.Reason = concurrentChange
	} else {
		settled.State, settled.Reason = Declined, "its branch was deleted"
	}
	return pulls, settled, nil
}

// readDeclined searches for an onboarding pull request that was closed or merged.
func (o *offer) readDeclined(ctx context.Context) (*Result, error) {
	closed, err := o.reconciler.Clients.Forge.PullRequests().Closed(ctx, pullrequest.OnboardingBranch, 1)
	if err != nil || len(closed) == 0 {
		return nil, err
	}
	return &Result{
		State: Declined, Number: closed[0].Number, URL: closed[0].URL,
		Reason: fmt.Sprintf("pull request #%d is %s", closed[0].Number, closed[0].State),
	}, nil
}

func (o *offer) hasConfig(commit string) (bool, error) {
	_, err := o.reconciler.Clients.Objects.Read(commit, config.FileName, config.MaxSize)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	return err == nil, err
}

// decide returns what to do about the pull request: open it, refresh it, or nothing; and
// whether its branch is current.
func (o *offer) decide(ctx context.Context, pulls pullRequests, suggestion *suggest.Suggestion) (result *Result, current bool, err error) {
	result = &Result{State: Open}
	if pulls.ours != nil {
		result.Number, result.URL = pulls.ours.Number, pulls.ours.URL
	}
	current, reason, err := o.readBranch(ctx, suggestion)
	result.Config = suggestion.Text
	if err == nil && reason == "" && pulls.ours == nil {
		reason, err = o.findOther(ctx, pulls.open)
	}
	switch {
	case err != nil:
		return nil, false, err
	case reason != "":
		result.State, result.Reason = LeftAlone, reason
	case pulls.ours != nil && !current:
		result.State = ToRefresh
	case pulls.ours != nil:
	case !o.reserve():
		result.State, result.Reason = Waiting, "the maximum of pull requests was opened"
	default:
		result.State = ToOpen
	}
	return result, current, nil
}

// readBranch reports whether the onboarding branch has the suggested settings, or the
// reason to leave it alone: promoter replaces nothing but one commit of its own.
func (o *offer) readBranch(ctx context.Context, suggestion *suggest.Suggestion) (current bool, reason string, err error) {
	if o.head == "" {
		return false, "", nil
	}
	if _, err := o.reconciler.Clients.Remote.Fetch(ctx, pullrequest.OnboardingBranch); err != nil {
		return false, "", fmt.Errorf("fetch %s: %w", pullrequest.OnboardingBranch, err)
	}
	commit, err := o.reconciler.Clients.Objects.Commit(o.head)
	if err != nil {
		return false, "", fmt.Errorf("read the head of %s: %w", pullrequest.OnboardingBranch, err)
	}
	if !o.reconciler.Clients.By.Committed(commit) || len(commit.Parents) != 1 {
		return false, "the branch " + pullrequest.OnboardingBranch + " has a commit of " + commit.Committer.Name, nil
	}
	content, err := o.reconciler.Clients.Objects.Read(o.head, config.FileName, config.MaxSize)
	if fault.KindOf(err) == fault.NotFound {
		return false, "", nil
	}
	if err != nil {
		return false, "", err
	}
	// How the environments begin depends on registries, which are queried only for a change.
	starts := map[string]suggest.Start{}
	if loaded, problems := config.Load(config.FileName, content); problems.Err() == nil {
		for i := range loaded.Environments {
			starts[loaded.Environments[i].Name] = suggest.StartOf(&loaded.Environments[i])
		}
	}
	suggestion.Begin(starts)
	return slices.Equal(settings(string(content)), settings(suggestion.Text)), "", nil
}

// settings returns the lines of a config without comments. Comments list the versions in
// the files; a newer version there is no reason to push.
func settings(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return line == "" || strings.HasPrefix(line, "#")
	})
}

// maxSearched is how many open pull requests are searched for a config file.
const maxSearched = 30

// findOther returns the reason if another open pull request adds a config file. Those of
// forks do not count, because any user can open one.
func (o *offer) findOther(ctx context.Context, open []scm.PullRequest) (reason string, err error) {
	searched := 0
	for _, pr := range slices.Backward(open) {
		if !pr.Head.Own || pr.Base != o.base || o.refs.Branches[pr.Head.Branch] == "" {
			continue
		}
		if searched++; searched > maxSearched {
			break
		}
		heads, err := o.reconciler.Clients.Remote.Fetch(ctx, pr.Head.Branch)
		if err != nil {
			return "", fmt.Errorf("fetch %s: %w", pr.Head.Branch, err)
		}
		if exists, err := o.hasConfig(heads[pr.Head.Branch]); err == nil && exists {
			return fmt.Sprintf("pull request #%d adds %s", pr.Number, config.FileName), nil
		}
	}
	return "", nil
}

// write pushes the branch unless it is current, which it is after a process was killed
// between push and pull request, and opens or refreshes the pull request.
func (o *offer) write(ctx context.Context, ours *scm.PullRequest, page pullrequest.Onboarding, current bool, result *Result) error {
	body := pullrequest.OnboardingBody(page)
	if !current {
		commit, err := o.push(ctx, result.Config)
		if err != nil {
			return err
		}
		result.Commit = commit
	}
	pulls := o.reconciler.Clients.Forge.PullRequests()
	if ours == nil {
		pr, err := pulls.Create(ctx, scm.Draft{
			Head: pullrequest.OnboardingBranch, Base: o.base, Title: pullrequest.OnboardingTitle, Body: pullrequest.MergeBody("", body),
		})
		if err != nil {
			return fmt.Errorf("open the onboarding pull request: %w", err)
		}
		result.State = Opened
		result.Number = pr.Number
		result.URL = pr.URL
		return nil
	}
	result.State = Refreshed
	merged := pullrequest.MergeBody(ours.Body, body) // keeps what users wrote
	if merged == ours.Body {
		return nil
	}
	if err := pulls.Edit(ctx, ours.Number, scm.Edit{Body: &merged}); err != nil {
		return fmt.Errorf("edit pull request #%d: %w", ours.Number, err)
	}
	return nil
}

// push writes one commit with the config file, on condition that the branch is where it
// was read.
func (o *offer) push(ctx context.Context, text string) (commit string, err error) {
	by := o.reconciler.Clients.By
	by.When = o.reconciler.Clients.Now()
	commit, err = o.reconciler.Clients.Objects.Write(repo.Draft{
		Parent: o.commit, Files: map[string][]byte{config.FileName: []byte(text)}, By: by, Message: pullrequest.OnboardingTitle + "\n",
	})
	if err != nil {
		return "", fmt.Errorf("write a commit for %s: %w", pullrequest.OnboardingBranch, err)
	}
	if commit, err = o.reconciler.Clients.Remote.Sign(ctx, commit); err != nil {
		return "", fmt.Errorf("sign a commit for %s: %w", pullrequest.OnboardingBranch, err)
	}
	update := repo.Update{Branch: pullrequest.OnboardingBranch, Old: o.head, New: commit}
	if err := o.reconciler.Clients.Remote.Push(ctx, update); err != nil {
		return "", fmt.Errorf("push %s: %w", pullrequest.OnboardingBranch, err)
	}
	return commit, nil
}
