package app_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/database"
)

// ending identifies the transaction at the end of a reconciliation.
const ending = "insert into repository ("

// commits are the transactions of a service that may write, each as its statements.
type commits struct {
	ended chan struct{} // a reconciliation ended

	mutex sync.Mutex
	all   [][]string
}

func (c *commits) around(done []database.Statement, commit func() error) error {
	if err := commit(); err != nil {
		return err
	}
	var texts []string
	for _, statement := range done {
		texts = append(texts, statement.Text)
	}
	c.mutex.Lock()
	c.all = append(c.all, texts)
	c.mutex.Unlock()
	if mentions(texts, ending) {
		c.ended <- struct{}{}
	}
	return nil
}

// until waits for the end of a reconciliation.
func (c *commits) until(t *testing.T) {
	t.Helper()
	select {
	case <-c.ended:
	case <-time.After(patience):
		t.Fatal("no reconciliation ended")
	}
}

func mentions(texts []string, part string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, part) })
}

// The first reconciliation writes the subscriptions of the repository, its schedules,
// and the history. One without changes writes only its time, and reads for that in the
// one transaction in which it writes: a poll may have thousands of them.
func TestServe_idleReconciliationWritesOnlyItsTime(t *testing.T) {
	t.Parallel()
	s, seen := newStory(t, "github", scheduled), &commits{ended: make(chan struct{}, 1000)}
	s.around = seen.around
	w := serve(t, s)
	seen.until(t)
	seen.until(t) // the new subscriptions lead to a second reconciliation
	w.notify("web:1.0.0")
	seen.until(t)
	w.stop()

	first := slices.IndexFunc(seen.all, func(texts []string) bool { return mentions(texts, ending) })
	written := []string{"insert into subscription", "insert into repository_schedule", "insert into history"}
	for _, text := range written {
		if !mentions(seen.all[first], text) {
			t.Errorf("the first reconciliation has no %q", text)
		}
	}
	for _, texts := range seen.all[first+1:] {
		for _, text := range append(written, "delete from subscription", "delete from repository_schedule") {
			if mentions(texts, text) {
				t.Errorf("one without changes has %q:\n%s", text, strings.Join(texts, "\n"))
			}
		}
		if (mentions(texts, "from subscription where repository") || mentions(texts, "from repository_schedule where repository")) && !mentions(texts, ending) {
			t.Errorf("a transaction that may write only reads:\n%s", strings.Join(texts, "\n"))
		}
	}
}
