package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/secret"
)

// GitHub is a GitHub Enterprise server on this machine, or an emulator of one.
type GitHub struct {
	// URL of the pages and of Git, on loopback. The API is below /api/v3.
	URL string
	// Promoter and User are the tokens of two accounts. The demo acts as the
	// second one for user actions.
	Promoter, User secret.String
	// Variable names the environment variable with Promoter's token, for the
	// server's config file.
	Variable string
}

// github is the server with one repository of the demo.
type github struct {
	url            string // of the pages, without a trailing slash
	promoter, user account
	owner, name    string // of the repository
	sources        string // name of the repository with the sources of the shop
}

// account is a user of the API.
type account struct {
	api   *gogithub.Client
	login string
}

// openGitHub creates a repository on the server.
func openGitHub(ctx context.Context, options GitHub, now func() time.Time) (*github, error) {
	address, err := loopbackURL(options.URL)
	if err != nil {
		return nil, err
	}
	client, err := newClient(now)
	if err != nil {
		return nil, err
	}
	g := &github{url: address}
	if g.promoter, err = identify(ctx, address, client, options.Promoter); err != nil {
		return nil, err
	}
	if g.user, err = identify(ctx, address, client, options.User); err != nil {
		return nil, err
	}
	if strings.EqualFold(g.promoter.login, g.user.login) {
		return nil, fault.New(fault.Invalid, "both tokens are of the account %s: the user must have another account than promoter",
			g.user.login)
	}
	return g, g.create(ctx, now())
}

// loopbackURL rejects URLs of other machines, because the demo sends tokens to
// the server and creates and removes repositories there.
func loopbackURL(text string) (string, error) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" ||
		parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return "", fault.New(fault.Invalid, "the URL of the forge is none: it is http://127.0.0.1:PORT, without user and query")
	}
	if ip := net.ParseIP(parsed.Hostname()); parsed.Hostname() != "localhost" && !ip.IsLoopback() {
		return "", fault.New(fault.Invalid, "the forge at %s is on another machine: the demo makes and removes repositories, "+
			"so it works with a forge on this one only", parsed.Host)
	}
	return strings.TrimRight(parsed.String(), "/"), nil
}

// newClient returns a client that connects to loopback without rate limits.
func newClient(now func() time.Time) (*http.Client, error) {
	guarded, err := outbound.New(outbound.Options{
		AllowLoopback: true, Attempts: 1, Now: now,
		RateLimit: outbound.RateLimit{PerSecond: 10_000, Burst: 10_000},
	})
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Transport:     guarded,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// identify returns the account of a token.
func identify(ctx context.Context, address string, client *http.Client, token secret.String) (account, error) {
	api, err := gogithub.NewClient(client).WithAuthToken(token.Reveal()).WithEnterpriseURLs(address, address)
	if err != nil {
		return account{}, fmt.Errorf("the URL of the forge: %w", err)
	}
	user, response, err := api.Users.Get(ctx, "")
	if err == nil && user.GetLogin() == "" {
		err = errors.New("the answer names no user")
	}
	if response != nil && (response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden) {
		return account{}, fault.New(fault.Invalid, "%w: check the tokens", err)
	}
	if err != nil {
		return account{}, fmt.Errorf("find GitHub's API at %s: %w: check --forge-url; 'make demo-github' starts such a server",
			address, outbound.Redact(err))
	}
	return account{api: api, login: user.GetLogin()}, nil
}

// create creates the user's repository, to which promoter may push.
func (g *github) create(ctx context.Context, now time.Time) error {
	name := "promoter-demo-" + now.UTC().Format("20060102-150405.000")
	made, _, err := g.user.api.Repositories.Create(ctx, "", &gogithub.Repository{Name: &name})
	if err != nil {
		return fmt.Errorf("create a repository: %w", err)
	}
	g.owner, g.name, _ = strings.Cut(made.GetFullName(), "/")
	g.sources = name + "-shop"
	if _, _, err := g.user.api.Repositories.Create(ctx, "", &gogithub.Repository{Name: &g.sources}); err != nil {
		return errors.Join(fmt.Errorf("create a repository: %w", err), g.remove(ctx, g.name))
	}
	permission := &gogithub.RepositoryAddCollaboratorOptions{Permission: "push"}
	if _, _, err := g.user.api.Repositories.AddCollaborator(ctx, g.owner, g.name, g.promoter.login, permission); err != nil {
		return errors.Join(fmt.Errorf("prepare the repository %s: %w", g.fullName(), err), g.remove(ctx, g.name, g.sources))
	}
	return nil
}

func (g *github) fullName() string { return g.owner + "/" + g.name }

func (g *github) cloneURL() string { return g.url + "/" + g.fullName() + ".git" }

// removeTimeout limits the cleanup, which an interrupt does not stop.
const removeTimeout = 10 * time.Second

// remove deletes repositories of the demo.
func (g *github) remove(ctx context.Context, names ...string) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	for _, name := range names {
		if _, failure := g.user.api.Repositories.Delete(ctx, g.owner, name); failure != nil {
			err = errors.Join(err, fmt.Errorf("remove the repository %s/%s: %w", g.owner, name, failure))
		}
	}
	return err
}

