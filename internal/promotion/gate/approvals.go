package gate

import (
	"fmt"
	"slices"
	"strings"

	"promoter/internal/config/setting"
	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/state"
	"promoter/internal/verb"
)

const teamPrefix = "team:" // before GROUP/NAME

// approvalsRow is also what decisions read that keep an approved pull request.
var approvalsRow = input.Row{Name: "approvals", Reads: input.PullRequest | input.UserDecisions}

// approvals requires approvals of the pull request. Requested changes count even
// if no approval is required.
func approvals(in input.Target, moves []promotion.Move, open *promotion.Open) []promotion.Condition {
	required := in.Settings.Gates.Approvals
	if required == nil {
		if open == nil || len(open.Objections) == 0 {
			return nil
		}
		required = &setting.Approvals{}
	}
	gate := promotion.Condition{Name: promotion.ApprovalsGate, State: promotion.Passed}
	if in.Checkout {
		gate.State, gate.Reason = promotion.Unknown, promotion.NotEvaluated
		gate.Value = fmt.Sprintf("%d required", required.Count)
		return []promotion.Condition{gate}
	}
	needed := required.Count
	unverified := ""
	if by, found := unverifiedRequester(in); found && needed > 0 {
		needed++
		unverified = "; " + by + " requested it and may be one of the users who approve, so one more is needed"
	}
	given := 0
	if open != nil {
		given = len(ApprovedBy(in))
	}
	if required.Count > 0 {
		gate.Value = fmt.Sprintf("%d of %d", given, needed)
	}
	switch {
	case open == nil:
		gate.State, gate.Reason = promotion.Pending, promotion.NoPullRequest
	case len(open.Objections) > 0:
		gate.State, gate.Reason = promotion.Pending, promotion.ChangesRequested+" by "+promotion.SortedNames(open.Objections)
	case given < needed:
		gate.State = promotion.Pending
		void := voidApprovals(withRequesters(in, *open), false)
		gate.Reason = promotion.NotApproved + promotion.ByNames(required.From) + unverified + void
	}
	if open == nil || len(open.Objections) == 0 { // what users do not want needs their consent
		input.Bypass(in, &gate, verb.BypassApprovals, moves)
	}
	return []promotion.Condition{gate}
}

// ApprovedBy returns the users whose approval of the open pull request counts, each once: those
// that the config names, except the users who requested the promotion.
func ApprovedBy(in input.Target) []string {
	in = in.For(approvalsRow)
	open := in.OpenPullRequest()
	if open == nil {
		return nil
	}
	var by []string
	var counted []identity.User
	for _, approval := range open.Approvals {
		excluded := includes(counted, approval) || includes(requesters(in), approval)
		if !excluded && mayApprove(in.Settings.Gates.Approvals, approval) {
			by = append(by, approval.By)
			counted = append(counted, identity.User{ID: approval.ID, Login: approval.By})
		}
	}
	return by
}

// includes reports whether an approval is of one of the users: of the same login, or of the same
// account under another login. Either is enough, because two approvals must be of two users.
func includes(users []identity.User, approval promotion.Approval) bool {
	return slices.ContainsFunc(users, func(user identity.User) bool {
		return identity.SameLogin(user.Login, approval.By) || user.ID != "" && user.ID == approval.ID
	})
}

func mayApprove(required *setting.Approvals, approval promotion.Approval) bool {
	if required == nil || len(required.From) == 0 {
		return true
	}
	return slices.ContainsFunc(required.From, func(name string) bool {
		team, isTeam := strings.CutPrefix(name, teamPrefix)
		if !isTeam {
			return identity.SameLogin(name, approval.By)
		}
		return slices.ContainsFunc(approval.Teams, func(of string) bool {
			return identity.SameLogin(strings.TrimPrefix(of, teamPrefix), team)
		})
	})
}

// unverifiedRequester returns a user who requested what is proposed here, and whom no forge
// authenticated: any of those who approve may be the same user.
func unverifiedRequester(in input.Target) (name string, found bool) {
	record := in.Record()
	var acts []state.Act
	if record.Request != nil && record.Request.Posted == "" { // a pipeline is no user
		acts = append(acts, record.Request.Act)
	}
	if record.Rollback != nil && !record.Rollback.Automatic {
		acts = append(acts, record.Rollback.Act)
	}
	i := slices.IndexFunc(acts, func(act state.Act) bool { return !act.By.Verified() && act.By != identity.Promoter() })
	if i < 0 {
		return "", false
	}
	return promotion.Actor(acts[i]), true
}

// requesters returns the users who requested what is proposed here.
func requesters(in input.Target) []identity.User {
	var users []identity.User
	record := in.Record()
	if record.Request != nil {
		users = append(users, record.Request.By)
	}
	if record.Rollback != nil {
		users = append(users, record.Rollback.By)
	}
	return users
}

// withRequesters adds the approvals of requesters to those that do not count.
func withRequesters(in input.Target, open promotion.Open) promotion.Open {
	open.Void = slices.Clone(open.Void)
	for _, approval := range open.Approvals {
		if includes(requesters(in), approval) {
			open.Void = append(open.Void, promotion.Void{By: approval.By, Why: "they requested this promotion"})
		}
	}
	return open
}

// voidApprovals lists the approvals that do not count and why. For the forge these
// are only those of promoter's own account.
func voidApprovals(open promotion.Open, own bool) string {
	var parts []string
	for _, v := range open.Void {
		if v.Own || !own {
			parts = append(parts, fmt.Sprintf("the approval of %s does not count: %s", v.By, v.Why))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, ", ")
}
