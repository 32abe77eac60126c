package app_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"promoter/internal/receiver"
)

// pageColumn is a column of a table on the page about security: principals, whose answers are the same or one of them is yes.
type pageColumn struct {
	title      string
	principals []string
}

// pageSection is a table on the page.
type pageSection struct {
	intro   string
	table   entranceTable
	columns []pageColumn
}

// TestEntrances_page compares the section of the page about security with the tables that are executed.
func TestEntrances_page(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "docs", "operate", "security.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- entrances -->\n\n", "\n<!-- /entrances -->"
	before, rest, found := strings.Cut(string(page), begin)
	section, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the tables", file)
	}
	var want strings.Builder
	for i, one := range pageSections(t) {
		if i > 0 {
			want.WriteString("\n")
		}
		want.WriteString("**" + one.table.title + "** " + one.intro + "\n\n" + one.text())
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+want.String()+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := gocmp.Diff(want.String(), section); diff != "" {
		t.Errorf("run go test ./internal/app -run TestEntrances_page -update:\n%s", diff)
	}
}

func pageSections(t *testing.T) []pageSection {
	t.Helper()
	overHTTP := []pageColumn{
		{"no credential", []string{"nothing"}},
		{"`api.public`", []string{"public"}},
		{"receiver", []string{"hook", "health", "poster"}},
		{"`read`", []string{"read", "u:read"}},
		{"`evidence`", []string{"evidence"}},
		{"`operate`", []string{"operate"}},
		{"`admin`", []string{"admin"}},
		{"user, permitted", []string{"u:operate"}},
		{"user, not permitted", []string{"u:reader"}},
	}
	column := func(title, principal string) pageColumn { return pageColumn{title, []string{principal}} }
	kinds := webhookTable(t, receiver.Names())
	for i := range kinds.rows {
		kinds.rows[i].what = "trigger a reconciliation"
	}
	return []pageSection{
		{"with a token, or as a signed-in user. The last two columns are users with the role `operate`, with and without the\n[permission](../commands-in-comments.md#permissions) that a comment needs. Users with `admin` need it too.", apiTable(t), overHTTP},
		{"with a session of such a token or user. The secret of a receiver begins none.", pageTable(t), overHTTP},
		{"need none of these roles. The token of a badge and `app.setup` are parts of the path.", openTable(t), []pageColumn{
			column("no credential", "nothing"), column("token of a badge", "badge"), column("token of the API", "admin"), column("`app.setup`", "setup"),
		}},
		{"with commands on pull requests of promoter. *Named*: an entry of `permissions` names the application and one user in `who`.\n*Others named*: entries name only other applications.", commentTable(t), []pageColumn{
			column("write access", "writer"), column("in `who`", "named"), column("read access", "reader"), column("edited", "edited"),
			{"bot, promoter", []string{"bot", "promoter"}},
		}},
		{"with a server file, or with `--url` and a token. All other commands do what the user of the machine may do.", commandTable(t), []pageColumn{
			column("with the key of seals", "key"), column("without it", "no-key"), column("no write access", "reader"),
			column("`--url`, `read`", "read"), column("`--url`, `operate`", "operate"), column("`--url`, `admin`", "admin"),
		}},
		{"as pushed by a user. A bypass has an effect only if `bypass` permits it to the user of the request.", stateTable(t), []pageColumn{
			column("without the key of the seals", "sealed"), column("promoter has no key", "unsealed"), column("`seal.protected`", "protected"),
		}},
		{"of each kind of receiver. No webhook decides. *Misplaced*: in the path although the receiver expects it in a header, or the reverse.", kinds, []pageColumn{
			column("no credential", "nothing"), {"another credential", []string{"wrong", "other", "admin"}}, column("its own, misplaced", "misplaced"), column("its own", "own"),
		}},
		{"of each kind of destination contain links, and nothing that decides. The table is what the link to the dashboard shows.", chatTable(t), []pageColumn{
			column("no session", "nothing"), column("session", "operate"),
		}},
	}
}

// whatWords are what a row is about, for a reader of the page.
func whatWords(what string) string {
	if strings.HasPrefix(what, "open form of ") {
		return "open the form of a decision"
	}
	return cmp.Or(map[string]string{
		"report": "report health", "snapshot": "post a snapshot", "replay": "replay a delivery", "reconcile": "reconcile a repository", "description": "read the description of the API",
	}[what], what)
}

// aboutWords end what a row is about.
func aboutWords(about string) string {
	switch about {
	case aboutEverything:
		return ", without a scope"
	case aboutMore:
		return ", of more than the scope"
	case aboutInside:
		return ""
	}
	return ", outside of the scope"
}

// text returns the table in Markdown. Rows with the same answers are one.
func (s pageSection) text() string {
	var keys []string
	whats := map[string][]string{}
	for _, row := range s.table.rows {
		what, words := whatWords(row.what), aboutWords(row.about)
		if row.about == aboutApplication && row.answers["operate"] == answerNo {
			words = ", with a scope of applications" // they are about all applications of an environment
		}
		if s.table.title == "Comments" {
			words = map[string]string{aboutEverything: ", without `permissions`", aboutInside: ", named", aboutOutside: ", others named"}[row.about]
		}
		key := words
		for _, column := range s.columns {
			key += " | " + column.answer(row)
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
		if !slices.Contains(whats[key], what) {
			whats[key] = append(whats[key], what)
		}
	}
	var text strings.Builder
	text.WriteString("| |")
	for _, column := range s.columns {
		text.WriteString(" " + column.title + " |")
	}
	text.WriteString("\n|---|" + strings.Repeat("---|", len(s.columns)) + "\n")
	for _, key := range keys {
		text.WriteString("| " + strings.Join(whats[key], ", ") + key + " |\n")
	}
	return text.String()
}

// answer returns the answer of a column: of its principals, that of the one who may do most.
func (c pageColumn) answer(row entranceRow) string {
	words := map[string]string{
		answerYes: "yes", answerNo: "refused", answerSecret: "401", answerSignIn: "sign-in", answerAbsent: "hidden", answerUnclear: "unclear",
		answerIgnored: "ignored", notAsked: "",
	}
	answer := row.answers[c.principals[0]]
	for _, most := range []string{answerAbsent, answerYes} {
		if slices.ContainsFunc(c.principals, func(one string) bool { return row.answers[one] == most }) {
			answer = most
		}
	}
	return words[answer]
}
