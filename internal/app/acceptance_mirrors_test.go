package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"promoter/internal/registry/registrytest"
)

// mirrored is a config whose prod pulls from a mirror, which is a folder of the same registry.
const mirrored = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
  worker: {image: $R/acme/worker, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.yaml"], land: push}
  prod: {paths: ["prod/{application}.yaml"], after: [dev], mirrors: {$R/acme: $R/mirror/acme}}
`

// mirror makes the files of prod name the mirror.
func (s *story) mirror() {
	s.t.Helper()
	s.edit("ada", "main", "prod/shop.yaml", s.host+"/acme/", s.host+"/mirror/acme/")
}

// copies copies an image to the mirror, under another tag if one is given.
func (s *story) copies(version string, tags ...string) {
	s.t.Helper()
	from, err := name.ParseReference(s.host + "/acme/" + version)
	if err != nil {
		s.t.Fatal(err)
	}
	component, tag, _ := strings.Cut(version, ":")
	for _, other := range tags {
		tag = other
	}
	to, err := name.ParseReference(s.host + "/mirror/acme/" + component + ":" + tag)
	if err != nil {
		s.t.Fatal(err)
	}
	image, err := remote.Image(from, remote.WithTransport(registrytest.Transport{}))
	if err == nil {
		err = remote.Write(to, image, remote.WithTransport(registrytest.Transport{}))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func TestRun_waitsForTheMirror_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, mirrored, func(s *story) {
		s.mirror()
		s.calm()
		s.because(s.releaseAndRun("web", "1.1.0"), "prod", "waiting", "web 1.1.0 mirrored: not in the mirror yet: "+s.host+"/mirror/acme/web has no sha256:")
		s.holds("dev", "1.1.0 1.0.0")
		s.pulls()
		s.calm()

		// Another image with the tag of the version is not the version.
		s.copies("web:1.0.0", "1.1.0")
		s.because(s.run(), "prod", "waiting", "not in the mirror yet")
		s.pulls()

		s.copies("web:1.1.0")
		s.run()
		s.pulls(prodHead + " open")
		pull := s.repo.Pulls.Get(1)
		if !strings.Contains(pull.Body, "mirrored") || !strings.Contains(pull.Body, s.host+"/mirror/acme/web") {
			s.t.Errorf("the pull request does not show the mirror:\n%s", pull.Body)
		}
		s.calm()
		s.repo.Pulls.Merge("ada", 1, "merge")
		s.run()
		want := strings.ReplaceAll(s.line("web:1.1.0"), "/acme/", "/mirror/acme/")
		if text := s.repo.Git.Run("show", "main:prod/shop.yaml"); !strings.Contains(text, want) {
			s.t.Errorf("prod does not have %s:\n%s", want, text)
		}
		if message := s.repo.Git.Run("log", "--no-merges", "-1", "--format=%B", "main", "--", "prod"); !strings.Contains(message, "Promoter-Image: web="+s.line("web:1.1.0")+"\n") {
			s.t.Errorf("the commit does not name what is followed:\n%s", message)
		}
	})
}

// A mirror that does not answer passes nothing, and is an error of the run.
func TestRun_mirrorIsDown_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, mirrored, func(s *story) {
		s.mirror()
		s.copies("web:1.0.0")
		s.registry.Wrap(failing("/v2/mirror/", http.StatusInternalServerError))
		s.release("web", "1.1.0")
		result := s.pass()
		s.because(result.Report, "prod", "waiting", "web 1.1.0 mirrored: not verified: "+s.host+"/mirror/acme/web gave no answer")
		if s.pulls(); !result.Failed() {
			s.t.Error("the run does not report the error")
		}
		s.holds("dev", "1.1.0 1.0.0")
		s.registry.Wrap(nil)
		s.copies("web:1.1.0")
		s.run()
		s.pulls(prodHead + " open")
	})
}

// failing makes a registry answer requests below a path with a status.
func failing(path string, status int) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, path) {
				w.WriteHeader(status)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// A login is used for the mirror only if the server file lets the repository use it.
func TestRun_mirrorNeedsALoginOfItsOwn_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, mirrored, func(s *story) {
		s.mirror()
		s.copies("web:1.0.0")
		s.release("web", "1.1.0")
		s.copies("web:1.1.0")
		s.registry.Wrap(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				user, password, _ := r.BasicAuth()
				if private := strings.HasPrefix(r.URL.Path, "/v2/mirror/"); private && (user != "robot" || password != serveSecret) {
					w.Header().Set("WWW-Authenticate", `Basic realm="mirror"`)
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				next.ServeHTTP(w, r)
			})
		})
		usable := func(by string) {
			file := s.write("server.yaml", `version: 1
networks: [127.0.0.0/8]
forges:
  forge: {kind: github, url: "`+s.forge.URL()+`", insecure: true, token: "env:TOKEN"}
repositories: [{forge: forge, name: acme/gitops}]
registries:
  - {host: "$R", repositories: ["mirror/**"], insecure: true, credentials: {username: robot, password: "env:PASSWORD"}, usableBy: ["`+by+`"]}
  - {host: "$R", insecure: true}
`)
			s.server = connected(s.t, file, environ("TOKEN", s.token, "PASSWORD", serveSecret), s.clock.Now)
		}
		host := strings.TrimPrefix(s.forge.URL(), "http://")
		usable(host + "/acme/other")
		s.because(s.pass().Report, "prod", "waiting", "web 1.1.0 mirrored: not verified")
		s.pulls()
		usable(host + "/acme/gitops")
		s.run()
		s.pulls(prodHead + " open")
	})
}

// A push to the mirror triggers the repositories that wait for it.
func TestServe_mirrorTriggers(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", mirrored)
	s.mirror()
	w := serveAs(t, s, serving{quiet: time.Hour, poll: "30d"})
	s.release("web", "1.1.0")
	w.notify("web:1.1.0")
	w.wait(61 * time.Minute)
	w.reconciles()
	s.holds("dev", "1.1.0 1.0.0")
	s.pulls()
	s.copies("web:1.1.0")
	w.send("images", w.expand(fmt.Sprintf(`{"image": "$R/mirror/acme/%s"}`, "web:1.1.0")))
	w.wait(61 * time.Minute)
	w.until("opened")
	w.reconciles()
	s.pulls(prodHead + " open")
	w.stop()
}
