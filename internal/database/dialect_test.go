package database_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/database"
)

const serverClock = "(extract(epoch from statement_timestamp()) * 1000000)::bigint"

func TestTranslate(t *testing.T) {
	t.Parallel()
	for written, want := range map[string][]string{
		"select 1":        {"select 1", "select 1", "select 1"},
		"a = ? and b = ?": {"a = ?1 and b = ?2", "a = $1 and b = $2", "a = $1 and b = $2"},
		"a = '?' and b = ? or c='it''s ?'": {
			"a = '?' and b = ?1 or c='it''s ?'", "a = '?' and b = $1 or c='it''s ?'", "a = '?' and b = $1 or c='it''s ?'",
		},
		"a < @now and b = ? and c > @now": {
			"a < ?2 and b = ?1 and c > ?2 + now",
			"a < " + serverClock + " and b = $1 and c > " + serverClock,
			"a < $2::bigint and b = $1 and c > $2::bigint + now",
		},
		"@least(a, @greatest(b, c)) @skip_locked": {
			"min(a, max(b, c))", "least(a, greatest(b, c)) for update skip locked", "least(a, greatest(b, c)) for update skip locked",
		},
		"select value->>'a' from @elements(?) where ?": {
			"select value->>'a' from json_each(?1) where ?2",
			"select value->>'a' from jsonb_array_elements(cast($1 as jsonb)) as element(value) where $2",
			"select value->>'a' from jsonb_array_elements(cast($1 as jsonb)) as element(value) where $2",
		},
	} {
		if diff := cmp.Diff(want, database.Translate(written)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", written, diff)
		}
	}
}

// FuzzTranslate: nothing but marks outside of quotes changes, and each gets a
// number of its own.
func FuzzTranslate(f *testing.F) {
	f.Add("a = ? and b = '?' and c = ?")
	f.Add("'?")
	f.Add("'' ? ''")
	f.Fuzz(func(t *testing.T, written string) {
		if strings.ContainsAny(written, "@$") {
			t.Skip("words of the dialects")
		}
		marks, quoted := 0, false
		for _, r := range written {
			switch {
			case r == '\'':
				quoted = !quoted
			case r == '?' && !quoted:
				marks++
			}
		}
		got := database.Translate(written)[1]
		if strings.Count(got, "$") != marks {
			t.Errorf("%q became %q", written, got)
		}
	})
}
