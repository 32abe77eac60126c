package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The answers of entrances. Any other text is what an entrance should never answer.
const (
	answerYes     = "yes"     // it is done or shown
	answerNo      = "no"      // refused, although it exists
	answerSecret  = "secret"  // another credential is needed
	answerSignIn  = "sign-in" // a browser is led to the page that begins a session
	answerAbsent  = "absent"  // as what does not exist
	answerUnclear = "unclear" // a command that is not understood
	answerIgnored = "ignored" // nothing happens
	notAsked      = "-"       // there is no such request
)

// What a request is about, and which scope its principal has for that: see scopeOf.
const (
	aboutEverything  = "everything"  // all of a repository; the scope has no limits
	aboutInside      = "inside"      // what the scope names
	aboutMore        = "more"        // also what it does not name
	aboutEnvironment = "environment" // another one than the scope names
	aboutApplication = "application" // the same
	aboutRepository  = "repository"  // the same
	aboutOutside     = "outside"     // each of the three
)

// entranceTable is who may do what through an entrance. Each row has one answer for each principal.
// What entrances answer is written here alone: tests execute each row, and the page about security is
// written from it (entrances_page_test.go).
type entranceTable struct {
	title      string
	principals []string
	rows       []entranceRow
}

type entranceRow struct {
	what, about string
	answers     map[string]string // by principal
}

// newEntranceTable reads a table as it is written below. The first line has the principals.
func newEntranceTable(t *testing.T, title, text string) entranceTable {
	t.Helper()
	table := entranceTable{title: title}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		parts := strings.Split(line, "|")
		if len(parts) != 3 {
			t.Fatalf("%s: %q", title, line)
		}
		words := strings.Fields(parts[2])
		if table.principals == nil {
			table.principals = words
			continue
		}
		if len(words) != len(table.principals) {
			t.Fatalf("%s: %d answers, want %d: %q", title, len(words), len(table.principals), line)
		}
		row := entranceRow{what: strings.TrimSpace(parts[0]), about: strings.TrimSpace(parts[1]), answers: map[string]string{}}
		for i, principal := range table.principals {
			row.answers[principal] = words[i]
		}
		table.rows = append(table.rows, row)
	}
	return table
}

