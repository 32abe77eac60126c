package app_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// scheduled reads web at six in the morning, and worker with each poll.
var scheduled = strings.Replace(reviewed,
	`web: {image: $R/acme/web, select: {semver: ">=1"}}`,
	`web: {image: $R/acme/web, select: {semver: ">=1"}, poll: {schedule: "0 6 * * *", timeZone: Europe/Berlin}}`, 1)

// untilSix is the time until six in Berlin, in winter.
func (s *story) untilSix() time.Duration {
	now := s.clock.Now().UTC()
	six := time.Date(now.Year(), now.Month(), now.Day(), 5, 0, 0, 0, time.UTC)
	if !six.After(now) {
		six = six.AddDate(0, 0, 1)
	}
	return six.Sub(now)
}

// A component with a schedule: reconciliations in between use the cached tags. A
// webhook about the image invalidates them, and the schedule lets them be read once.
func TestServe_scheduleReadsTags(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", scheduled)
	w := serveAs(t, s, serving{quiet: -1, poll: "5m"})
	s.release("web", "1.1.0")
	s.release("worker", "1.1.0")
	w.registry.Forget()
	w.wait(6 * time.Minute)
	w.until("opened")
	w.until("reconciled")
	s.holds("dev", "1.0.0 1.1.0")
	if web, worker := s.listed("acme/web"), s.listed("acme/worker"); web != 0 || worker != 1 {
		t.Errorf("with the poll the tags of web were read %d times, of worker %d times", web, worker)
	}
	w.notify("web:1.1.0")
	w.until("reconciled")
	s.holds("dev", "1.1.0 1.1.0")
	if n := s.listed("acme/web"); n != 1 {
		t.Errorf("for the webhook the tags of web were read %d times", n)
	}
	s.release("web", "1.2.0")
	w.registry.Forget()
	w.wait(s.untilSix())
	w.until("schedule triggered")
	s.untilWeb(w, "1.2.0")
	if n := s.listed("acme/web"); n != 1 {
		t.Errorf("for the schedule the tags of web were read %d times", n)
	}
	w.stop()
}

// versionsOf are those of web and worker in an environment.
func (s *story) versionsOf(environment string) string {
	text := s.repo.Git.Run("show", "main:"+environment+"/shop.yaml")
	var found []string
	for _, component := range []string{"web", "worker"} {
		for version := range s.digests {
			if strings.HasPrefix(version, component+":") && strings.Contains(text, s.line(version)) {
				found = append(found, strings.TrimPrefix(version, component+":"))
			}
		}
	}
	return strings.Join(found, " ")
}

// A restart does not read again what a schedule has read, and a time of the schedule
// that passed meanwhile fires once.
func TestServe_schedulesOutliveTheProcess(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", scheduled)
	w := serveAs(t, s, serving{quiet: -1, poll: "1h"})
	restart := func(after time.Duration) {
		t.Helper()
		w.stop()
		s.release("worker", fmt.Sprintf("1.%d.0", s.clock.Now().Unix())) // what has no schedule is read at a start
		w.registry.Forget()
		s.wait(after)
		w = serveAs(t, s, serving{quiet: -1, poll: "1h"})
	}
	s.release("web", "1.1.0")
	restart(time.Minute)
	for s.listed("acme/worker") == 0 {
		w.until("reconciled")
	}
	if web, worker := s.listed("acme/web"), s.listed("acme/worker"); web != 0 || worker != 1 {
		t.Errorf("after a restart the tags of web were read %d times, of worker %d times", web, worker)
	}
	restart(s.untilSix() + 50*time.Hour)
	s.untilWeb(w, "1.1.0")
	if n := s.listed("acme/web"); n != 1 {
		t.Errorf("after two times that were missed the tags of web were read %d times", n)
	}
	restart(time.Minute)
	if n := s.listed("acme/web"); n != 0 {
		t.Errorf("after the next restart the tags of web were read %d times", n)
	}
	w.stop()
}

// untilWeb waits until dev has a version of web.
func (s *story) untilWeb(w *served, version string) {
	s.t.Helper()
	for !strings.HasPrefix(s.versionsOf("dev"), version+" ") {
		w.until("reconciled")
	}
}

// Three repositories follow one image, two of them with the same credential: it is read
// once for each credential and poll, however often each repository is reconciled.
func TestServe_readsOncePerCredential(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	for _, name := range []string{"acme/more", "other/gitops"} {
		s.forge.NewRepository(name, s.tree(reviewed, "web:1.0.0", "worker:1.0.0")).Settings.Permit("promoter-bot", "write")
	}
	file := s.write("served.yaml", fmt.Sprintf(`version: 1
data: %q
poll: 5m
forges:
  forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}
repositories: [{forge: forge, name: acme/gitops}, {forge: forge, name: acme/more}, {forge: forge, name: other/gitops}]
receivers:
  images: {kind: generic, secret: "env:HOOK", header: X-Signature}
networks: [127.0.0.0/8]
registries:
  - {host: "$R", insecure: true, credentials: {username: robot, password: "env:HOOK"}, usableBy: ["%s/acme/*"]}
`, filepath.Join(s.dir, "data"), s.forge.URL(), s.forge.Host()))
	w := serveFile(t, s, -1, file)
	for period := range 3 {
		for s.listed("acme/web") < 2 {
			w.until("reconciled")
		}
		if n := s.listed("acme/web"); n != 2 {
			t.Errorf("period %d: the tags of web were read %d times, for two rights", period, n)
		}
		w.registry.Forget()
		if period == 1 { // the same webhook twice: once more for each credential
			for n := range 2 {
				w.notify("web:1.0.0")
				for s.listed("acme/web") < 2*(n+1) {
					w.until("reconciled")
				}
			}
			if n := s.listed("acme/web"); n != 4 {
				t.Errorf("for two webhooks the tags of web were read %d times, for two rights", n)
			}
			w.registry.Forget()
		}
		w.wait(6 * time.Minute)
	}
	w.stop()
}
