package reconcile_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/scm"
)

const web, worker = "quay.io/acme/web", "quay.io/acme/worker"

// threeEnvironments is the config of most tests: dev is pushed to, staging has pull
// requests, prod merges
// by itself.
const threeEnvironments = `version: 1
components:
  web: {image: quay.io/acme/web, select: {semver: ">=1"}}
  worker: {image: quay.io/acme/worker, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.txt"], land: push}
  staging: {paths: ["staging/{application}.txt"], after: [dev]}
  prod: {paths: ["prod/{application}.txt"], after: [staging], land: automerge}
`

// files holds web and worker at 1.0.0 everywhere, with their digests.
func files() map[string]string {
	content := web + ":1.0.0@" + reconciletest.Digest("web 1.0.0") + "\n" + worker + ":1.0.0@" + reconciletest.Digest("worker 1.0.0") + "\n"
	return map[string]string{"dev/shop.txt": content, "staging/shop.txt": content, "prod/shop.txt": content}
}

// world is a world in which tests act.
type world struct {
	*reconciletest.World
	t *testing.T
}

func newWorld(t *testing.T, config string) *world {
	t.Helper()
	w := &world{World: reconciletest.New(config, files()), t: t}
	w.push(web, "1.0.0")
	w.push(worker, "1.0.0")
	return w
}

// push releases an image.
func (w *world) push(repository, tag string) {
	name := repository[strings.LastIndex(repository, "/")+1:]
	w.Registry.Push(repository, tag, name+" "+tag, w.Clock.Now().Add(-time.Minute))
}

// pushAndRun reconciles with a new image.
func (w *world) pushAndRun(repository, tag string) outcome.Report {
	w.t.Helper()
	w.push(repository, tag)
	return w.run()
}

// run reconciles; it must not fail.
func (w *world) run() outcome.Report {
	w.t.Helper()
	report, err := w.Reconciler().Reconcile(w.t.Context())
	if err != nil || report.Failed() {
		w.t.Fatalf("the run failed: %v, %+v, %s", err, report.Errors, report.Unusable)
	}
	return report
}

// grouped is a world with a second application, cart, whose environment has one pull
// request for both.
func grouped(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, strings.ReplaceAll(threeEnvironments, "after: [dev]}", "after: [dev], pullRequest: {group: environment}}"))
	w.Git.Commit("main", reconciletest.Human, w.Clock.Now(), "Add an application", func(all map[string]string) {
		for _, environment := range environments() {
			all[environment+"/cart.txt"] = line(worker, "1.0.0") + "\n"
		}
	})
	w.push(web, "1.1.0")
	w.pushAndRun(worker, "1.1.0")
	return w
}

// partial reconciles with one error, which does not end it.
func (w *world) partial() outcome.Report {
	w.t.Helper()
	report, err := w.Reconciler().Reconcile(w.t.Context())
	if err != nil || len(report.Errors) != 1 {
		w.t.Fatal(err, report.Errors)
	}
	return report
}

// failing makes the forge refuse requests of a kind.
func (w *world) failing(what string, err error) {
	w.Forge.Fail = func(call string) error {
		if call == what {
			return err
		}
		return nil
	}
}

// calm reconciles again and checks that nothing is written.
func (w *world) calm() {
	w.t.Helper()
	before, pulls, pushes := w.Git.Branches(), w.Forge.All(), w.Git.Pushes
	calls := maps.Clone(w.Forge.Calls)
	w.run()
	for _, what := range []string{"create", "edit", "status", "merge", "react"} {
		if n := w.Forge.Calls[what] - calls[what]; n > 0 {
			w.t.Errorf("the second run wrote to the forge: %s, %d times", what, n)
		}
	}
	after := w.Git.Branches()
	if w.Git.Pushes != pushes {
		w.t.Errorf("the second run pushed:\n%v\n%v", before, after)
	}
	for i, pr := range w.Forge.All() {
		if i >= len(pulls) || pr.Title != pulls[i].Title || pr.Body != pulls[i].Body || pr.State != pulls[i].State {
			w.t.Errorf("the second run changed pull request #%d", pr.Number)
		}
	}
}

// holds checks the tags in an environment's file, "1.1.0 1.0.0".
func (w *world) holds(environment, want string) {
	w.t.Helper()
	content := w.Git.FilesOf(w.Git.Branch("main"))[environment+"/shop.txt"]
	var tags []string
	for line := range strings.SplitSeq(strings.TrimSpace(content), "\n") {
		_, rest, _ := strings.Cut(line, ":")
		tag, _, _ := strings.Cut(rest, "@")
		tags = append(tags, tag)
	}
	if got := strings.Join(tags, " "); got != want {
		w.t.Errorf("%s holds %s, want %s", environment, got, want)
	}
}

// pulls lists the pull requests, "#1 promoter/staging/shop open".
func (w *world) pulls() []string {
	var all []string
	for _, pr := range w.Forge.All() {
		all = append(all, strings.Join([]string{pr.Head.Branch, string(pr.State)}, " "))
	}
	return all
}

// mergeByHand merges a pull request as a user.
func (w *world) mergeByHand(number int, method string) {
	w.t.Helper()
	if err := w.Forge.MergeByHand(number, method); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) wantPulls(want ...string) {
	w.t.Helper()
	if got := w.pulls(); !slices.Equal(got, want) {
		w.t.Errorf("pull requests:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// pull returns a pull request.
func (w *world) pull(number int) scm.PullRequest { return w.Forge.All()[number-1] }

// reason returns the state of a target and its reason.
func reason(report outcome.Report, environment string) string {
	for _, d := range report.Decisions {
		if d.Environment == environment && d.Application == "shop" {
			return string(d.State) + ": " + d.Reason.Message
		}
	}
	return "no decision"
}

func wantReason(t *testing.T, report outcome.Report, environment string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if got := reason(report, environment); !strings.Contains(got, part) {
			t.Errorf("%s is %q, want %q in it", environment, got, part)
		}
	}
}

// byHand changes one environment's file as a user.
func (w *world) byHand(branch, environment, from, to string) {
	w.t.Helper()
	w.Git.Commit(branch, reconciletest.Human, w.Clock.Now(), "By hand", func(all map[string]string) {
		path := environment + "/shop.txt"
		if !strings.Contains(all[path], from) {
			w.t.Fatalf("%s does not hold %q: %q", path, from, all[path])
		}
		all[path] = strings.ReplaceAll(all[path], from, to)
	})
}

// line is how a file contains a version.
func line(repository, tag string) string {
	return repository + ":" + tag + "@" + reconciletest.Digest(repository[strings.LastIndex(repository, "/")+1:]+" "+tag)
}

func environments() []string { return []string{"dev", "staging", "prod"} }
