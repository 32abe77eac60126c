package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// pullRequest is a pull request in the forge's API.
type pullRequest struct {
	Number   int
	Title    string
	State    string
	User     struct{ Login string }
	Merged   bool
	MergedBy struct{ Login string } `json:"merged_by"`
	Head     named
	Updated  time.Time `json:"updated_at"`
}

// how returns the state of the pull request and, if known, the user who changed
// it.
func (p pullRequest) how() string {
	switch {
	case p.Merged:
		return "merged, by " + p.MergedBy.Login
	case p.State == "open":
		return "open, by " + p.User.Login
	default:
		return p.State
	}
}

func (p pullRequest) String() string { return fmt.Sprintf("  #%d %s (%s)", p.Number, p.Title, p.how()) }

func (g *github) pull(number int) string { return fmt.Sprintf("%s/pulls/%d", g.path, number) }

// look fetches one pull request.
func (g *github) look(ctx context.Context, number int) (pullRequest, error) {
	var pull pullRequest
	err := g.person.ask(ctx, "GET", g.pull(number), nil, &pull)
	return pull, err
}

// list lists all pull requests, each with the time of its last change.
func (g *github) list(ctx context.Context) (string, error) {
	var all []pullRequest
	if err := g.person.ask(ctx, "GET", g.path+"/pulls?state=all&per_page=100", nil, &all); err != nil {
		return "", err
	}
	slices.SortFunc(all, func(a, b pullRequest) int { return a.Number - b.Number })
	var lines []string
	for _, listed := range all {
		pull, err := g.look(ctx, listed.Number) // a list does not include who merged
		if err != nil {
			return "", err
		}
		lines = append(lines, fmt.Sprintf("%s, %s", pull, pull.Updated.Format(time.TimeOnly)))
	}
	return strings.Join(lines, "\n"), nil
}

// merge merges a pull request as the user and returns when it was merged.
func (g *github) merge(ctx context.Context, number int) (time.Time, error) {
	if err := g.person.ask(ctx, "PUT", g.pull(number)+"/merge", body{"merge_method": "merge"}, nil); err != nil {
		return time.Time{}, err
	}
	var merged struct {
		At time.Time `json:"merged_at"`
	}
	err := g.person.ask(ctx, "GET", g.pull(number), nil, &merged)
	return merged.At, err
}

// closePull closes a pull request as the user.
func (g *github) closePull(ctx context.Context, number int) error {
	return g.person.ask(ctx, "PATCH", g.pull(number), body{"state": "closed"}, nil)
}

// check reports a passed check on the head.
func (g *github) check(ctx context.Context, number int, name string) error {
	pull, err := g.look(ctx, number)
	if err != nil {
		return err
	}
	return g.person.ask(ctx, "POST", g.path+"/check-runs", body{
		"name": name, "head_sha": pull.Head.SHA, "status": "completed", "conclusion": "success",
	}, nil)
}
