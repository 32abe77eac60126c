package app_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"promoter/internal/decision"
	"promoter/internal/scm/forgetest"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// What a user pushes to the state branch counts as the table states: with seals, only what stops more.
func TestEntrances_ofTheStateBranch(t *testing.T) {
	t.Parallel()
	table := stateTable(t)
	entrancesCover(t, table.title, decisionWords(), table.whats())
	counted := map[string]map[string]bool{}
	for principal, more := range map[string]string{
		"sealed": `seal: {keys: ["env:SEAL"]}`, "unsealed": "", "protected": `seal: {keys: ["env:SEAL"], protected: ["*/acme/gitops"]}`,
	} {
		counted[principal] = pushState(t, more)
	}
	table.compare(t, func(row entranceRow, principal string) string {
		if counted[principal][row.what] {
			return answerYes
		}
		return answerIgnored
	})
}

// pushState pushes each decision to the state branch of a repository, and returns which of them count after a run. A
// bypass counts if it leads to a pull request: ada may bypass the soak of staging. That of a rollback counts if it
// lands in dev although that is frozen.
func pushState(t *testing.T, more string) map[string]bool {
	t.Helper()
	s := newStory(t, "github", strings.Replace(reviewed, "after: [dev]", "after: {dev: {soak: 24h}}", 1))
	file := s.serverFile("state.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()),
		fmt.Sprintf("data: %q\nrepositories: [{forge: forge, name: acme/gitops}]\nbypass: [{conditions: [soak, freeze], who: [ada]}]\n%s", filepath.Join(s.dir, "data"), more))
	s.server = connected(t, file, environ("TOKEN", s.token, "SEAL", strings.Repeat("0123456789", 4)), s.clock.Now)
	before := s.repo.Git.Commit("ada", "main", "Another application", map[string]string{
		"dev/cart.yaml": s.manifest("web:1.0.0"), "staging/cart.yaml": s.manifest("web:1.0.0"),
	})
	s.releaseAndRun("web", "1.1.0")
	s.run()
	s.decide(decision.Decision{Verb: verb.Hold, Environment: "staging", Application: "shop", Reason: "base-hold"})
	s.decide(decision.Decision{Verb: verb.Freeze, Environment: "prod", Reason: "base-freeze"})
	s.run()
	act := func(what string) string {
		return fmt.Sprintf(`"by": {"host": %q, "login": "ada"}, "at": %q, "reason": "pushed-%s"`, s.forge.Host(), s.clock.Now().UTC().Format("2006-01-02T15:04:05Z"), what)
	}
	image := s.expand("$R/acme/web:1.0.0@") + s.digests["web:1.0.0"]
	s.repo.Git.Commit("mallory", state.Branch, "Decide", map[string]string{
		"dev/shop.json": `{"schema": 1, "hold": {` + act("hold") + `}}`,
		"dev/_all.json": `{"schema": 1, "freeze": {` + act("freeze") + `}}`,
		"dev/blog.json": `{"schema": 1, "rejections": [{` + act("reject") + fmt.Sprintf(`, "images": {"web": %q}}]}`, image),
		"dev/cart.json": `{"schema": 1, "hold": {` + act("back") + `}, "rollback": {` + act("back") +
			fmt.Sprintf(`, "images": {"web": %q}, "commit": %q, "bypass": ["freeze"]}}`, image, before),
		"prod/blog.json":     `{"schema": 1, "request": {` + act("promote") + `}}`,
		"staging/cart.json":  `{"schema": 1, "request": {` + act("bypass") + `, "bypass": ["soak"]}}`,
		"staging/blog.json":  `{"schema": 1, "rollback": {` + act("rollback") + fmt.Sprintf(`, "images": {"web": %q}, "commit": %q}}`, image, strings.TrimSpace(s.repo.Git.Run("rev-parse", "main"))),
		"staging/shop.json":  `{"schema": 1}`,
		"prod/_all.json":     `{"schema": 1}`,
		"staging/other.json": `{"schema": 1, "unrejections": [{` + act("unreject") + fmt.Sprintf(`, "images": {"web": %q}}]}`, image),
	})
	s.pass()
	bypassed := slices.ContainsFunc(s.repo.Pulls.All(), func(pull forgetest.PullState) bool { return pull.Head == "promoter/staging/cart" })
	returned := strings.Contains(s.repo.Git.Run("show", "main:dev/cart.yaml"), s.line("web:1.0.0"))
	now := s.repo.Git.Run("grep", "-h", "reason", state.Branch)
	return map[string]bool{
		"hold": strings.Contains(now, "pushed-hold"), "freeze": strings.Contains(now, "pushed-freeze"), "reject": strings.Contains(now, "pushed-reject"),
		"promote": strings.Contains(now, "pushed-promote"), "unreject": strings.Contains(now, "pushed-unreject"), "bypass": bypassed,
		"rollback with bypass": returned,
		"rollback":             strings.Contains(now, "pushed-rollback"), "resume": !strings.Contains(now, "base-hold"), "thaw": !strings.Contains(now, "base-freeze"),
	}
}
