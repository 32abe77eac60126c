package githubtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"promoter/internal/git/gittest"
	"promoter/internal/scm/forgetest"
)

const (
	maxBody     = 1 << 20 // of a request to the API, in bytes
	hourlyLimit = 5000    // requests
)

// object is a JSON object.
type object = map[string]any

// reply is a response before it is sent.
type reply = forgetest.Reply

func ok(body any) *reply { return forgetest.Answer(http.StatusOK, body) }

func created(body any) *reply { return forgetest.Answer(http.StatusCreated, body) }

// refuse returns an error in GitHub's form.
func refuse(status int, message string) *reply {
	return forgetest.Answer(status, object{"message": message, "documentation_url": "https://docs.github.com/rest", "status": itoa(status)})
}

// invalid returns a 422 with the errors.
func invalid(errs ...any) *reply {
	r := refuse(http.StatusUnprocessableEntity, "Validation Failed")
	r.Body.(object)["errors"] = errs
	return r
}

func itoa(n int) string { return strconv.Itoa(n) }

// call is one request to the API.
type call struct {
	s     *Server
	r     *http.Request
	route string
	body  []byte
	token *token
	repo  *Repository
}

// who returns the account of the token.
func (c *call) who() *user { return c.token.owner }

// ServeHTTP serves the API below its prefix, and pages and Git elsewhere.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, prefix+"/") && r.URL.Path != graphql {
		s.servePages(w, r)
		return
	}
	var inner *http.Request
	s.act(func() { inner = s.inner(r) })
	route, name, known := s.routes.Find(inner)
	s.hub.Front.Serve(w, r, name, func(body []byte) *reply {
		if !known {
			s.t.Errorf("githubtest: no route for %s %s", inner.Method, inner.URL.Path)
			return refuse(http.StatusNotImplemented, "githubtest has no such route")
		}
		c := &call{s: s, r: inner, route: name, body: body}
		answer := c.dispatch(route)
		if answer.Status != http.StatusNotImplemented && r.URL.Path != graphql {
			s.api.Check(s.t, inner, body, answer)
		}
		return answer.Unless(r, "private, max-age=60, s-maxage=60", "Authorization")
	})
}

// dispatch authenticates the request and calls the handler of the route.
func (c *call) dispatch(route endpoint) *reply {
	refused := c.authenticate()
	c.s.asked = append(c.s.asked, Asked{Route: c.route, Repository: repositoryOf(c.r.URL.Path), By: c.token.name()})
	if refused == nil {
		refused = refuseApp(c, route.either)
	}
	if refused != nil {
		return refused
	}
	c.r = forgetest.WithValues(c.route, c.r)
	answer := route.handle(c)
	if c.token.anonymous() || c.token.app != nil || c.token.installation != nil {
		return answer
	}
	answer.Header.Set("X-OAuth-Scopes", strings.Join(c.token.scopes, ", "))
	if answer.Header.Get("X-Accepted-OAuth-Scopes") == "" {
		answer.Header.Set("X-Accepted-OAuth-Scopes", "repo")
	}
	return answer
}

// inner returns the request without the prefix, and with /repositories/ID, to which
// renamed repositories redirect, replaced by the name.
func (s *Server) inner(r *http.Request) *http.Request {
	if r.URL.Path == graphql {
		return forgetest.Below(r, "/api")
	}
	inner := forgetest.Below(r, prefix)
	rest, byID := strings.CutPrefix(inner.URL.RawPath, "/repositories/")
	if !byID {
		return inner
	}
	number, rest, _ := strings.Cut(rest, "/")
	id, _ := strconv.ParseInt(number, 10, 64)
	if repo := s.hub.Repos[id]; repo != nil {
		inner.URL.Path = strings.TrimSuffix("/repos/"+repo.FullName()+"/"+rest, "/")
		inner.URL.RawPath = ""
	}
	return inner
}

// finish adds the headers of every response. A "not modified" response does not count
// against the rate limit.
func (s *Server) finish(answer *reply) {
	if answer.Status != http.StatusNotModified {
		s.used++
	}
	for name, value := range map[string]string{
		"X-RateLimit-Limit": itoa(hourlyLimit), "X-RateLimit-Remaining": itoa(hourlyLimit - s.used), "X-RateLimit-Used": itoa(s.used),
		"X-RateLimit-Reset": itoa(int(s.hub.Front.Now().Add(time.Hour).Unix())), "X-RateLimit-Resource": "core",
		"X-GitHub-Request-Id": fmt.Sprintf("%X", s.hub.NextID()),
		"Date":                s.hub.Front.Now().UTC().Format(http.TimeFormat),
	} {
		if answer.Header.Get(name) == "" {
			answer.Header.Set(name, value)
		}
	}
}

// admitGit finds the repository and checks the permissions of the token, with
// GitHub's messages.
func (s *Server) admitGit(visit gittest.Visit) gittest.Admission {
	_, password, given := visit.Request.BasicAuth()
	key := s.tokens[password]
	if !given {
		key = anonymous()
	}
	if key != nil && key.ended(s.hub.Front.Now()) {
		key = nil
	}
	s.asked = append(s.asked, Asked{Route: visit.Route(), Repository: visit.Name, By: key.name()})
	repo := s.hub.Find(visit.Name)
	if refused := s.refuseGit(visit, repo, key); refused != nil {
		return gittest.Admission{Refused: refused}
	}
	return gittest.Admission{
		Repository: repo.Bare, Login: key.owner.Login, Pushed: func() { repo.Follow(key.owner) },
	}
}

func (s *Server) refuseGit(visit gittest.Visit, repo *forgetest.Repository, key *token) http.HandlerFunc {
	switch {
	case key != nil && key.installation != nil && !key.installation.suspended.IsZero():
		return gittest.Refuse(http.StatusForbidden, "This installation has been suspended")
	case key != nil && s.hub.Front.Now().Before(key.known):
		return gittest.Refuse(http.StatusNotFound, "Repository not found.")
	case key == nil, key.anonymous() && (visit.Pushes || repo == nil || !key.sees(repo)):
		return gittest.Unknown("GitHub", "Invalid username or token. Password authentication is not supported for Git operations.")
	case repo == nil || repo.Removed || !key.sees(repo):
		return gittest.Refuse(http.StatusNotFound, "Repository not found.")
	case !repo.IsNamed(visit.Name):
		return visit.Moved(s.URL(), repo.FullName())
	case visit.Pushes && repo.Archived:
		return gittest.Refuse(http.StatusForbidden, "This repository was archived so it is read-only.")
	case visit.Pushes && !key.pushes(repo):
		return gittest.Refuse(http.StatusForbidden, "Permission to "+repo.FullName()+".git denied to "+key.owner.Login+".")
	}
	return nil
}
