package engine

import (
	"context"
	"fmt"
	"slices"

	"promoter/internal/command"
	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// replyToCommands writes the replies that the state records as pending: a reaction to each
// comment, and one comment of ours on each pull request. They are recorded as done
// afterwards, so an interruption only repeats them.
func (x *executor) replyToCommands(ctx context.Context) error {
	if x.r.Permissions == nil || !x.r.Repository.Features().Comments {
		return nil
	}
	pending := map[int][]state.ProcessedComment{}
	var numbers []int
	for _, comment := range x.o.Promotion.State.PendingReplies() {
		number := comment.Reply.Number
		if pending[number] == nil {
			numbers = append(numbers, number)
		}
		pending[number] = append(pending[number], comment)
	}
	for _, number := range numbers {
		if err := x.reply(ctx, number, pending[number]); err != nil {
			if err := x.o.failures.AddOrStop(ctx, fmt.Sprintf("comment on #%d", number), err); err != nil {
				return err
			}
		}
	}
	return x.writeState(ctx)
}

// reply replies to the commands on one pull request.
func (x *executor) reply(ctx context.Context, number int, pending []state.ProcessedComment) error {
	conversation := x.r.Repository.Conversation()
	var replies []pullrequest.CommandReply
	for _, one := range pending {
		comment := scm.Comment{ID: one.ID, Number: number, Created: one.At}
		if err := replyError(x.o.failures, number, conversation.React(ctx, comment, scm.Reaction(one.Reply.Reaction))); err != nil {
			return err
		}
		reply := pullrequest.CommandReply{Reply: *one.Reply}
		if reply.ShowsProposals() {
			about, _, err := x.r.pullRequestReader().find(ctx, x.o, number)
			if err != nil {
				return err
			}
			parsed, _ := command.Read("/promoter " + reply.Command)
			targets := targetsOf(x.o, parsed, about)
			if parsed.Verb == verb.Explain {
				for _, target := range about.targets {
					targets = append(targets, childrenOf(x.o, target)...)
				}
			}
			reply.Proposals = pullrequest.Explained(x.plan.Proposals, x.plan.Decisions, targets)
		}
		replies = append(replies, reply)
	}
	if text := pullrequest.ReplyBody(replies...); text != "" {
		if err := replyError(x.o.failures, number, conversation.Say(ctx, number, pullrequest.ReplyMarker, text)); err != nil {
			return err
		}
	}
	for _, one := range pending {
		x.o = x.o.withChanges(state.MarkReplied(one.ID))
	}
	return nil
}

// replyError returns an error after which the reply is tried again later. A deleted
// comment needs none, and a locked conversation accepts none, which is reported once.
func replyError(f *repo.Failures, number int, err error) error {
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
func childrenOf(o Observation, target promotion.Target) []promotion.Target {
	var children []promotion.Target
	for _, environment := range o.Promotion.Config.Order() {
		child := promotion.Target{Environment: environment, Application: target.Application}
		if slices.ContainsFunc(o.Promotion.ParentsOf(child), func(p config.Parent) bool { return p.Environment == target.Environment }) {
			children = append(children, child)
		}
	}
	return children
}
