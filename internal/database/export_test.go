package database

import (
	"strings"
	"time"
)

// Waiting is how many wait for a batch.
func Waiting(d *DB) int {
	d.batches.mu.Lock()
	defer d.batches.mu.Unlock()
	return len(d.batches.waiting)
}

// Translate returns a query in the words of SQLite, of PostgreSQL with its own
// clock, and of PostgreSQL with an injected one.
func Translate(written string) []string {
	var all []string
	for _, d := range []dialect{sqliteDialect(), postgresDialect(true), postgresDialect(false)} {
		q := d.translate(written)
		if again := d.translate(written); again != q {
			panic("another translation the second time")
		}
		text := q.text
		if q.now {
			text += " + now"
		}
		all = append(all, strings.Join(strings.Fields(text), " "))
	}
	return all
}

// SetSilence says how long a batch waits for a server that does not answer.
func SetSilence(d *DB, silence time.Duration) { d.silence = silence }
