package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
)

// propose writes the branch, if it is not what it should be, and opens or
// refreshes its pull request; then it lands what may land.
func (v *view) propose(ctx context.Context, p pullrequest.Proposal) Effect {
	done := Effect{Proposal: p, Action: ActionNone}
	branch := v.branchOf(p.Environment)
	base := v.heads[branch]
	b, err := v.build(ctx, p, base, v.touched[branch])
	if err != nil {
		return failed(done, err)
	}
	if len(b.files) == 0 {
		return done
	}
	head, pushed, err := v.writeHead(ctx, p, b, base)
	if person, busy := errors.AsType[*busyError](err); busy {
		done.Step, done.Reason = pullrequest.StepWait, promotion.Reason{Rule: promotion.RuleBranch, Message: person.Error()}
		return done
	}
	if err != nil {
		return failed(done, err)
	}
	done.Commit = head
	if p.Open == nil {
		return v.create(ctx, done)
	}
	if done.Number, done.URL = p.Open.Number, p.Open.URL; pushed {
		p = v.unseen(p)
		done.Proposal = p
	}
	if done = v.refreshWords(ctx, done, pushed); done.Err != nil {
		return done
	}
	if pushed {
		done.Action = ActionRefreshed
		v.again = v.again || automerges(p)
		return v.say(ctx, done)
	}
	if done = v.say(ctx, done); done.Err != nil || !p.Land {
		return done
	}
	return v.merge(ctx, done, b)
}

// unseen is a proposal whose head is new: no check ran on it and nobody approved it
// yet, whatever was there for the head before.
func (v *view) unseen(p pullrequest.Proposal) pullrequest.Proposal {
	open := v.observed.Open[p.Head]
	open.Checks, open.Approvals, open.Votes, open.Void, open.Refused = nil, nil, nil, nil, nil
	v.observed.Open[p.Head] = open
	for _, again := range v.decide() {
		if again.Head == p.Head && again.Step == p.Step {
			return again
		}
	}
	return p
}

func failed(done Effect, err error) Effect {
	done.Err = err
	return done
}

// writeHead pushes the head unless the one that stands carries this already.
func (v *view) writeHead(ctx context.Context, p pullrequest.Proposal, b built, base string) (string, bool, error) {
	stands := v.heads[p.Head]
	if stands != "" {
		if carries, err := v.carries(ctx, stands, p, b); err != nil || carries {
			return stands, false, err
		}
		head, err := v.Objects.Commit(stands)
		if err != nil {
			return "", false, fmt.Errorf("read the head of %s: %w", p.Head, err)
		}
		if !v.isOurs(head) {
			return "", false, &busyError{branch: p.Head, person: head.Committer.Name}
		}
	}
	commit, err := v.commit(p, b, base)
	if err != nil {
		return "", false, err
	}
	if err := v.push(ctx, Update{Branch: p.Head, Old: stands, New: commit}); err != nil {
		return "", false, fmt.Errorf("push %s: %w", p.Head, err)
	}
	return commit, true, nil
}

// busyError says that a branch of ours without a pull request holds the work of a
// person. It is theirs until they say otherwise, and no failure.
type busyError struct{ branch, person string }

func (e *busyError) Error() string {
	return fmt.Sprintf("the branch %s holds a commit of %s: delete it, or open its pull request again", e.branch, e.person)
}

// create opens the one pull request of the branch.
func (v *view) create(ctx context.Context, done Effect) Effect {
	p := pullrequest.Opened(done.Proposal)
	done.Proposal = p
	page, _ := v.page(ctx, p) // the next pass adds what could not be asked
	settings := p.Environment.PullRequest
	pr, err := v.Repository.PullRequests().Create(ctx, scm.Draft{
		Head: p.Head, Base: v.branchOf(p.Environment), Title: pullrequest.Title(page), Body: pullrequest.MergeBody("", pullrequest.Body(page)),
		AsDraft: settings.Draft, Labels: settings.Labels, Reviewers: settings.Reviewers, Assignees: settings.Assignees,
	})
	if err != nil {
		return failed(done, fmt.Errorf("open a pull request for %s: %w", p.Head, err))
	}
	done.Action, done.Number, done.URL = ActionOpened, pr.Number, pr.URL
	v.again = v.again || pullrequest.Ready(p)
	return v.say(ctx, done)
}

func automerges(p pullrequest.Proposal) bool { return p.Environment.Land == config.LandAutomerge }

// refreshWords brings title and body up to date. What a person wrote stays: text
// outside our markers, and a title that is not the one that we gave. A run that pushed
// may have been killed before it came here.
func (v *view) refreshWords(ctx context.Context, done Effect, pushed bool) Effect {
	p := done.Proposal
	i := slices.IndexFunc(v.open, func(pr scm.PullRequest) bool { return pr.Number == p.Open.Number })
	if i < 0 || len(p.Decisions) == 0 {
		return done
	}
	pr, edit := v.open[i], scm.Edit{}
	page, err := v.page(ctx, p)
	if err != nil && !pushed {
		return done // nothing is taken out that is only not known just now
	}
	if body := pullrequest.MergeBody(pr.Body, pullrequest.Body(page)); body != pr.Body {
		edit.Body = &body
	}
	ours := pullrequest.GaveTitle(pr.Body, pr.Title) || pushed && v.gaveTitle(p.Open.Commit, pr.Title)
	if title := pullrequest.Title(page); title != pr.Title && ours {
		edit.Title = &title
	}
	if edit.Body == nil && edit.Title == nil {
		return done
	}
	if err := v.Repository.PullRequests().Edit(ctx, pr.Number, edit); err != nil {
		return failed(done, fmt.Errorf("edit pull request #%d: %w", pr.Number, err))
	}
	v.open[i] = edited(pr, edit)
	done.Action = ActionRefreshed
	return done
}

