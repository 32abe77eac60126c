package gitlab

import (
	"context"
	"strings"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/glob"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Rules returns what GitLab requires before a merge into a branch. Approval rules,
// code owners and push rules are features of higher tiers: a server without them
// responds with "not found", which means no rule; one that shows them only to
// Maintainers reports so, which is listed in Hidden.
//
// "Pipelines must succeed" names no job, so it is not in Checks: the refusal of a
// merge lists the jobs that did not succeed.
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
	look := &looking{repo: r, ctx: ctx, branch: branch, rules: &rules}
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
		rules.Hidden = strings.Join(look.hidden, ", ") + ": GitLab shows them only to a token with the role Maintainer"
	}
	return rules, nil
}

// looking reads the rules of one branch. Each part returns what it reads.
type looking struct {
	repo      *repository
	ctx       context.Context //nolint:containedctx // of one call, shared by its parts
	branch    string
	rules     *scm.Rules
	protected bool
	hidden    []string
}

// pushes checks whether our account may push to the branch at all.
func (l *looking) pushes() (string, error) {
	branch, _, err := l.repo.forge.api.Branches.GetBranch(l.repo.id, l.branch, in(l.ctx))
	if err == nil {
		l.protected, l.rules.PullRequests = branch.Protected, branch.Protected && !branch.CanPush
	}
	return "the protection of the branch", err
}

// owners checks whether code owners must approve. A protected branch may be a
// pattern.
func (l *looking) owners() (string, error) {
	const what = "whether code owners must approve"
	if !l.protected {
		return what, nil
	}
	found, err := pages(rest.Everything, func(page gogitlab.ListOptions) ([]*gogitlab.ProtectedBranch, *gogitlab.Response, error) {
		return l.repo.forge.api.ProtectedBranches.ListProtectedBranches(l.repo.id,
			&gogitlab.ListProtectedBranchesOptions{ListOptions: page}, in(l.ctx))
	})
	for _, one := range found {
		l.rules.Owners = l.rules.Owners || one.CodeOwnerApprovalRequired && glob.MatchName(one.Name, l.branch)
	}
	return what, err
}

// approvals determines how many approvals are required: the maximum of all rules,
// since one user may satisfy several.
func (l *looking) approvals() (string, error) {
	found, err := pages(rest.Everything, func(page gogitlab.ListOptions) ([]*gogitlab.ProjectApprovalRule, *gogitlab.Response, error) {
		options := gogitlab.GetProjectApprovalRulesListsOptions(page)
		return l.repo.forge.api.Projects.GetProjectApprovalRules(l.repo.id, &options, in(l.ctx))
	})
	for _, rule := range found {
		if l.applies(rule) {
			l.rules.Approvals = max(l.rules.Approvals, rule.ApprovalsRequired)
		}
	}
	return "approval rules", err
}

// applies reports whether an approval rule applies to the branch. A rule without
// branches applies to all. That of a security policy binds only if a merge request violates
// the policy, which GitLab evaluates.
// https://docs.gitlab.com/user/application_security/policies/merge_request_approval_policies/
func (l *looking) applies(rule *gogitlab.ProjectApprovalRule) bool {
	if rule.RuleType == "report_approver" {
		return false
	}
	if rule.AppliesToAllProtectedBranches {
		return l.protected
	}
	for _, one := range rule.ProtectedBranches {
		if glob.MatchName(one.Name, l.branch) {
			return true
		}
	}
	return len(rule.ProtectedBranches) == 0
}

// approvers checks whether an approval must be for the current head, and not by the
// user who pushed it. If a push does not reset approvals, an older one satisfies
// GitLab.
func (l *looking) approvers() (string, error) {
	found, _, err := l.repo.forge.api.Projects.GetApprovalConfiguration(l.repo.id, in(l.ctx))
	if err == nil {
		l.rules.NotByPusher = found.MergeRequestsDisableCommittersApproval && found.ResetApprovalsOnPush
	}
	return "approval settings", err
}

// signatures checks whether commits must be signed. Without a signature of ours, the push of
// their branch is already rejected.
func (l *looking) signatures() (string, error) {
	found, _, err := l.repo.forge.api.Projects.GetProjectPushRules(l.repo.id, in(l.ctx))
	if err == nil && found.RejectUnsignedCommits {
		l.rules.Signed = true
		if !l.repo.forge.signs {
			l.rules.Stuck = "a push rule of the project rejects commits that are not signed, and promoter signs none: " +
				"set signing in the server file, or disable the rule for this project"
		}
	}
	return "push rules", err
}
