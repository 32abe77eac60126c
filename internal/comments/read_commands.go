package comments

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"promoter/internal/command"
	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// Limits of one reconciliation. Where there is more, the state records how far the
// comments were processed.
const (
	maxCommands = 20
	// maxRefusals is how many commands of users without permission get their reaction.
	// They are no part of maxCommands: such users cannot keep others waiting. When the
	// state contains state.MaxOutsiders of them, no more are refused, only ignored.
	maxRefusals     = 20
	commentPageSize = 300
	maxCommentPages = 10
	// listingDelay is how long a new comment may be missing from listings.
	listingDelay = time.Hour
	// webhookDelay is how old a command must be, by the clock of the forge, if no webhook
	// reported it: one that is on its way arrives until then. An edit within the second in
	// which a comment was created leaves no trace on some forges.
	webhookDelay = 2 * time.Second
)

// userCommand is a comment with its command.
type userCommand struct {
	scm.Comment
	command command.Command
}

// authorPermission is whether the author of comments may give any command at all. It is
// asked once for each author in a reconciliation.
type authorPermission struct {
	Permission
	err error
}

// Reader reads, applies, and replies to the commands in comments on pull requests of ours.
type Reader struct {
	Repository scm.Repository
	Commits    repo.Commits
	History    landing.Reader
	// Permissions decides which users may give commands. Nil: comments are not read.
	Permissions Permissions
	Bypasses    Bypasses               // nil: no user may bypass conditions and gates
	Events      CommentEvents          // nil: no webhook reports comments
	Refresh     func(c *config.Config) // nil: nothing is cached about the components of a config
	Parsed      *Parsed                // nil: each reconciliation parses all comments
	Now         func() time.Time
	Log         *slog.Logger
}

// Observed is what a reconciliation observed before it reads comments.
type Observed struct {
	Now  time.Time
	Self identity.User     // our account
	Open []scm.PullRequest // of everyone
	// Closed are closed pull requests by branch; those of the branches on which commands were
	// given are added.
	Closed    map[string][]scm.PullRequest
	Promotion promotion.Observation // targets, config, and user decisions
	Landed    landing.Observed      // the same, for the history of branches
}

// Commands is what the commands in comments led to.
type Commands struct {
	Changes   []state.Change // of the state: what they decided, and that they were processed
	Messages  []string       // of the commit that writes the changes, one for each decision
	Refreshed bool           // a user asked to read the registries again
	Next      time.Time      // when commands that are too new can be read; zero: there are none
}

// enabled reports whether users can give commands in comments.
func (r Reader) enabled() bool {
	return r.Permissions != nil && r.Repository.Features().Comments
}

// Read applies the commands in comments that were not processed before. Their
// changes are recorded together with that they were processed. A command about which
// something could not be asked waits for a later reconciliation. With an error, the result
// contains what was done before it.
func (r Reader) Read(ctx context.Context, o Observed, failures *repo.Collector) (done Commands, err error) {
	from, known := o.Promotion.State.CommentsFrom(o.Now)
	if !known || !r.enabled() {
		return done, nil
	}
	comments, end, err := recentComments(ctx, r.Repository.Conversation(), from)
	if err != nil {
		return done, failures.AddOrStop(ctx, "comments", fmt.Errorf("list the comments: %w", err))
	}
	change := func(changes ...state.Change) {
		// A change of a record that cannot be read is left out: that record is a partial error
		// already.
		o.Promotion.State, _ = o.Promotion.State.Apply(changes...)
		done.Changes = append(done.Changes, changes...)
	}
	// When a command has to wait, later ones of the same user wait too: they keep their
	// order, and those of other users go on.
	waiting := map[string]bool{} // users
	tried := 0
	refusals := 0
	forgotten := 0 // commands that promoter answered and that the state does not list
	authors := map[string]authorPermission{}
	maxRefusals := min(maxRefusals, state.MaxOutsiders-o.Promotion.State.Outsiders())
	commands, all, err := commandsIn(ctx, o, comments, parser{memory: r.Parsed})
	if err != nil {
		return done, err
	}
	left := !all
	if left {
		done.Next = o.Now.Add(webhookDelay)
	}
	digests, err := r.digests(ctx, commands)
	if err != nil {
		return done, failures.AddOrStop(ctx, "comments", fmt.Errorf("read which comments webhooks reported: %w", err))
	}
	for _, given := range commands {
		login := strings.ToLower(given.Author.Login)
		if waiting[login] || tried == maxCommands && refusals >= maxRefusals {
			left = true
			continue
		}
		digest, reported := digests[given.ID]
		if wait := webhookDelay - r.forgeTime().Sub(given.Created); !reported && wait > 0 {
			left, waiting[login] = true, true
			done.Next = o.Now.Add(wait)
			continue
		}
		author, asked := authors[login]
		if !asked {
			author.Permission, author.err = r.Permissions.Allowed(ctx, given.Author, verb.Help)
			authors[login] = author
		}
		counter, most := &tried, maxCommands
		if author.err == nil && !author.Allowed || fault.KindOf(author.err) == fault.Unauthorized {
			counter, most = &refusals, maxRefusals
		}
		if *counter >= most {
			left = left || counter == &tried // refusals never keep the list from moving on
			continue
		}
		*counter++
		what := fmt.Sprintf("comment on #%d", given.Number)
		// A user without permissions gets no text: anyone who can comment could make
		// promoter write for them.
		result, err := refused(""), author.err
		switch {
		case err != nil || !author.Allowed:
		case reported && digest != command.Digest(given.Body):
			result = refused("the comment was changed after it was posted: write another one")
		default:
			result, err = r.apply(ctx, o, given)
		}
		unknown := fault.KindOf(err) == fault.Unauthorized
		if unknown { // this does not go away, and would be an error of every reconciliation
			failures.Add(what, err)
			err = nil
			result = refused("promoter's account may not read your permissions: 'promoter doctor' and the log name the right that it needs")
		}
		if err != nil {
			left, waiting[login] = true, true
			if err := failures.AddOrStop(ctx, what, err); err != nil {
				return done, err
			}
			continue
		}
		if result.answered {
			forgotten++
			change(state.MarkProcessed(o.Now, state.ProcessedComment{ID: given.ID, At: given.Created}))
			continue
		}
		if _, err := o.Promotion.State.Apply(result.changes...); err != nil {
			result = refused(err.Error())
		}
		log := r.Log.With(slog.String("verb", string(given.command.Verb)), slog.Int("pull_request", given.Number))
		log.InfoContext(ctx, "command",
			slog.Int64("comment", given.ID), slog.String("by", given.Author.Login), slog.String("outcome", string(result.reaction)))
		reply := state.Reply{
			Number: given.Number, Login: given.Author.Login, Command: given.command.String(),
			Reaction: string(result.reaction), Message: result.text,
		}
		if given.command.Problem != "" || unknown { // a user who may be a stranger is not quoted
			reply.Command = ""
		}
		change(result.changes...)
		processed := state.ProcessedComment{ID: given.ID, At: given.Created, Outsider: counter == &refusals, Reply: &reply}
		change(state.MarkProcessed(o.Now, processed))
		done.Refreshed = done.Refreshed || result.refreshed
		if result.message != "" {
			message := fmt.Sprintf("%s\n\nRequested by %s in a comment on pull request %d.",
				result.message, given.Author.Login, given.Number)
			done.Messages = append(done.Messages, message)
		}
	}
	if forgotten > 0 {
		const lost = "they are not applied again, and holds, freezes, and rejections may be lost"
		failures.Add(state.Branch, fault.New(fault.Invalid,
			"it does not list commands in comments that promoter has answered (%d), so it was deleted or moved back: "+lost, forgotten))
	}
	if !left && len(comments) >= commentPageSize {
		change(state.IgnoreComments(nextFrom(from, comments, end)))
	}
	return done, nil
}