// edited is a pull request after an edit of its words.
func edited(pr scm.PullRequest, edit scm.Edit) scm.PullRequest {
	if edit.Body != nil {
		pr.Body = *edit.Body
	}
	if edit.Title != nil {
		pr.Title = *edit.Title
	}
	return pr
}

// gaveTitle says whether a title is the one that came with the head: its commit
// has the same subject.
func (v *view) gaveTitle(head, title string) bool {
	commit, err := v.Objects.Commit(head)
	subject, _, _ := strings.Cut(commit.Message, "\n")
	return err == nil && subject == title
}

// page adds what people want to read and no decision needs: the commits between.
// With an error it lacks some that may be there.
func (v *view) page(ctx context.Context, p pullrequest.Proposal) (pullrequest.Page, error) {
	page := pullrequest.Page{Proposal: p, Commits: map[pullrequest.Span]scm.Comparison{}}
	if v.Compare == nil {
		return page, nil
	}
	var failed error
	page.Decisions, failed = v.withRevisions(ctx, p.Decisions)
	for _, decision := range page.Decisions {
		for _, move := range decision.Moves {
			span, known := pullrequest.SpanOf(move)
			source := v.source(move.Component)
			if !known || source == "" {
				continue
			}
			comparison, err := v.Compare.Compare(ctx, source, span.From, span.To, commitsShown)
			if err == nil {
				page.Commits[span] = comparison
			}
			failed = cmp.Or(failed, passing(err))
		}
	}
	return page, failed
}

// passing returns an error that may be gone soon; what is not there, or may not be
// seen, stays so.
func passing(err error) error {
	switch fault.KindOf(err) {
	case fault.Temporary, fault.RateLimited:
		return err
	default:
		return nil
	}
}

// commitsShown is how many commits of a component a pull request lists.
const commitsShown = 30

// source returns the repository of which the commits of a component may be shown:
// the one in the config. What an image says about itself is not believed, since it
// could name a repository that the reader may not see.
func (v *view) source(component string) string {
	followed, _ := v.observed.Config.Component(component)
	return strings.TrimPrefix(strings.TrimPrefix(followed.Source, "https://"), v.host()+"/")
}

func (v *view) host() string {
	host, _, _ := strings.Cut(string(v.Repository.Info().Key), "/")
	return host
}

// say sets our one status on the head, unless it says that already.
func (v *view) say(ctx context.Context, done Effect) Effect {
	if !v.Repository.Features().Statuses {
		return done
	}
	status := pullrequest.StatusOf(done.Proposal)
	if said := v.memory.statuses[done.Commit]; said.State == status.State && said.Description == status.Description {
		return done
	}
	if err := v.Repository.Signals().SetStatus(ctx, done.Commit, status); err != nil {
		return failed(done, fmt.Errorf("set the status of pull request #%d: %w", done.Number, err))
	}
	v.memory.statuses[done.Commit] = scm.Check{State: status.State, Description: status.Description, At: v.now}
	v.memory.set[done.Commit] = true
	return done
}

// keep leaves a pull request as it is, and says once why promoter keeps off.
func (v *view) keep(ctx context.Context, p pullrequest.Proposal) Effect {
	done := Effect{Proposal: p, Action: ActionNone}
	if p.Open == nil {
		return done
	}
	done.Number, done.URL, done.Commit = p.Open.Number, p.Open.URL, p.Open.Commit
	if p.Open.Foreign != "" {
		return v.explainOnce(ctx, done, "<!-- promoter: hands off -->", "promoter leaves this pull request to you: "+pullrequest.Sanitize(p.Open.Foreign)+
			". Undo that, or delete its branch, to let promoter go on.")
	}
	if done = v.refreshWords(ctx, done, false); done.Err != nil {
		return done
	}
	return v.say(ctx, done)
}

func (v *view) explainOnce(ctx context.Context, done Effect, marker, words string) Effect {
	if !v.Repository.Features().Comments {
		return done
	}
	if err := v.Repository.Conversation().Say(ctx, done.Number, marker, words); err != nil {
		return failed(done, fmt.Errorf("comment on pull request #%d: %w", done.Number, err))
	}
	return done
}

// close closes a pull request that nothing is left of, with the reason. Our record
// of it was written before.
func (v *view) close(ctx context.Context, p pullrequest.Proposal) Effect {
	done := Effect{Proposal: p, Action: ActionNone}
	if p.Open == nil {
		return done
	}
	done.Number, done.URL, done.Commit = p.Open.Number, p.Open.URL, p.Open.Commit
	if done = v.explainOnce(ctx, done, "<!-- promoter: closed -->", "Closed by promoter: "+pullrequest.Sanitize(p.Reason.Message)+"."); done.Err != nil {
		return done
	}
	closed := true
	if err := v.Repository.PullRequests().Edit(ctx, p.Open.Number, scm.Edit{Closed: &closed}); err != nil {
		return failed(done, fmt.Errorf("close pull request #%d: %w", p.Open.Number, err))
	}
	done.Action = ActionClosed
	return v.dropHead(ctx, done)
}

// dropHead deletes a head branch that served. Somebody may have been faster.
func (v *view) dropHead(ctx context.Context, done Effect) Effect {
	err := v.push(ctx, Update{Branch: done.Head, Old: done.Commit})
	if kind := fault.KindOf(err); err != nil && kind != fault.Conflict && kind != fault.Unauthorized && kind != fault.NotFound {
		return failed(done, fmt.Errorf("delete %s: %w", done.Head, err))
	}
	return done
}