func (g *github) pull(ctx context.Context, number int) (*gogithub.PullRequest, error) {
	pull, _, err := g.user.api.PullRequests.Get(ctx, g.owner, g.name, number)
	return pull, err
}

// pullState returns the state of a pull request and, if known, the user who changed
// it.
func pullState(p *gogithub.PullRequest) string {
	switch {
	case p.GetMerged():
		return "merged, by " + p.GetMergedBy().GetLogin()
	case p.GetState() == "open":
		return "open, by " + p.GetUser().GetLogin()
	default:
		return p.GetState()
	}
}

func pullLine(p *gogithub.PullRequest) string {
	return fmt.Sprintf("#%d %s (%s)", p.GetNumber(), p.GetTitle(), pullState(p))
}

// list lists all pull requests, each with the time of its last change.
func (g *github) list(ctx context.Context) (string, error) {
	all, _, err := g.user.api.PullRequests.List(ctx, g.owner, g.name, &gogithub.PullRequestListOptions{
		State: "all", ListOptions: gogithub.ListOptions{PerPage: 100},
	})
	if err != nil {
		return "", err
	}
	slices.SortFunc(all, func(a, b *gogithub.PullRequest) int { return a.GetNumber() - b.GetNumber() })
	var lines []string
	for _, listed := range all {
		pull, err := g.pull(ctx, listed.GetNumber()) // a list does not include who merged
		if err != nil {
			return "", err
		}
		lines = append(lines, pullLine(pull)+", "+pull.GetUpdatedAt().Format(time.TimeOnly))
	}
	return strings.Join(lines, "\n"), nil
}

// merge merges a pull request as the user and returns when it was merged.
func (g *github) merge(ctx context.Context, number int) (time.Time, error) {
	options := &gogithub.PullRequestOptions{MergeMethod: "merge"}
	if _, _, err := g.user.api.PullRequests.Merge(ctx, g.owner, g.name, number, "", options); err != nil {
		return time.Time{}, err
	}
	pull, err := g.pull(ctx, number)
	return pull.GetMergedAt().Time, err
}

// closePull closes a pull request as the user.
func (g *github) closePull(ctx context.Context, number int) error {
	_, _, err := g.user.api.PullRequests.Edit(ctx, g.owner, g.name, number, &gogithub.PullRequest{State: gogithub.String("closed")})
	return err
}

// passCheck reports a passed check on the head.
func (g *github) passCheck(ctx context.Context, number int, name string) error {
	pull, err := g.pull(ctx, number)
	if err != nil {
		return err
	}
	_, _, err = g.user.api.Checks.CreateCheckRun(ctx, g.owner, g.name, gogithub.CreateCheckRunOptions{
		Name: name, HeadSHA: pull.GetHead().GetSHA(), Status: gogithub.String("completed"), Conclusion: gogithub.String("success"),
	})
	return err
}
