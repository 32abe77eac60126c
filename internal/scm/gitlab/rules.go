package gitlab

import (
	"context"
	"path"
	"strings"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Rules tells what GitLab asks before it merges into a branch. Approval rules, code
// owners and push rules are of higher tiers: a server without them answers that
// there is nothing, which is no rule; one that shows them to Maintainers only says
// so, which is named in Hidden.
//
// "Pipelines must succeed" names no job, so that it is no entry of Checks: the
// refusal of a merge names those that did not.
func (r *repository) Rules(ctx context.Context, branch string) (scm.Rules, error) {
	noun := r.noun("rules of branch %s", rest.OneLine(branch))
	project, _, err := r.forge.api.Projects.GetProject(r.id, nil, in(ctx))
	if err != nil {
		return scm.Rules{}, explain(noun, err)
	}
	rules := scm.Rules{
		Current: project.MergeMethod == gogitlab.FastForwardMerge || project.MergeMethod == gogitlab.RebaseMerge,
		Linear:  project.MergeMethod == gogitlab.FastForwardMerge,
		Queue:   project.MergeTrainsEnabled,
	}
	look := &looking{repository: r, ctx: ctx, branch: branch, rules: &rules}
	for _, read := range []func() (string, error){look.pushes, look.owners, look.approvals, look.approvers, look.signatures} {
		what, err := read()
		switch {
		case err == nil, wasNotFound(err):
		case wasForbidden(err):
			look.hidden = append(look.hidden, what)
		default:
			return scm.Rules{}, explain(noun, err)
		}
	}
	if len(look.hidden) > 0 {
		rules.Hidden = strings.Join(look.hidden, ", ") + ": GitLab shows them to a token with the role Maintainer only"
	}
	return rules, nil
}

// looking is the reading of one branch's rules. Each part names what it reads.
type looking struct {
	*repository
	ctx       context.Context //nolint:containedctx // of one call, shared by its parts
	branch    string
	rules     *scm.Rules
	protected bool
	hidden    []string
}

// pushes asks whether our account may push to the branch at all.
func (l *looking) pushes() (string, error) {
	branch, _, err := l.forge.api.Branches.GetBranch(l.id, l.branch, in(l.ctx))
	if err == nil {
		l.protected, l.rules.PullRequests = branch.Protected, branch.Protected && !branch.CanPush
	}
	return "the protection of the branch", err
}

// owners asks whether code owners must approve. A protected branch may be named by
// a pattern.
func (l *looking) owners() (string, error) {
	const what = "whether code owners must approve"
	if !l.protected {
		return what, nil
	}
	found, err := pages(rest.Everything, func(page gogitlab.ListOptions) ([]*gogitlab.ProtectedBranch, *gogitlab.Response, error) {
		return l.forge.api.ProtectedBranches.ListProtectedBranches(l.id, &gogitlab.ListProtectedBranchesOptions{ListOptions: page}, in(l.ctx))
	})
	for _, one := range found {
		l.rules.Owners = l.rules.Owners || one.CodeOwnerApprovalRequired && covers(one.Name, l.branch)
	}
	return what, err
}

// covers says whether the name of a protected branch, in which * stands for any
// text, is that of a branch.
func covers(pattern, branch string) bool {
	flat := strings.NewReplacer("/", "\x00", `\`, `\\`, "[", `\[`, "?", `\?`)
	matched, err := path.Match(flat.Replace(pattern), strings.ReplaceAll(branch, "/", "\x00"))
	return err == nil && matched
}

// approvals asks how many approvals are wanted: as many as the rule that wants the
// most, since one person may satisfy several.
func (l *looking) approvals() (string, error) {
	found, err := pages(rest.Everything, func(page gogitlab.ListOptions) ([]*gogitlab.ProjectApprovalRule, *gogitlab.Response, error) {
		options := gogitlab.GetProjectApprovalRulesListsOptions(page)
		return l.forge.api.Projects.GetProjectApprovalRules(l.id, &options, in(l.ctx))
	})
	for _, rule := range found {
		if l.applies(rule) {
			l.rules.Approvals = max(l.rules.Approvals, rule.ApprovalsRequired)
		}
	}
	return "approval rules", err
}

// applies says whether an approval rule is about the branch. One that names none
// is about all.
func (l *looking) applies(rule *gogitlab.ProjectApprovalRule) bool {
	if rule.AppliesToAllProtectedBranches {
		return l.protected
	}
	for _, one := range rule.ProtectedBranches {
		if covers(one.Name, l.branch) {
			return true
		}
	}
	return len(rule.ProtectedBranches) == 0
}

// approvers asks whether an approval must be of the present head and not of who
// pushed it. Where a push leaves approvals alone, an older one satisfies GitLab.
func (l *looking) approvers() (string, error) {
	found, _, err := l.forge.api.Projects.GetApprovalConfiguration(l.id, in(l.ctx))
	if err == nil {
		l.rules.NotByPusher = found.MergeRequestsDisableCommittersApproval && found.ResetApprovalsOnPush
	}
	return "approval settings", err
}

// signatures asks whether commits must be signed, which ours are not: the push of
// their branch is refused already.
func (l *looking) signatures() (string, error) {
	found, _, err := l.forge.api.Projects.GetProjectPushRules(l.id, in(l.ctx))
	if err == nil && found.RejectUnsignedCommits {
		l.rules.Signed = true
		l.rules.Stuck = "a push rule of the project rejects commits that are not signed, and promoter signs none: " +
			"switch it off for this project"
	}
	return "push rules", err
}
