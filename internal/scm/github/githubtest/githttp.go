package githubtest

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/cgi" //nolint:gosec // a server in a test
	"strings"
)

// maxPack bounds what a push may send, in bytes.
const maxPack = 512 << 20

// serveGit serves /OWNER/NAME.git over smart HTTP.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request) {
	name, rest, isGit := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), ".git/")
	if !isGit {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPack))
	if err != nil {
		return // the client went away
	}
	pushes := strings.HasSuffix(rest, "git-receive-pack") || r.URL.Query().Get("service") == "git-receive-pack"
	s.happen("GIT " + strings.TrimPrefix(rest, "git-"))
	repo, by, lose, refused := s.admitGit(r, name, rest, pushes)
	if refused != nil {
		refused(w)
		return
	}
	backend := s.backend(repo, rest, by)
	if !pushes || r.Method != http.MethodPost {
		backend.ServeHTTP(w, withBody(r, body))
		return
	}
	// The answer comes after the pull requests have followed: a client that has it
	// sees them so.
	kept := &kept{header: http.Header{}, status: http.StatusOK}
	backend.ServeHTTP(kept, withBody(r, body))
	s.follow(repo, by)
	if lose {
		panic(http.ErrAbortHandler)
	}
	kept.send(w)
}

// follow looks at the branches after a push.
func (s *Server) follow(repo *Repository, by *user) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if err, failed := recover().(error); failed {
			s.t.Errorf("githubtest: after a push: %v", err)
		}
	}()
	repo.look(by)
}

// withBody makes the body one of known length, which CGI needs.
func withBody(r *http.Request, body []byte) *http.Request {
	r = r.Clone(r.Context())
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	return r
}

// kept is an answer that is sent later, or never.
type kept struct {
	header http.Header
	status int
	bytes.Buffer
}

// Header returns the headers.
func (k *kept) Header() http.Header { return k.header }

// WriteHeader keeps the status.
func (k *kept) WriteHeader(status int) { k.status = status }

func (k *kept) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), k.header)
	w.WriteHeader(k.status)
	_, _ = w.Write(k.Bytes()) // a client that went away wants no answer
}

func (s *Server) backend(repo *Repository, rest string, by *user) http.Handler {
	return &cgi.Handler{
		Path: s.git.path, Args: []string{"http-backend"}, Dir: repo.dir,
		Env: append(s.git.environment(), "GIT_PROJECT_ROOT="+repo.dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER="+by.login,
			"PATH_INFO=/"+rest),
		Stderr: io.Discard,
	}
}

// admitGit finds the repository and checks what the token allows, in GitHub's
// words.
func (s *Server) admitGit(r *http.Request, name, rest string, pushes bool) (repo *Repository, by *user, lose bool, refused func(http.ResponseWriter)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	route := "GIT " + strings.TrimPrefix(rest, "git-")
	s.counts[route]++
	if one := s.takeTrouble(route); one != nil {
		if one.reply != nil {
			return nil, nil, false, plain(one.reply.status, "the server has an accident")
		}
		lose = one.lose
	}
	_, password, given := r.BasicAuth()
	key := s.tokens[password]
	if !given {
		key = s.anonymous()
	}
	repo = s.repos[s.names[lower(name)]]
	switch {
	case key == nil, key.anonymous() && (pushes || repo == nil || !key.sees(repo)):
		return nil, nil, false, unknownToken
	case repo == nil || repo.removed || !key.sees(repo):
		return nil, nil, false, plain(http.StatusNotFound, "Repository not found.")
	case lower(repo.fullName()) != lower(name):
		return nil, nil, false, s.movedGit(repo, rest, r.URL.RawQuery)
	case pushes && repo.archived:
		return nil, nil, false, plain(http.StatusForbidden, "This repository was archived so it is read-only.")
	case pushes && !key.pushes(repo):
		return nil, nil, false, plain(http.StatusForbidden, "Permission to "+repo.fullName()+".git denied to "+key.owner.login+".")
	}
	return repo, key.owner, lose, nil
}

func plain(status int, words string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, words+"\n") // a client that went away wants no answer
	}
}

func unknownToken(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
	plain(http.StatusUnauthorized, "Invalid username or token. Password authentication is not supported for Git operations.")(w)
}

func (s *Server) movedGit(repo *Repository, rest, query string) func(http.ResponseWriter) {
	to := s.URL() + "/" + repo.fullName() + ".git/" + rest
	if query != "" {
		to += "?" + query
	}
	return func(w http.ResponseWriter) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusMovedPermanently)
	}
}

// sees says whether the token may read a repository.
func (k *token) sees(repo *Repository) bool {
	return !repo.private || k.has("repo") && repo.permission(k.owner) != "none"
}

func (k *token) pushes(repo *Repository) bool { return k.has("repo") && repo.mayPush(k.owner) }
