package reconcile

import (
	"context"
	"slices"
	"strings"

	"promoter/internal/explain"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/repo"
)

// Question is what a user asks about a repository: why an environment has what it has.
type Question struct {
	Environment string
	Application string // empty: all
	// With is a version, COMPONENT or REPOSITORY with :TAG, @DIGEST, or both; empty: the
	// versions that are there.
	With string
}

// About reports whether a question is about a target.
func (q Question) About(target promotion.Target) bool {
	return target.Environment == q.Environment && (q.Application == "" || target.Application == q.Application)
}

// Explain is Preview for a user who asks. The report also has the paths of the components, and
// for them the history and the tags are read that no decision needs.
func (r *Reconciler) Explain(ctx context.Context, q Question) (outcome.Report, error) {
	start := observe.Start{LastAttempt: true, Explained: func(target promotion.Target) bool {
		return q.Application == "" || target.Application == q.Application
	}}
	o, err := r.observe(ctx, r.quietReader(), start, nil)
	if err != nil || o.Unusable != "" {
		return outcome.Unplanned(o), err
	}
	made, err := r.plan(ctx, o)
	if err != nil {
		return outcome.Unplanned(o), err
	}
	report := outcome.Preview(o, made)
	facts := explain.Facts{
		Observation: o.Promotion, Decisions: report.Decisions, Proposals: made.Proposals,
		Landed: dated(r.Clients.Objects, o.Promotion.Landings),
	}
	for _, d := range report.Decisions {
		if q.About(d.Target) {
			report.Paths = append(report.Paths, explain.Paths(facts, d.Target)...)
		}
	}
	if q.With == "" {
		return report, nil
	}
	asked, err := r.resolveAsked(ctx, report.Paths, q.With)
	if err != nil {
		return report, err
	}
	report.Paths = explain.Answered(facts, report.Paths, asked)
	return report, nil
}

// dated returns the landings of an observation with the time of the commit, where no better
// one is needed for a decision, and without commits that only happen to be the head.
func dated(objects repo.Commits, of map[promotion.Target][]promotion.Landing) map[promotion.Target][]promotion.Landing {
	all := map[promotion.Target][]promotion.Landing{}
	for target, landings := range of {
		landings = slices.Clone(landings)
		for i := range landings {
			l := &landings[i]
			commit, err := objects.Commit(l.Commit)
			names := func(landed promotion.Landed) bool {
				return landed.Target == target && landed.Snapshot.ID() == l.Snapshot.ID()
			}
			switch {
			case err != nil,
				l.Number == 0 && len(commit.Parents) < 2 && !slices.ContainsFunc(promotion.ReadTrailers(commit.Trailers), names):
				l.Commit = ""
			case l.At.IsZero():
				l.At = commit.Committer.When
			}
			if i > 0 {
				l.Until = landings[i-1].At
			}
		}
		all[target] = landings
	}
	return all
}

// resolveAsked returns the version that a user names, of a component on the paths.
func (r *Reconciler) resolveAsked(ctx context.Context, paths []explain.Path, text string) (explain.Asked, error) {
	for _, p := range paths {
		reference := text
		if rest, named := strings.CutPrefix(text, p.Component); named && rest != "" && strings.ContainsAny(rest[:1], ":@") {
			reference = p.Registry.Repository + rest
		}
		wanted, err := image.Parse(reference)
		if err != nil || wanted.Repository.String() != p.Registry.Repository || wanted.Tag == "" && wanted.Digest == "" {
			continue
		}
		asked := explain.Asked{Repository: wanted.Repository, Version: wanted.Version()}
		fact := promotion.Fact{Repository: wanted.Repository, Tag: wanted.Tag, Digest: wanted.Digest}
		lookup := promotion.Lookup{Fact: fact, Component: p.Component, Created: true}
		version, err := r.Clients.Registries.Resolve(ctx, lookup)
		switch {
		case err != nil:
			asked.Problem = err.Error()
		case version.Digest == "":
			asked.Missing = true
		default:
			version.Tag = wanted.Tag
			asked.Version = version
		}
		return asked, nil
	}
	return explain.Asked{}, fault.New(fault.Invalid,
		"--with %s: want COMPONENT:TAG or REPOSITORY[:TAG][@DIGEST] of a component that the environment references", text)
}
