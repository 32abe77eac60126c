package registry

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// newScene makes a registry with n tags.
func newScene(t *testing.T, n int, d dialect) *scene {
	t.Helper()
	s := &scene{fake: newFake(t), dialect: d, tags: manyTags(n)}
	s.digest = s.push(t, "acme/web", built{created: day(1)}, "0")
	s.answer = s.serve
	s.reset()
	return s
}

// byAge puts tags from the oldest to the newest.
func byAge(s *scene) {
	for i := range s.tags {
		s.tags[i] = fmt.Sprintf("1.0.%d", i)
	}
}

// inNoOrder puts tags in an order that means nothing.
func inNoOrder(s *scene) {
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(s.tags), func(i, j int) { s.tags[i], s.tags[j] = s.tags[j], s.tags[i] })
}

// client may use the credential that the registry takes.
func (s *scene) client(t *testing.T, user string) *Client {
	t.Helper()
	if user == "" {
		return newClient(t, Options{})
	}
	return newClient(t, Options{Credentials: []Credential{
		{Host: s.host, UsableBy: []string{"**"}, Username: user, Secret: secret.New(password)},
	}})
}

func TestDialect_everyRegistry(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		n       int
		dialect dialect
		order   func(*scene)
		user    string
		asked   int // tag list requests
	}{
		{
			name: "Docker Hub", n: 2500, asked: 3,
			dialect: dialect{
				login: bearer("/token", "registry.docker.io", anybody), manifest: hubManifest(100),
				page: byLast(100, 1000, "PATH?last=LAST&n=N"),
			},
		},
		{
			name: "GHCR: from the oldest to the newest", n: 2500, asked: 3, order: byAge,
			dialect: dialect{login: bearer("/token", "ghcr.io", anybody), page: byLast(100, 1000, "PATH?last=LAST&n=N")},
		},
		{
			name: "Quay: opaque pages of 100", n: 450, asked: 5, user: "acme+promoter",
			dialect: dialect{login: bearer("/v2/auth", "quay.io", only("acme+promoter")), page: quayPage},
		},
		{
			name: "Harbor: a robot with a $, links without a host", n: 2500, asked: 3, user: "robot$acme+promoter",
			dialect: dialect{login: bearer("/service/token", "harbor-registry", only("robot$acme+promoter")), page: byLast(100_000, 100_000, "PATH?last=LAST&n=N")},
		},
		{
			name: "GitLab: a token service of GitLab, a deploy token", n: 2500, asked: 3, user: "gitlab+deploy-token-1",
			dialect: dialect{login: bearer("/jwt/auth", "container_registry", only("gitlab+deploy-token-1")), page: byLast(100, 1000, "HOSTPATH?last=LAST&n=N")},
		},
		{
			name: "GitLab without its database: all at once", n: 2500, asked: 1, user: "gitlab+deploy-token-1",
			dialect: dialect{login: bearer("/jwt/auth", "container_registry", only("gitlab+deploy-token-1")), page: allAtOnce},
		},
		{
			name: "ECR: opaque, short pages in no order", n: 2500, asked: 3, user: "AWS", order: inNoOrder,
			dialect: dialect{login: ecrLogin, page: ecrPage},
		},
		{
			name: "Artifact Registry", n: 2500, asked: 3, user: "oauth2accesstoken",
			dialect: dialect{login: bearer("/v2/token", "europe-docker.pkg.dev", only("oauth2accesstoken")), page: garPage},
		},
		{
			name: "gcr.io: all at once", n: 2500, asked: 1, user: "oauth2accesstoken",
			dialect: dialect{login: bearer("/v2/token", "gcr.io", only("oauth2accesstoken")), page: gcrPage},
		},
		{
			name: "ACR", n: 2500, asked: 3, user: "00000000-0000-0000-0000-000000000000",
			dialect: dialect{
				login: bearer("/oauth2/token", "acme.azurecr.io", only("00000000-0000-0000-0000-000000000000")),
				page:  byLast(100, 1000, "PATH?last=LAST&n=N&orderby="),
			},
		},
		{name: "Artifactory: pages are counted, on another path", n: 2500, asked: 3, dialect: dialect{page: artifactoryPage}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, tc.n, tc.dialect)
			if tc.order != nil {
				tc.order(s)
			}
			chosen := mustSelect(t, s.client(t, tc.user).For("a/1"), webRequest(t, s.fake))
			if want := fmt.Sprintf("1.0.%d", tc.n-1); !chosen.Found || chosen.Version.Tag != want {
				t.Errorf("selected %+v, want %s", chosen, want)
			}
			if got := s.count("tags/list"); got != tc.asked {
				t.Errorf("asked for %d pages, want %d", got, tc.asked)
			}
		})
	}
}

