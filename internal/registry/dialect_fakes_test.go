package registry

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// dialect is how one registry differs from the specification: who may ask, in
// which order and pages tags come, and how the next page is named.
type dialect struct {
	// login reports whether the request may proceed; otherwise it has responded.
	login func(d *scene, w http.ResponseWriter, r *http.Request) bool
	// page answers a question for tags.
	page func(d *scene, w http.ResponseWriter, r *http.Request)
	// manifest may answer a question for a manifest; nil: none is answered.
	manifest func(d *scene, w http.ResponseWriter, r *http.Request) bool
}

// scene is a registry with a dialect and tags that all lead to one image.
type scene struct {
	*fake
	dialect
	tags   []string
	digest string
	pulls  atomic.Int64 // GETs of manifests
}

func (s *scene) serve(w http.ResponseWriter, r *http.Request) bool {
	if s.login != nil && !s.login(s, w, r) {
		return true
	}
	if strings.HasSuffix(r.URL.Path, "/tags/list") {
		s.page(s, w, r)
		return true
	}
	before, tag, found := strings.Cut(r.URL.Path, "/manifests/")
	if !found {
		return false
	}
	if s.manifest != nil && s.manifest(s, w, r) {
		return true
	}
	if slices.Contains(s.tags, tag) {
		r.URL.Path = before + "/manifests/" + s.digest
	}
	return false
}

func fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"errors":[{"code":%q,"message":%q}]}`, code, message)
}

// bearer requires a token of a service at path, which authenticates the client. The request
// must have the scope pull of the repository.
func bearer(path, service string, may func(user, password string, given bool) (status int)) func(*scene, http.ResponseWriter, *http.Request) bool {
	return func(s *scene, w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.URL.Path == path:
			user, password, given := r.BasicAuth()
			query := r.URL.Query()
			if status := may(user, password, given); status != http.StatusOK {
				fail(w, status, "DENIED", "requested access to the resource is denied")
			} else if query.Get("service") != service || !strings.HasPrefix(query.Get("scope"), "repository:") || !strings.HasSuffix(query.Get("scope"), ":pull") {
				fail(w, http.StatusBadRequest, "DENIED", "odd scope")
			} else {
				_, _ = fmt.Fprint(w, `{"token":"t0ken","expires_in":300}`)
			}
			return false
		case r.Header.Get("Authorization") == "Bearer t0ken":
			return true
		}
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s%s",service=%q`, s.host, path, service))
		fail(w, http.StatusUnauthorized, "UNAUTHORIZED", "authentication required")
		return false
	}
}

// anybody gives a token to who asks without a credential, as for public images.
func anybody(_, _ string, given bool) int {
	if given {
		return http.StatusUnauthorized
	}
	return http.StatusOK
}

// only gives a token to one user.
func only(name string) func(string, string, bool) int {
	return func(user, given string, _ bool) int {
		if user != name || given != password {
			return http.StatusForbidden
		}
		return http.StatusOK
	}
}

// wanted reads the page that is asked for: at most of tags after last, which is a
// place in the registry's own order.
func (s *scene) wanted(r *http.Request, usual, most int) (tags []string, more bool) {
	n := usual
	if value, err := strconv.Atoi(r.URL.Query().Get("n")); err == nil {
		n = min(value, most)
	}
	rest := s.tags
	if last := r.URL.Query().Get("last"); last != "" {
		rest = rest[slices.Index(rest, last)+1:]
	}
	return rest[:min(n, len(rest))], n < len(rest)
}

