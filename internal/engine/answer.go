package engine

import (
	"context"
	"fmt"

	"promoter/internal/command"
	"promoter/internal/verb"

	"promoter/internal/promotion"

	"promoter/internal/fault"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// answerComments gives the answers that are owed: a reaction to each comment, and
// on each pull request one comment of ours. Only then they are owed no more, so a
// crash in between costs nothing but saying the same again.
func (v *view) answerComments(ctx context.Context) error {
	if v.Permissions == nil || !v.Repository.Features().Comments {
		return nil
	}
	owed := map[int][]state.ProcessedComment{}
	var numbers []int
	for _, one := range v.observed.State.Owed() {
		if owed[one.Owed.Number] == nil {
			numbers = append(numbers, one.Owed.Number)
		}
		owed[one.Owed.Number] = append(owed[one.Owed.Number], one)
	}
	for _, number := range numbers {
		if err := v.answerOn(ctx, number, owed[number]); err != nil {
			if err := v.deaf(ctx, fmt.Sprintf("comment on #%d", number), err); err != nil {
				return err
			}
		}
	}
	return v.flush(ctx)
}

// answerOn answers the commands on one pull request.
func (v *view) answerOn(ctx context.Context, number int, owed []state.ProcessedComment) error {
	var answers []pullrequest.Answered
	for _, one := range owed {
		comment := scm.Comment{ID: one.ID, Number: number, Created: one.At}
		if err := v.answerFault(number, v.Repository.Conversation().React(ctx, comment, scm.Reaction(one.Owed.Reaction))); err != nil {
			return err
		}
		answer, err := v.answerTo(ctx, *one.Owed)
		if err != nil {
			return err
		}
		answers = append(answers, answer)
	}
	if text := pullrequest.Answer(answers...); text != "" {
		if err := v.answerFault(number, v.Repository.Conversation().Say(ctx, number, pullrequest.AnswerMarker, text)); err != nil {
			return err
		}
	}
	for _, one := range owed {
		v.remember(state.Answered(one.ID))
	}
	return nil
}

// answerFault returns an error after which the same may be said later. A comment that is
// gone needs no answer, and a conversation that is locked takes none: that is told
// once.
func (v *view) answerFault(number int, err error) error {
	switch fault.KindOf(err) {
	case "", fault.NotFound:
		return nil
	case fault.Unauthorized, fault.Invalid:
		v.trouble(fmt.Sprintf("answer on #%d", number), err)
		return nil
	}
	return fmt.Errorf("answer a command: %w", err)
}

// answerTo completes an answer by what it asks about.
func (v *view) answerTo(ctx context.Context, owed state.Answer) (pullrequest.Answered, error) {
	answer := pullrequest.Answered{Answer: owed}
	if !answer.Asks() {
		return answer, nil
	}
	proposals, err := v.explained(ctx, answer)
	answer.Proposals = proposals
	return answer, err
}

// explained returns what a command asks about, as it stands at the end of the pass.
func (v *view) explained(ctx context.Context, answer pullrequest.Answered) ([]pullrequest.Proposal, error) {
	about, _, err := v.aboutPull(ctx, answer.Number)
	if err != nil {
		return nil, err
	}
	command, _ := command.Read("/promoter " + answer.Command)
	targets := v.placesOf(command, about)
	if command.Verb == verb.Explain {
		for _, target := range about.places {
			targets = append(targets, v.childrenOf(target)...)
		}
	}
	return pullrequest.Explained(v.planned, v.report.Decisions, targets), nil
}

// childrenOf returns the places that come after a place.
func (v *view) childrenOf(target promotion.Target) []promotion.Target {
	var children []promotion.Target
	for _, environment := range v.observed.Config.Order() {
		child := promotion.Target{Environment: environment, Application: target.Application}
		for _, parent := range v.parentsOf(child) {
			if parent.Environment == target.Environment {
				children = append(children, child)
			}
		}
	}
	return children
}
