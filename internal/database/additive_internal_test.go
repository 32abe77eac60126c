package database

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// While replicas are replaced, the previous release works with the tables of this one.
func TestMigrations_leaveWhatThePreviousReleaseUses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sqlite", "postgresql"} {
		steps, err := readMigrations(migrations, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps[1:] {
			for _, problem := range incompatible(step) {
				t.Errorf("migration %d, %s, on %s: %s", step.version, step.name, name, problem)
			}
		}
	}
}

var (
	createTable = regexp.MustCompile(`^create table (\w+) \(`)
	createIndex = regexp.MustCompile(`^create (unique )?index \w+ on (\w+) `)
	addColumn   = regexp.MustCompile(`^alter table \w+ add column \w+ \w+(.*)$`)
	insertInto  = regexp.MustCompile(`^insert into (\w+) `)
)

// incompatible returns the statements of a migration that the previous release may not
// tolerate, and why. It permits what is known to be safe, and nothing else: its statements
// name their columns, so they work with tables that have more of them.
func incompatible(step migration) (problems []string) {
	created := map[string]bool{}
	text := comment.ReplaceAllString(strings.Join(step.statements, ";"), "")
	for written := range strings.SplitSeq(text, ";") {
		statement := strings.Join(strings.Fields(written), " ")
		reason := ""
		switch {
		case statement == "":
		case createTable.MatchString(statement):
			created[createTable.FindStringSubmatch(statement)[1]] = true
		case createIndex.MatchString(statement):
			if found := createIndex.FindStringSubmatch(statement); found[1] != "" && !created[found[2]] {
				reason = "the previous release may insert rows that a new unique index refuses"
			}
		case addColumn.MatchString(statement):
			reason = incompatibleColumn(addColumn.FindStringSubmatch(statement)[1])
		case insertInto.MatchString(statement) && created[insertInto.FindStringSubmatch(statement)[1]]:
		default:
			reason = "the previous release runs at the same time, so a migration only creates tables and indexes, adds columns, and fills new tables; " +
				"what is not used anymore is dropped one release later"
		}
		if reason != "" {
			problems = append(problems, fmt.Sprintf("%q: %s", statement, reason))
		}
	}
	return problems
}

// incompatibleColumn returns what is wrong with the constraints of a new column.
func incompatibleColumn(constraints string) string {
	switch {
	case strings.Contains(constraints, "not null") && !strings.Contains(constraints, " default "):
		return "the previous release inserts rows without the new column: it needs a default"
	case regexp.MustCompile(`\b(unique|check|references|primary|generated)\b`).MatchString(constraints):
		return "the previous release may write rows that the new constraint refuses"
	default:
		return ""
	}
}

func TestIncompatible(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]string{
		"-- why\ncreate table a (\n b text not null -- what\n)":       "",
		"create index a_b on a (b)":                                   "",
		"alter table a add column b text not null default ''; -- why": "",
		"alter table a add column b bigint":                           "",
		"alter table a add column b text not null":                    "needs a default",
		"alter table a add column b text unique":                      "constraint refuses",
		"create unique index a_b on a (b)":                            "unique index refuses",
		"drop table a":                                                "one release later",
		"drop index a_b":                                              "one release later",
		"alter table a drop column b":                                 "one release later",
		"alter table a rename to c":                                   "one release later",
		"alter table a alter column b set not null":                   "one release later",
		"insert into a (b) values (1)":                                "one release later",
		"update a set b = 1":                                          "one release later",
		"create table a as select 1 as b":                             "one release later",
	} {
		problems := strings.Join(incompatible(migration{statements: []string{statement}}), "\n")
		if (problems == "") != (want == "") || !strings.Contains(problems, want) {
			t.Errorf("%s: %q, want %q", statement, problems, want)
		}
	}
	filled := migration{statements: []string{"create table a (b text)", "create unique index a_b on a (b)", "insert into a (b) values (1)"}}
	if diff := cmp.Diff([]string(nil), incompatible(filled)); diff != "" {
		t.Errorf("a new table (-want +got):\n%s", diff)
	}
}