// digests returns the digests of commands that webhooks reported.
func (r Reader) digests(ctx context.Context, commands []userCommand) (map[int64]string, error) {
	if r.Events == nil || len(commands) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(commands))
	for i, given := range commands {
		ids[i] = given.ID
	}
	return r.Events.Digests(ctx, ids)
}

// forgeTime returns the time by the clock that dates comments.
func (r Reader) forgeTime() time.Time {
	if clock, is := r.Repository.(scm.Clock); is {
		return clock.Time()
	}
	return r.Now()
}

// recentComments lists the comments since a time, the longest unchanged first. It reports
// whether these are all.
func recentComments(ctx context.Context, conversation scm.Conversation, since time.Time) (all []scm.Comment, end bool, err error) {
	seen, limit := map[int64]bool{}, commentPageSize
	for range maxCommentPages {
		page, err := conversation.Recent(ctx, since, limit)
		if err != nil {
			return nil, false, err
		}
		for _, comment := range page {
			if !seen[comment.ID] {
				all = append(all, comment)
			}
			seen[comment.ID] = true
		}
		if len(page) < limit {
			return all, true, nil
		}
		// More than the limit may have changed within one second.
		if last := page[limit-1].Changed; last.After(since) {
			since = last
		} else if limit < maxCommentPages*commentPageSize {
			limit *= 2
		} else {
			since, limit = last.Add(time.Second), commentPageSize
		}
	}
	return all, false, nil
}

// nextFrom returns the time from which the next reconciliation lists comments, after one
// that listed these from a time. A new comment may be missing from the list for a while. If there were
// too many to list them all, half of them are not listed again: otherwise a flood would
// keep new commands from being read.
func nextFrom(from time.Time, listed []scm.Comment, end bool) time.Time {
	middle, last := listed[len(listed)/2].Changed, listed[len(listed)-1].Changed
	switch next := last.Add(-listingDelay); {
	case end:
		return next
	case !middle.After(from):
		return last
	case middle.After(next):
		return middle
	default:
		return next
	}
}

// commandsIn returns the comments of users that contain an unprocessed command, in the
// order in which they were written. An edited comment is ignored: it is not what its
// author sent, or not what others replied to. It reports whether these are all: comments after the last one that was
// parsed wait, so that the commands of a user keep their order.
func commandsIn(ctx context.Context, o Observed, comments []scm.Comment, parser parser) (commands []userCommand, all bool, err error) {
	all = true
	for _, c := range comments {
		bot := c.Bot || c.Author.Bot || c.Author.Login == "" || c.Author.Same(o.Self)
		if bot || c.Edited || !o.Promotion.State.IsUnprocessed(c.ID, c.Created, o.Now) {
			continue
		}
		parsed, in, err := parser.command(ctx, c.Body)
		if err != nil {
			return nil, false, err
		}
		if !in {
			all = false
			break
		}
		if parsed.found {
			commands = append(commands, userCommand{Comment: c, command: parsed.command})
		}
	}
	slices.SortFunc(commands, func(a, b userCommand) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return commands, all, nil
}
