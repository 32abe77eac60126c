package comments

import (
	"context"
	"fmt"
	"slices"

	"promoter/internal/command"
	"promoter/internal/config/setting"
	"promoter/internal/explain"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/pullrequest"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// Decided is what a reconciliation decided. Replies explain it.
type Decided struct {
	Proposals []propose.Proposal
	Decisions []promotion.Decision
}

// Reply writes the replies that the state records as pending: a reaction to each
// comment, and one comment of ours on each pull request. It returns the changes that record
// them as done, so an interruption only repeats them.
func (r Reader) Reply(ctx context.Context, o Observed, decided Decided, failures *repo.Collector) ([]state.Change, error) {
	if !r.enabled() {
		return nil, nil
	}
	pending := map[int][]state.ProcessedComment{}
	var numbers []int
	for _, comment := range o.Promotion.State.PendingReplies() {
		number := comment.Reply.Number
		if pending[number] == nil {
			numbers = append(numbers, number)
		}
		pending[number] = append(pending[number], comment)
	}
	var changes []state.Change
	for _, number := range numbers {
		if err := r.reply(ctx, o, decided, number, pending[number], failures); err != nil {
			if err := failures.AddOrStop(ctx, fmt.Sprintf("comment on #%d", number), err); err != nil {
				return changes, err
			}
			continue
		}
		for _, one := range pending[number] {
			changes = append(changes, state.MarkReplied(one.ID))
		}
	}
	return changes, nil
}

// reply replies to the commands on one pull request.
func (r Reader) reply(
	ctx context.Context, o Observed, decided Decided, number int, pending []state.ProcessedComment, failures *repo.Collector,
) error {
	conversation := r.Repository.Conversation()
	var replies []pullrequest.CommandReply
	for _, one := range pending {
		comment := scm.Comment{ID: one.ID, Number: number, Created: one.At}
		if one.Reply.Reaction != "" { // else it has one, and this is what became of the command
			if err := replyError(failures, number, conversation.React(ctx, comment, scm.Reaction(one.Reply.Reaction))); err != nil {
				return err
			}
		}
		reply := pullrequest.CommandReply{Reply: *one.Reply}
		if reply.ShowsProposals() {
			about, _, err := r.find(ctx, o, number)
			if err != nil {
				return err
			}
			parsed := command.Parse(reply.Command)
			targets := targetsOf(o, parsed, about)
			if parsed.Verb == verb.Explain {
				facts := explain.Facts{Observation: o.Promotion, Decisions: decided.Decisions, Proposals: decided.Proposals}
				for _, target := range targets {
					for _, path := range explain.Paths(facts, target) {
						reply.Lines = append(reply.Lines, path.Lines()...)
					}
				}
				for _, target := range about.targets {
					targets = append(targets, childrenOf(o, target)...)
				}
			}
			reply.Proposals = pullrequest.Explained(decided.Proposals, decided.Decisions, targets)
		}
		replies = append(replies, reply)
	}
	if text := pullrequest.ReplyBody(replies...); text != "" {
		if err := replyError(failures, number, conversation.Say(ctx, number, pullrequest.ReplyMarker, text)); err != nil {
			return err
		}
	}
	return nil
}

// replyError returns an error after which the reply is tried again later. A deleted
// comment needs none, and a locked conversation accepts none, which is reported once.
func replyError(f *repo.Collector, number int, err error) error {
	switch fault.KindOf(err) {
	case "", fault.NotFound:
		return nil
	case fault.Unauthorized, fault.Invalid:
		f.Add(fmt.Sprintf("reply on #%d", number), err)
		return nil
	}
	return fmt.Errorf("reply to a command: %w", err)
}

// childrenOf returns the targets that have a target as parent.
func childrenOf(o Observed, target promotion.Target) []promotion.Target {
	var children []promotion.Target
	for _, environment := range o.Promotion.Config.Order() {
		child := promotion.Target{Environment: environment, Application: target.Application}
		if slices.ContainsFunc(o.Promotion.ParentsOf(child), func(p setting.Parent) bool { return p.Environment == target.Environment }) {
			children = append(children, child)
		}
	}
	return children
}