func list(w http.ResponseWriter, tags []string, more map[string]any) {
	answer := map[string]any{"name": "acme/web", "tags": tags}
	for key, value := range more {
		answer[key] = value
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// byLast pages as the specification says; link is the form of the next page's
// address, with the path, the last tag and n.
func byLast(usual, most int, link string) func(*scene, http.ResponseWriter, *http.Request) {
	return func(s *scene, w http.ResponseWriter, r *http.Request) {
		tags, more := s.wanted(r, usual, most)
		if more {
			address := strings.NewReplacer("HOST", "http://"+s.host, "PATH", r.URL.Path, "LAST", url.QueryEscape(tags[len(tags)-1]), "N", strconv.Itoa(len(tags))).Replace(link)
			w.Header().Set("Link", "<"+address+`>; rel="next"`)
		}
		list(w, tags, nil)
	}
}

// allAtOnce does not page.
func allAtOnce(s *scene, w http.ResponseWriter, _ *http.Request) { list(w, s.tags, nil) }

// quayPage names the next page by an opaque text, gives at most 100 tags, and knows
// no last.
func quayPage(s *scene, w http.ResponseWriter, r *http.Request) {
	const most = 100
	at := 0
	if token := r.URL.Query().Get("next_page"); token != "" {
		plain, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(token, "gAAAAA"))
		if err != nil {
			fail(w, http.StatusBadRequest, "INVALID_REQUEST", "Invalid next_page token")
			return
		}
		at, _ = strconv.Atoi(string(plain))
	}
	end := min(at+most, len(s.tags))
	if end < len(s.tags) {
		token := "gAAAAA" + base64.StdEncoding.EncodeToString([]byte(strconv.Itoa(end)))
		w.Header().Set("Link", fmt.Sprintf(`<https://quay.example%s?n=%d&next_page=%s>; rel="next"`, r.URL.Path, most, url.QueryEscape(token)))
	}
	list(w, s.tags[at:end], nil)
}

// ecrPage refuses pages of more than 1,000, names the next one by an opaque last
// in a whole URL, sends shorter pages than asked for, and does not say JSON.
func ecrPage(s *scene, w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	if n > 1000 {
		fail(w, http.StatusMethodNotAllowed, "UNSUPPORTED", "Invalid parameter at 'maxResults' failed to satisfy constraint: 'Member must have value less than or equal to 1000'")
		return
	}
	at := 0
	if last := r.URL.Query().Get("last"); last != "" {
		plain, err := base64.StdEncoding.DecodeString(last)
		if err != nil {
			fail(w, http.StatusBadRequest, "UNSUPPORTED", "Invalid parameter at 'nextToken'")
			return
		}
		at, _ = strconv.Atoi(strings.TrimPrefix(string(plain), "??>token "))
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	end := min(at+max(n-7, 1), len(s.tags))
	if end < len(s.tags) {
		token := base64.StdEncoding.EncodeToString([]byte("??>token " + strconv.Itoa(end)))
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?last=%s&n=%d>; rel="next"`, s.host, r.URL.Path, url.QueryEscape(token), n))
	}
	list(w, s.tags[at:end], nil)
}

// ecrLogin takes AWS with its password, and says 403 to one that ran out.
func ecrLogin(_ *scene, w http.ResponseWriter, r *http.Request) bool {
	user, given, ok := r.BasicAuth()
	switch {
	case user == "AWS" && given == password:
		return true
	case ok:
		fail(w, http.StatusForbidden, "DENIED", "Your authorization token has expired. Reauthenticate and try again.")
	default:
		w.Header().Set("WWW-Authenticate", `Basic realm="https://123456789012.dkr.ecr.eu-central-1.amazonaws.com/",service="ecr.amazonaws.com"`)
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, "Not Authorized")
	}
	return false
}

// google adds what Docker's protocol does not have.
func google(s *scene, tags []string) map[string]any {
	return map[string]any{"child": []string{"cache"}, "manifest": map[string]any{s.digest: map[string]any{
		"imageSizeBytes": "100", "layerId": "", "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
		"tag": tags, "timeCreatedMs": "1700000000000", "timeUploadedMs": "1700000000000",
	}}}
}

// garPage is Artifact Registry: at most 1,000 tags to a page.
func garPage(s *scene, w http.ResponseWriter, r *http.Request) {
	tags, more := s.wanted(r, 1000, 1000)
	if more {
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?n=1000&last=%s>; rel="next"`, s.host, r.URL.Path, url.QueryEscape(tags[len(tags)-1])))
	}
	list(w, tags, google(s, tags))
}

// gcrPage is the old registry of Google: all tags, whatever is asked for.
func gcrPage(s *scene, w http.ResponseWriter, _ *http.Request) { list(w, s.tags, google(s, s.tags)) }

// artifactoryPage counts instead of naming a tag, and names a path of its own.
func artifactoryPage(s *scene, w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	at, _ := strconv.Atoi(r.URL.Query().Get("last"))
	end := min(at+n, len(s.tags))
	if end < len(s.tags) {
		w.Header().Set("Link", fmt.Sprintf(`</v2/web/tags/list?last=%d&n=%d>; rel="next"`, end, n))
	}
	list(w, s.tags[min(at, end):end], nil)
}

// hubManifest counts GETs of manifests as pulls, and refuses them beyond a limit;
// HEADs are none.
func hubManifest(limit int64) func(*scene, http.ResponseWriter, *http.Request) bool {
	return func(s *scene, w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && s.pulls.Add(1) > limit {
			fail(w, http.StatusTooManyRequests, "TOOMANYREQUESTS", "You have reached your pull rate limit. You may increase the limit by authenticating and upgrading: https://www.docker.com/increase-rate-limit")
			return true
		}
		w.Header().Set("Ratelimit-Limit", fmt.Sprintf("%d;w=21600", limit))
		w.Header().Set("Ratelimit-Remaining", fmt.Sprintf("%d;w=21600", max(limit-s.pulls.Load(), 0)))
		return false
	}
}
