package queue_test

import (
	"bufio"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

// story is the output of a victim until it died.
type story struct{ stored, ran map[string]bool }

// kill runs a victim until it kills itself or has stored the given number of
// triggers.
func kill(t *testing.T, o orders, stored int) story {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), victimVariable+"="+string(text))
	child.Stderr = os.Stderr
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	s := story{map[string]bool{}, map[string]bool{}}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		what, key, _ := strings.Cut(lines.Text(), " ")
		map[string]map[string]bool{"stored": s.stored, "ran": s.ran}[what][key] = true
		if o.Point == "" && len(s.stored) == stored {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the victim ended by itself: %v", err)
	}
	return s
}

// createDatabase creates an empty database for victims and returns its location.
func createDatabase(t *testing.T, kind databasetest.Kind) orders {
	t.Helper()
	o := kind.New(t)
	db, err := database.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		_, err := tx.Exec(ctx, "create table evidence (name text primary key)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return orders{Path: o.Path, URL: o.URL.Reveal()}
}

// rest is the work that is left after a victim's death. It also does this work.
type rest struct{ rows, waiting map[string]bool }

func after(t *testing.T, o orders) rest {
	t.Helper()
	begin := time.Now()
	db := databasetest.Open(t, o.database())
	defer func() { _ = db.Close() }()
	q, err := queue.New(t.Context(), db, "heir")
	if err != nil {
		t.Fatal(err)
	}
	left := rest{rowsOf(t, db), map[string]bool{}}
	for {
		var items []queue.Item
		wait := time.Duration(math.MaxInt64)
		for _, suspects := range []bool{false, true} {
			claimed, err := q.Claim(t.Context(), queue.ClaimOptions{Kind: "repository", Limit: 100, Lease: time.Minute, Suspects: suspects})
			if err != nil {
				t.Fatal(err)
			}
			items, wait = append(items, claimed.Items...), min(wait, claimed.Wait)
		}
		if len(items) == 0 && wait == math.MaxInt64 {
			return left // no lease of the victim is left either
		}
		if len(items) > 0 && len(left.waiting) == 0 {
			t.Logf("work goes on after %v", time.Since(begin))
		}
		for _, item := range items {
			left.waiting[item.Key] = true
			if err := q.Done(t.Context(), item, queue.Result{}); err != nil {
				t.Fatal(err)
			}
		}
		if len(items) == 0 {
			<-time.After(min(wait, victimLease)) // of replicas
		}
	}
}

func rowsOf(t *testing.T, db *database.DB) map[string]bool {
	t.Helper()
	rows := map[string]bool{}
	err := db.View(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			name := ""
			err := scan(&name)
			rows[name] = true
			return err
		}, "select name from evidence")
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestCrash_atAnyMomentLosesNoTrigger kills a process that stores triggers and works on
// them, repeatedly on one database. Every acknowledged trigger was worked on or waits; a
// row never exists without its trigger.
func TestCrash_atAnyMomentLosesNoTrigger(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		where := createDatabase(t, kind)
		known := map[string]bool{}
		for i := range 4 {
			where.Prefix = string(rune('a' + i))
			count := 1 + rand.IntN(150)
			s := kill(t, where, count)
			left := after(t, where)
			for key := range s.stored {
				if !left.rows[key] || !s.ran[key] && !left.waiting[key] {
					t.Errorf("after %d triggers: %s was acknowledged; row: %t, ran: %t, waits: %t",
						count, key, left.rows[key], s.ran[key], left.waiting[key])
				}
			}
			for key := range left.rows {
				if !known[key] && !s.ran[key] && !left.waiting[key] {
					t.Errorf("after %d triggers: %s has a row and no trigger", count, key)
				}
				known[key] = true
			}
			// PostgreSQL may complete a commit of the victim after the rows were read.
			for key := range left.waiting {
				known[key] = true
			}
		}
	})
}

// TestCrash_atEveryStageLosesNoTrigger lets a process kill itself at each
// point.
func TestCrash_atEveryStageLosesNoTrigger(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) {
		for _, at := range []point{inTransaction, beforeCommit, afterCommit, acknowledged, claimed, worked} {
			t.Run(string(at), func(t *testing.T) {
				t.Parallel()
				where := createDatabase(t, kind)
				where.Prefix, where.Point = "a", at
				s := kill(t, where, 0)
				left := after(t, where)
				for key := range s.stored {
					if !left.rows[key] || !s.ran[key] && !left.waiting[key] {
						t.Errorf("%s was acknowledged and is lost", key)
					}
				}
				for key := range left.rows {
					if !s.ran[key] && !left.waiting[key] {
						t.Errorf("%s has a row and no trigger", key)
					}
				}
				switch at {
				case inTransaction, beforeCommit:
					if len(left.rows)+len(left.waiting) > 0 {
						t.Errorf("nothing was committed, and there are %v and %v", left.rows, left.waiting)
					}
				case afterCommit, acknowledged: // it may have been processed since
					if len(left.rows) == 0 {
						t.Error("nothing is there of what was committed")
					}
				default:
					if len(left.rows) == 0 || len(left.waiting) == 0 {
						t.Errorf("of what was claimed there are %v and %v", left.rows, left.waiting)
					}
				}
			})
		}
	})
}