// What a registry says to who may not look, and to who looks for what is not there.
func TestDialect_privateAndMissing(t *testing.T) {
	t.Parallel()
	nothing := func(status int, code string) func(*scene, http.ResponseWriter, *http.Request) {
		return func(_ *scene, w http.ResponseWriter, _ *http.Request) { fail(w, status, code, "canary") }
	}
	for _, tc := range []struct {
		name    string
		dialect dialect
		user    string
		kind    fault.Kind
		words   string
	}{
		{"Docker Hub: private, or not there", dialect{login: func(s *scene, w http.ResponseWriter, r *http.Request) bool {
			if bearer("/token", "registry.docker.io", anybody)(s, w, r) {
				fail(w, http.StatusUnauthorized, "UNAUTHORIZED", "authentication required")
			}
			return false
		}}, "", fault.Unauthorized, "401 UNAUTHORIZED: requested without a credential; check the name"},
		{"GHCR: private, or not there", dialect{login: bearer("/token", "ghcr.io", only("acme-bot"))}, "", fault.Unauthorized, "403 DENIED: requested without a credential; check the name"},
		{"GHCR: a token that may not", dialect{login: bearer("/token", "ghcr.io", only("acme-bot"))}, "another", fault.Unauthorized, "403 DENIED: the credential of the server file may not read it"},
		{"GHCR: there is none", dialect{login: bearer("/token", "ghcr.io", anybody), page: nothing(404, "NAME_UNKNOWN")}, "", fault.NotFound, "404 NAME_UNKNOWN: check the name"},
		{"Quay: private, or not there", dialect{login: bearer("/v2/auth", "quay.io", anybody), page: nothing(401, "UNAUTHORIZED")}, "", fault.Unauthorized, "401 UNAUTHORIZED: requested without a credential"},
		{"Harbor: there is none", dialect{page: nothing(404, "NOT_FOUND")}, "", fault.NotFound, "404 Not Found: check the name"},
		{"GitLab: never pushed to", dialect{page: nothing(404, "NAME_UNKNOWN")}, "", fault.NotFound, "404 NAME_UNKNOWN"},
		{"ECR: there is none", dialect{login: ecrLogin, page: nothing(404, "NAME_UNKNOWN")}, "AWS", fault.NotFound, "404 NAME_UNKNOWN"},
		{"ECR: asked without a login", dialect{login: ecrLogin}, "", fault.Unauthorized, "401 Unauthorized: requested without a credential"},
		{"ECR: no right", dialect{login: ecrLogin, page: nothing(403, "DENIED")}, "AWS", fault.Unauthorized, "403 DENIED: the credential"},
		{"GAR: private, or not there", dialect{page: nothing(403, "DENIED")}, "", fault.Unauthorized, "403 DENIED"},
		{"ACR: too many reads", dialect{page: nothing(429, "TOOMANYREQUESTS")}, "", fault.RateLimited, "limits requests until"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, 3, tc.dialect)
			chosen, err := s.client(t, tc.user).For("a/1").Select(t.Context(), webRequest(t, s.fake))
			if chosen.Found || fault.KindOf(err) != tc.kind || !strings.Contains(err.Error(), tc.words) {
				t.Errorf("selected %+v: %v (%s)", chosen, err, fault.KindOf(err))
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the words of the registry are shown: %v", err)
			}
		})
	}
}

// A HEAD is no pull on Docker Hub, and neither is a list: an idle pass costs none.
func TestDialect_dockerHubCountsOnePullPerDigest(t *testing.T) {
	t.Parallel()
	s := newScene(t, 3, dialect{login: bearer("/token", "registry.docker.io", anybody), manifest: hubManifest(1), page: byLast(100, 1000, "")})
	c := s.client(t, "")
	for range 5 {
		mustSelect(t, c.For("a/1"), webRequest(t, s.fake))
	}
	if got := s.pulls.Load(); got != 1 {
		t.Errorf("five passes cost %d pulls, want one for the one digest", got)
	}
	_, err := c.For("a/1").Describe(t.Context(), s.repository(t, "acme/web"), "sha256:"+strings.Repeat("0", 64))
	if fault.KindOf(err) != fault.RateLimited {
		t.Errorf("beyond the limit: %v", err)
	}
}

// GitLab and others list null where there is no tag.
func TestDialect_gitLabEmptyRepository(t *testing.T) {
	t.Parallel()
	s := newScene(t, 0, dialect{page: func(_ *scene, w http.ResponseWriter, _ *http.Request) { list(w, nil, nil) }})
	if chosen := mustSelect(t, s.client(t, "").For("a/1"), webRequest(t, s.fake)); chosen.Found || chosen.Reason != "the registry lists no tags" {
		t.Errorf("selected %+v", chosen)
	}
}

// Amazon refuses a page that is too large with a code of its own.
func TestDialect_ecrRefusesLargePages(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1500, dialect{login: ecrLogin, page: ecrPage})
	inNoOrder(s)
	c := newClient(t, Options{Limits: Limits{PageSize: 2000}, Credentials: []Credential{
		{Host: s.host, UsableBy: []string{"**"}, Username: "AWS", Secret: secret.New(password)},
	}})
	if chosen := mustSelect(t, c.For("a/1"), webRequest(t, s.fake)); chosen.Version.Tag != "1.0.1499" {
		t.Errorf("selected %+v", chosen)
	}
	if got := s.count("tags/list"); got != 3 {
		t.Errorf("asked for %d pages, want one that is refused and two", got)
	}
}

// A link leads to a page of the same list on the same host, whatever host and path
// it names: no other host is asked, and no credential goes there.
func TestDialect_linksToOtherHosts(t *testing.T) {
	t.Parallel()
	other := newFake(t)
	s := newScene(t, 1500, dialect{login: ecrLogin, page: func(s *scene, w http.ResponseWriter, r *http.Request) {
		tags, more := s.wanted(r, 1000, 1000)
		if more {
			w.Header().Set("Link", fmt.Sprintf(`<http://%s/v2/evil/tags/list?last=%s>; rel="next"`, other.host, tags[len(tags)-1]))
		}
		list(w, tags, nil)
	}})
	mustSelect(t, s.client(t, "AWS").For("a/1"), webRequest(t, s.fake))
	if asked := other.count(""); asked != 0 {
		t.Errorf("another host was asked %d times", asked)
	}
	if s.count("evil") != 0 {
		t.Error("another path was asked")
	}
}
