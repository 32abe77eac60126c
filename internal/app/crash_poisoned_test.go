package app_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"promoter/internal/database/databasetest"
)

// poisoned is the config of a repository whose reconciliation ends the process: it reads
// an image whose registry kills it.
const poisoned = `version: 1
components:
  bomb: {image: $R/acme/bomb, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.yaml"], land: push}
`

// Each reconciliation of one repository kills the process. It is retried later each
// time, and other repositories are promoted. When it is repaired, it recovers.
func TestServe_setsAPoisonedRepositoryAside(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		m := newMortal(t, kind, chain, "1h")
		m.forge.NewRepository("acme/poison", map[string]string{
			".promoter.yaml": m.expand(poisoned), "dev/bomb.yaml": m.expand("image: $R/acme/bomb:1.0.0\n"),
		}).Settings.Permit("promoter-bot", "write")
		m.release("bomb", "1.0.0")
		m.registry.Wrap(func(registry http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.URL.Path, "acme/bomb") {
					process := m.present()
					process.strike()
					process.waitDead()
				}
				registry.ServeHTTP(w, r)
			})
		})
		file, err := os.ReadFile(m.orders.File)
		if err != nil {
			t.Fatal(err)
		}
		both := strings.Replace(string(file), "repositories:\n", "repositories:\n  - {forge: forge, name: acme/poison}\n", 1)
		if err := os.WriteFile(m.orders.File, []byte(both), 0o600); err != nil {
			t.Fatal(err)
		}
		m.orders.FirstCrash = 2 * time.Second
		m.start(m.orders)
		for i, version := range []string{"1.1.0", "1.2.0", "1.3.0"} {
			m.release("web", version)
			m.until(func([]entry) bool {
				m.post(m.pushedImages(version, version, "web"))
				return strings.Contains(m.repo.Git.Run("show", "main:dev/shop.yaml"), "web:"+version) && m.starts > i+1
			})
		}
		crashes := 0
		count := func(scan func(...any) error) error { return scan(&crashes) }
		m.each(t, "select max(crashes) from work", count)
		if crashes < 2 {
			t.Errorf("%d crashes are counted of %d processes", crashes, m.starts)
		}
		m.registry.Wrap(func(registry http.Handler) http.Handler { return registry })
		m.settle()
		m.each(t, "select max(crashes) from work", count)
		if crashes != 0 {
			t.Errorf("%d crashes after it recovered", crashes)
		}
		m.process.end()
	})
}
