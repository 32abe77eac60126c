package app_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"promoter/internal/api"
	"promoter/internal/app"
	"promoter/internal/queue"
)

// A registry or forge fails for ten seconds, in which webhooks arrive. Within a minute
// after that, everything is done. Until then the status has a reason.
func TestServe_recoversWithinAMinute(t *testing.T) {
	t.Parallel()
	registry := func(handler http.HandlerFunc) func(*story) (end func()) {
		return func(s *story) func() {
			s.registry.Replace(handler)
			return func() { s.registry.Replace(nil) }
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "the test forbids it", code) }
	}
	forge := func(route string, code int) func(*story) func() {
		return func(s *story) func() {
			for range 1000 {
				s.forge.Fail(route, code, "the test forbids it")
			}
			return s.forge.Traffic.Recover
		}
	}
	for name, begin := range map[string]func(*story) (end func()){
		"registry 401": registry(status(http.StatusUnauthorized)),
		"registry 403": registry(status(http.StatusForbidden)),
		"registry 500": registry(status(http.StatusInternalServerError)),
		"registry page": registry(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>maintenance</html>")) // it is a test
		}),
		"registry without an answer": registry(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
		"Git 401":                    forge("GIT", http.StatusUnauthorized),
		"Git 403":                    forge("GIT", http.StatusForbidden),
		"push refused":               forge("GIT receive-pack", http.StatusForbidden),
		"Git 500":                    forge("GIT", http.StatusInternalServerError),
		"forge 401":                  forge("/repos", http.StatusUnauthorized),
		"forge 403":                  forge("/repos", http.StatusForbidden),
		"forge 500":                  forge("/repos", http.StatusInternalServerError),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, "github", reviewed)
			w := s.launch(s.service(), nil, slog.LevelInfo, app.ServeOptions{
				Debounce: -1, CommitHook: s.around, Queue: queue.Options{Poll: 20 * time.Millisecond},
			})
			w.reconciles()
			s.release("web", "1.1.0")
			end := begin(s)
			for range 10 {
				w.notify("web:1.1.0")
				w.wait(time.Second)
			}
			w.rests()
			if one := w.status().Repositories[0]; one.State == api.StateIdle || one.Attempts == 0 || one.LastError+one.Failure == "" || strings.Contains(one.LastError, "defect") || one.NextRun.IsZero() {
				t.Errorf("status: %+v", one)
			}
			end()
			var took time.Duration
			for ; took <= time.Minute; took += 2 * time.Second {
				w.wait(2 * time.Second)
				if w.rests(); len(s.repo.Pulls.All()) == 1 && w.status().Repositories[0].State == api.StateIdle {
					break
				}
			}
			if took > time.Minute {
				t.Errorf("it does not recover: %s", fmt.Sprintf("%+v, %+v", w.status().Repositories, w.status().Backoffs))
			}
			t.Logf("settled after %v", took)
			w.stop()
		})
	}
}