// whats returns what the rows of a table are about, each once.
func (table entranceTable) whats() (all []string) {
	for _, row := range table.rows {
		all = append(all, row.what)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// compare executes each row of a table, one after the other: what one records, the next one may not.
func (table entranceTable) compare(t *testing.T, execute func(row entranceRow, principal string) string) {
	t.Helper()
	for _, row := range table.rows {
		for _, principal := range table.principals {
			want := row.answers[principal]
			if want == notAsked {
				continue
			}
			t.Run(fmt.Sprintf("%s %s, about %s, as %s", table.title, row.what, row.about, principal), func(t *testing.T) {
				if got := execute(row, principal); got != want {
					t.Errorf("%s, want %s", got, want)
				}
			})
		}
	}
}

// entrancesCover fails for what exists and has no row, and for rows of what does not exist.
func entrancesCover(t *testing.T, title string, exist, rows []string) {
	t.Helper()
	for _, one := range exist {
		if !slices.Contains(rows, one) {
			t.Errorf("%s: %q has no row in the table of entrances: write who may use it", title, one)
		}
	}
	for _, one := range rows {
		if !slices.Contains(exist, one) {
			t.Errorf("%s: %q has a row, and does not exist", title, one)
		}
	}
}

// The principals of requests over HTTP:
//   - nothing: no credential, and nothing is public
//   - public: no credential, with api.public
//   - badge, hook, health, poster: the token of a badge, and the secrets of a receiver, of one of the kind evidence,
//     and of one that may post snapshots
//   - read, evidence, operate, admin: tokens with the role; admin without limits is api.token
//   - u:read, u:operate, u:admin: users with the role, whose login on the forge may write
//   - u:reader, u:unknown: users with the role operate whose login may only read, and with admin without a login
//
// A dashboard signs tokens in: others lead to the sign-in.

// apiTable is the HTTP API below /api/v1.
func apiTable(t *testing.T) entranceTable {
	t.Helper()
	return newEntranceTable(t, "HTTP API", `
what         | about       | nothing public badge  hook   health poster read   evidence operate admin  u:read u:operate u:admin u:reader u:unknown
read         | inside      | secret  yes    secret secret secret secret yes    yes      yes     yes    yes    yes       yes     yes      yes
read         | outside     | secret  absent secret secret secret secret absent absent   absent  absent absent absent    absent  absent   absent
hold         | everything  | secret  secret secret secret secret secret no     no       yes     yes    no     yes       yes     no       no
hold         | inside      | secret  secret secret secret secret secret no     no       yes     yes    no     yes       yes     no       no
hold         | more        | secret  secret secret secret secret secret no     no       no      no     no     no        no      no       no
hold         | environment | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
hold         | application | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
hold         | repository  | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
resume       | everything  | secret  secret secret secret secret secret no     no       yes     yes    no     yes       yes     no       no
resume       | inside      | secret  secret secret secret secret secret no     no       yes     yes    no     yes       yes     no       no
resume       | more        | secret  secret secret secret secret secret no     no       no      no     no     no        no      no       no
resume       | environment | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
resume       | application | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
resume       | repository  | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
promote      | inside      | secret  secret secret secret secret secret no     no       yes     yes    no     yes       yes     no       no
promote      | environment | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
promote      | application | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
promote      | repository  | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
reject       | everything  | secret  secret secret secret secret secret no     no       yes     yes    no     yes       yes     no       no
reject       | inside      | secret  secret secret secret secret secret no     no       yes     yes    no     yes       yes     no       no
reject       | more        | secret  secret secret secret secret secret no     no       no      no     no     no        no      no       no
reject       | environment | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
reject       | application | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
reject       | repository  | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
unreject     | everything  | secret  secret secret secret secret secret no     no       yes     yes    no     yes       yes     no       no
unreject     | inside      | secret  secret secret secret secret secret no     no       yes     yes    no     yes       yes     no       no
unreject     | more        | secret  secret secret secret secret secret no     no       no      no     no     no        no      no       no
unreject     | environment | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
unreject     | application | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
unreject     | repository  | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
rollback     | inside      | secret  secret secret secret secret secret no     no       yes     yes    no     yes       yes     no       no
rollback     | environment | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
rollback     | application | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
rollback     | repository  | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
freeze       | everything  | secret  secret secret secret secret secret no     no       yes     yes    no     yes       yes     no       no
freeze       | inside      | secret  secret secret secret secret secret no     no       yes     yes    no     yes       yes     no       no
freeze       | more        | secret  secret secret secret secret secret no     no       no      no     no     no        no      no       no
freeze       | application | secret  secret secret secret secret secret no     no       no      no     no     no        no      no       no
freeze       | environment | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
freeze       | repository  | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
thaw         | everything  | secret  secret secret secret secret secret no     no       yes     yes    no     yes       yes     no       no
thaw         | inside      | secret  secret secret secret secret secret no     no       yes     yes    no     yes       yes     no       no
thaw         | more        | secret  secret secret secret secret secret no     no       no      no     no     no        no      no       no
thaw         | application | secret  secret secret secret secret secret no     no       no      no     no     no        no      no       no
thaw         | environment | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
thaw         | repository  | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
bypass       | inside      | secret  secret secret secret secret secret no     no       no      no     no     yes       no      no       no
rollback with bypass | inside      | secret  secret secret secret secret secret no     no       no      no     no     yes       no      no       no
bypass       | environment | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
rollback with bypass | environment | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
bypass       | repository  | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
rollback with bypass | repository  | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
reconcile    | everything  | secret  secret secret secret secret secret no     no       yes     yes    no     yes       yes     yes      yes
reconcile    | inside      | secret  secret secret secret secret secret no     no       yes     yes    no     yes       yes     yes      yes
reconcile    | repository  | secret  secret secret secret secret secret no     no       absent  absent no     absent    absent  absent   absent
replay       | everything  | secret  secret secret secret secret secret no     no       no      yes    no     no        yes     no       yes
replay       | inside      | secret  secret secret secret secret secret no     no       no      no     no     no        no      no       no
report       | inside      | secret  secret secret secret yes    secret secret yes      secret  secret secret secret    secret  secret   secret
report       | environment | secret  secret secret secret absent secret secret absent   secret  secret secret secret    secret  secret   secret
report       | repository  | secret  secret secret secret absent secret secret absent   secret  secret secret secret    secret  secret   secret
snapshot     | inside      | secret  secret secret secret secret yes    secret secret   secret  secret secret secret    secret  secret   secret
snapshot     | application | secret  secret secret secret secret absent secret secret   secret  secret secret secret    secret  secret   secret
snapshot     | repository  | secret  secret secret secret secret absent secret secret   secret  secret secret secret    secret  secret   secret
description  | inside      | yes     yes    yes    yes    yes    yes    yes    yes      yes     yes    yes    yes       yes     yes      yes
`)
}

// pageTable is the dashboard, with the forms of decisions.
func pageTable(t *testing.T) entranceTable {
	t.Helper()
	const head = `
what         | about       | nothing public  badge   hook    health  poster  read   evidence operate admin  u:read u:operate u:admin u:reader u:unknown
read         | inside      | sign-in yes     sign-in sign-in sign-in sign-in yes    yes      yes     yes    yes    yes       yes     yes      yes
read         | outside     | sign-in absent  sign-in sign-in sign-in sign-in absent absent   absent  absent absent absent    absent  absent   absent
`
	var rows strings.Builder
	rows.WriteString(head)
	for _, verb := range []string{"promote", "hold", "resume", "reject", "unreject", "rollback", "freeze", "thaw"} {
		for _, row := range []string{
			"open form of VERB | inside      | sign-in sign-in sign-in sign-in sign-in sign-in no     no       yes     yes    no     yes       yes     yes      no",
			"VERB              | inside      | sign-in sign-in sign-in sign-in sign-in sign-in no     no       yes     yes    no     yes       yes     no       no",
			"VERB              | environment | sign-in sign-in sign-in sign-in sign-in sign-in absent absent   absent  absent absent absent    absent  absent   absent",
			"VERB              | application | sign-in sign-in sign-in sign-in sign-in sign-in absent absent   absent  absent absent absent    absent  absent   absent",
			"VERB              | repository  | sign-in sign-in sign-in sign-in sign-in sign-in absent absent   absent  absent absent absent    absent  absent   absent",
		} {
			rows.WriteString(strings.ReplaceAll(row, "VERB", verb) + "\n")
		}
	}
	for _, verb := range []string{"freeze", "thaw"} { // for an application: they are about all of an environment
		fmt.Fprintf(&rows, "%s | more | sign-in sign-in sign-in sign-in sign-in sign-in no no no no no no no no no\n", verb)
	}
	return newEntranceTable(t, "Dashboard", rows.String())
}

// openTable is the other routes. The principals send what they have as they do elsewhere, and in the path
// of a badge and of a set-up.
func openTable(t *testing.T) entranceTable {
	t.Helper()
	return newEntranceTable(t, "Other paths", `
what                | about  | nothing public badge  hook   read   operate admin  setup
parts of pages      | inside | yes     yes    yes    yes    yes    yes     yes    yes
sign in             | inside | yes     yes    yes    yes    yes    yes     yes    yes
complete a sign-in  | inside | no      no     no     no     no     no      no     no
begin a session     | inside | secret  secret secret secret yes    yes     yes    secret
end a session       | inside | secret  secret secret secret yes    yes     yes    secret
health of the service | inside | yes   yes    yes    yes    yes    yes     yes    yes
badge               | inside | absent  absent yes    absent absent absent  absent absent
set up a GitHub App | inside | secret  secret secret secret secret secret  secret yes
return from GitHub  | inside | secret  secret secret secret secret secret  secret secret
`)
}

// routesOf has the routes behind what rows are about. The decisions share two routes.
func routesOf() map[string][]string {
	const v1 = "/api/v1"
	reading := []string{"GET " + v1 + "/applications/:application", "GET " + v1 + "/repositories/:repository", "GET " + v1 + "/snapshots/:environment", "GET " + v1 + "/runs/:snapshot"}
	for _, name := range []string{"applications", "where", "repositories", "environments", "promotions", "decisions", "evidence", "deliveries", "status", "history", "metrics", "bindings", "changes"} {
		reading = append(reading, "GET "+v1+"/"+name)
	}
	return map[string][]string{
		"API: read":        reading,
		"API: decide":      {"POST " + v1 + "/decisions"},
		"API: reconcile":   {"POST " + v1 + "/repositories/:repository/reconcile"},
		"API: replay":      {"POST " + v1 + "/replay"},
		"API: report":      {"POST " + v1 + "/evidence"},
		"API: snapshot":    {"POST " + v1 + "/snapshots"},
		"API: description": {"GET " + v1 + "/openapi.yaml"},
		"pages: read": {
			"GET /", "GET /applications/:application", "GET /repositories/:repository", "GET /history", "GET /where", "GET /delivery", "GET /activity", "GET /changes",
		},
		"pages: form":           {"GET /applications/:application/decide"},
		"pages: decide":         {"POST /applications/:application/decide"},
		"parts of pages":        {"GET /static/:file"},
		"sign in":               {"GET /sign-in", "GET /sign-in/oidc"},
		"complete a sign-in":    {"GET /sign-in/callback"},
		"begin a session":       {"POST /sign-in"},
		"end a session":         {"POST /sign-out"},
		"health of the service": {"GET /healthz", "HEAD /healthz", "GET /readyz", "HEAD /readyz"},
		"badge":                 {"GET /badges/:token/:application", "HEAD /badges/:token/:application"},
		"set up a GitHub App":   {"GET /setup/:forge/:secret"},
		"return from GitHub":    {"GET /setup/:forge"},
		"webhooks":              {"POST /webhooks/:receiver", "POST /webhooks/:receiver/:secret"},
	}
}

// commandTable is the command line. The principals are what the command has: the credential of the forge with the
// key of seals (key), the same without the key (no-key), the key with a credential that only reads the repository (reader), and
// with --url a token of the API.
func commandTable(t *testing.T) entranceTable {
	t.Helper()
	return newEntranceTable(t, "Command line", `
what        | about  | key no-key reader read operate admin
hold        | inside | yes yes    no     no   yes     yes
freeze      | inside | yes yes    no     no   yes     yes
reject      | inside | yes yes    no     no   yes     yes
promote     | inside | yes no     no     no   yes     yes
resume      | inside | yes no     no     no   yes     yes
unreject    | inside | yes no     no     no   yes     yes
rollback    | inside | yes no     no     no   yes     yes
thaw        | inside | yes no     no     no   yes     yes
confirm-state | inside | yes no   -      no   no      yes
seals adopt | inside | yes no   -      no   no      yes
bypass      | inside | yes no     no     no   no      no
rollback with bypass | inside | yes no     no     no   no      no
status      | inside | -   -      -      yes  yes     yes
where       | inside | -   -      -      yes  yes     yes
history     | inside | -   -      -      yes  yes     yes
metrics     | inside | -   -      -      yes  yes     yes
replay      | inside | -   -      -      no   no      yes
`)
}

// ownCommands have no entrance of the service: they do what the user of the machine may do, with the files and
// credentials that the user has.
func ownCommands() []string {
	return []string{
		"init", "import", "validate", "plan", "apply", "explain", "run", "simulate", "decisions", "doctor", "app", "serve", "demo", "version", "man",
		"completion", "help",
	}
}

// commentTable is commands in comments on pull requests of an application that an entry of permissions names (inside), of
// one that none names although the entry names applications (outside), and without permissions (everything). The entry names
// one user (named) for hold, resume, and promote. The others: with write access, who may also bypass (writer), who only reads
// (reader), the author of a comment that was edited (edited), a bot with write access (bot), and promoter itself (promoter).
func commentTable(t *testing.T) entranceTable {
	t.Helper()
	return newEntranceTable(t, "Comments", `
what     | about      | writer  reader named   edited  bot     promoter
hold     | everything | yes     no     no      ignored ignored ignored
hold     | inside     | no      no     yes     ignored ignored ignored
hold     | outside    | no      no     yes     ignored ignored ignored
resume   | everything | yes     no     no      ignored ignored ignored
resume   | inside     | no      no     yes     ignored ignored ignored
resume   | outside    | no      no     yes     ignored ignored ignored
unreject | everything | yes     no     no      ignored ignored ignored
unreject | inside     | no      no     yes     ignored ignored ignored
unreject | outside    | no      no     yes     ignored ignored ignored
promote  | everything | yes     no     no      ignored ignored ignored
promote  | inside     | no      no     yes     ignored ignored ignored
promote  | outside    | no      no     yes     ignored ignored ignored
bypass   | everything | yes     no     no      ignored ignored ignored
bypass   | inside     | no      no     no      ignored ignored ignored
bypass   | outside    | no      no     no      ignored ignored ignored
reject   | everything | yes     no     no      ignored ignored ignored
reject   | inside     | yes     no     no      ignored ignored ignored
reject   | outside    | yes     no     no      ignored ignored ignored
refresh  | everything | yes     no     no      ignored ignored ignored
refresh  | inside     | yes     no     yes     ignored ignored ignored
explain  | everything | yes     no     no      ignored ignored ignored
explain  | inside     | yes     no     yes     ignored ignored ignored
help     | everything | yes     no     no      ignored ignored ignored
help     | inside     | yes     no     yes     ignored ignored ignored
rollback | everything | unclear no     no      ignored ignored ignored
rollback | inside     | unclear no     no      ignored ignored ignored
freeze   | everything | unclear no     no      ignored ignored ignored
freeze   | inside     | unclear no     unclear ignored ignored ignored
thaw     | everything | unclear no     no      ignored ignored ignored
thaw     | inside     | unclear no     unclear ignored ignored ignored
`)
}

// stateTable is files that a user pushes to the state branch: with seals whose key the user does not have (sealed), where
// promoter has no key (unsealed), and where seal.protected lists the repository (protected).
func stateTable(t *testing.T) entranceTable {
	t.Helper()
	return newEntranceTable(t, "State branch", `
what     | about  | sealed  unsealed protected
hold     | inside | yes     yes      yes
freeze   | inside | yes     yes      yes
reject   | inside | yes     yes      yes
promote  | inside | ignored yes      yes
bypass   | inside | ignored ignored  yes
rollback | inside | ignored yes      yes
rollback with bypass | inside | ignored ignored  yes
resume   | inside | ignored yes      yes
unreject | inside | ignored yes      yes
thaw     | inside | ignored yes      yes
`)
}

// webhookTable is receivers of each kind: without a credential, with a wrong one, that of another receiver,
// api.token, and its own: where it belongs (own), and where the credential of other kinds is, in the path or in a header (misplaced). A webhook may trigger a reconciliation, and decides nothing.
func webhookTable(t *testing.T, kinds []string) entranceTable {
	t.Helper()
	text := "what | about | nothing wrong other admin misplaced own\n"
	for _, kind := range kinds {
		text += kind + " | inside | secret secret secret secret secret yes\n"
	}
	return newEntranceTable(t, "Webhooks", text)
}

// chatTable is what a reader of a notification can do with it: follow a link to the pull request or the dashboard,
// which asks for a session. Nothing in it decides.
func chatTable(t *testing.T) entranceTable {
	t.Helper()
	return newEntranceTable(t, "Notifications", `
what        | about   | nothing operate
slack       | inside  | sign-in yes
teams       | inside  | sign-in yes
discord     | inside  | sign-in yes
mattermost  | inside  | sign-in yes
email       | inside  | sign-in yes
webhook     | inside  | sign-in yes
cloudevents | inside  | sign-in yes
`)
}
