package engine

import (
	"context"

	"promoter/internal/pullrequest"
)

// Tracer is told of a part of a look when it begins, gives the context that it goes on
// with, and is told what was done in it when it ends. The parts are a pass, and in it
// to observe, to plan, and the steps of proposals that change something.
type Tracer func(ctx context.Context, part string) (context.Context, func(done []Effect, err error))

func (l *Reconciler) follow(ctx context.Context, part string) (context.Context, func([]Effect, error)) {
	if l.Trace == nil {
		return ctx, func([]Effect, error) {}
	}
	return l.Trace(ctx, part)
}

func (l *Reconciler) followPass(ctx context.Context, last bool) (report Report, more bool, err error) {
	ctx, end := l.follow(ctx, "pass")
	defer func() { end(nil, err) }()
	return l.pass(ctx, last)
}

func (l *Reconciler) followView(ctx context.Context, last bool) (v *view, err error) {
	ctx, end := l.follow(ctx, "observe")
	defer func() { end(nil, err) }()
	return l.view(ctx, last)
}

func (v *view) followDecide(ctx context.Context) []pullrequest.Proposal {
	_, end := v.follow(ctx, "plan")
	defer end(nil, nil)
	return v.decide()
}

func (v *view) followProposal(ctx context.Context, p pullrequest.Proposal) (done Effect) {
	if p.Step == pullrequest.StepWait {
		return v.carryOut(ctx, p)
	}
	ctx, end := v.follow(ctx, string(p.Step))
	defer func() { end([]Effect{done}, done.Err) }()
	return v.carryOut(ctx, p)
}

func (v *view) followPush(ctx context.Context, branch string, chain []pullrequest.Proposal) (all []Effect) {
	ctx, end := v.follow(ctx, string(pullrequest.StepPush))
	defer func() { end(all, nil) }()
	return v.pushChain(ctx, branch, chain)
}
