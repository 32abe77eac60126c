package client

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
)

// recorder is a screen that remembers what it shows, and when.
type recorder struct {
	start time.Time
	lines []string
}

func (r *recorder) add(text string) {
	r.lines = append(r.lines, fmt.Sprintf("%v %s", time.Since(r.start), text))
}

func (r *recorder) show(state report) error { r.add(fmt.Sprint(state.Total)); return nil }
func (r *recorder) lost(err error)          { r.add(err.Error()) }
func (r *recorder) close() error            { r.add("closed"); return nil }

// A change is shown at once. Without a stream, the state is polled; a service that is gone
// for some time is asked again; Ctrl-C is no error.
func TestWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		shown := &recorder{start: time.Now()}
		reads, streams := 0, 0
		w := watch{
			screen: shown,
			read: func(context.Context) (report, error) {
				if reads++; reads == 3 {
					return report{}, fault.New(fault.Temporary, "gone")
				}
				return report{Total: reads}, nil
			},
			changes: func(ctx context.Context, changed func()) error {
				if streams++; streams == 1 { // two changes, which are one read, and then it breaks
					if !sleep(ctx, 3*time.Second) {
						return nil
					}
					changed()
					changed()
					return errors.New("it broke")
				}
				<-ctx.Done()
				return nil
			},
		}
		time.AfterFunc(25*time.Second, stop)
		if err := w.run(ctx); err != nil {
			t.Error(err)
		}
		want := []string{"0s 1", "3s 2", "4s gone", "14s 4", "24s 5", "25s closed"}
		if diff := cmp.Diff(want, shown.lines); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if streams != 2 {
			t.Errorf("%d streams were opened", streams)
		}
	})
}

// A service that refuses to answer ends the command with the reason, at once or later.
func TestWatch_refused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, refusedAt := range []int{1, 2} {
			shown := &recorder{start: time.Now()}
			reads := 0
			w := watch{
				screen: shown,
				read: func(context.Context) (report, error) {
					if reads++; reads == refusedAt {
						return report{}, fault.New(fault.Unauthorized, "another token")
					}
					return report{}, nil
				},
				changes: func(ctx context.Context, _ func()) error { <-ctx.Done(); return nil },
			}
			if err := w.run(t.Context()); fault.KindOf(err) != fault.Unauthorized || len(shown.lines) != 2*(refusedAt-1) {
				t.Errorf("refused at %d: %v, %q", refusedAt, err, shown.lines)
			}
		}
	})
}
