package command_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"promoter/internal/command"
	"promoter/internal/verb"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config/field"
)

func TestRead_forms(t *testing.T) {
	t.Parallel()
	for comment, want := range map[string]command.Command{
		"/promoter hold":                                       {Verb: verb.Hold},
		"/promoter hold the cart is empty":                     {Verb: verb.Hold, Reason: "the cart is empty"},
		"Sorry.\r\n\r\n/promoter hold  the\tcart \r\nis empty": {Verb: verb.Hold, Reason: "the cart"},
		"/promoter Resume":                                     {Verb: verb.Resume},
		"/promoter reject: it leaks":                           {Problem: "unknown command"},
		"/promoter reject it leaks":                            {Verb: verb.Reject, Reason: "it leaks"},
		"/promoter refresh":                                    {Verb: verb.Refresh},
		"/promoter promote prod-eu":                            {Verb: verb.Promote, Environment: "prod-eu"},
		"/promoter explain\n":                                  {Verb: verb.Explain},
		"/promoter\thelp":                                      {Verb: verb.Help},
		"/promoter":                                            {Verb: verb.Help},
		"> /promoter resume\n\n/promoter hold":                 {Verb: verb.Hold},
		"```\n/promoter resume\n```\n/promoter hold":           {Verb: verb.Hold},
		"<!-- a\n/promoter resume\n-->\n/promoter hold":        {Verb: verb.Hold},
		"``` `inline` ```\n/promoter hold":                     {Verb: verb.Hold},
		"/promoter hold <!-- a -->":                            {Verb: verb.Hold},
		"/promoter hold a <!-- b\nc --> d":                     {Verb: verb.Hold, Reason: "a"},
		"/promoter reject <!-- why? -->":                       {Verb: verb.Reject, Problem: "reject requires a reason"},
		"/promoter promote prod <!-- --bypass soak b -->":      {Verb: verb.Promote, Environment: "prod"},
		"/promoter promote prod <del> --bypass soak b</del>":   {Problem: "a command is plain text; write it without HTML"},
		"/promoter hold see `web` and [it](https://a.b)":       {Verb: verb.Hold, Reason: "see `web` and [it](https://a.b)"},
		"/promoter hold \xff":                                  {Verb: verb.Hold, Reason: "\uFFFD"},
		"/promoter reject":                                     {Verb: verb.Reject, Problem: "reject requires a reason"},
		"/promoter promote":                                    {Verb: verb.Promote, Problem: "promote requires an environment"},
		"/promoter promote prod now":                           {Verb: verb.Promote, Problem: "promote takes exactly one environment"},
		"/promoter promote Prod":                               {Verb: verb.Promote, Problem: "not a valid environment name"},
		"/promoter promote --bypass":                           {Verb: verb.Promote, Problem: "promote takes no options in a comment; it applies to this pull request"},
		"/promoter promote prod --bypass soak,windows,soak incident 42": {
			Verb: verb.Promote, Environment: "prod", Bypass: []string{"soak", "windows"}, Reason: "incident 42",
		},
		"/promoter rollback --bypass freeze,windows incident 42": {
			Verb: verb.Rollback, Bypass: []string{"freeze", "windows"}, Reason: "incident 42",
		},
		"/promoter rollback --bypass freeze":                     {Verb: verb.Rollback, Problem: "--bypass requires a reason"},
		"/promoter rollback --bypass soak incident":              {Verb: verb.Rollback, Problem: "--bypass takes a list of checks, windows, approvals, freeze, with commas, and then a reason"},
		"/promoter rollback slow --bypass freeze":                {Verb: verb.Rollback, Problem: "--bypass requires a reason"},
		"/promoter rollback slow --bypass freeze again":          {Verb: verb.Rollback, Bypass: []string{"freeze"}, Reason: "again", Problem: "write --bypass before the reason"},
		"/promoter rollback --to 1 slow":                         {Verb: verb.Rollback, Problem: "rollback takes no options in a comment; it applies to this pull request"},
		"/promoter rollback slow":                                {Verb: verb.Rollback, Reason: "slow"},
		"/promoter hold --bypass freeze x":                       {Verb: verb.Hold, Problem: "hold takes no options in a comment; it applies to this pull request"},
		"/promoter promote prod --bypass soak":                   {Verb: verb.Promote, Problem: "--bypass requires a reason"},
		"/promoter promote prod --bypass hold because":           {Verb: verb.Promote, Problem: "--bypass takes a list of soak, healthy, checks, tagged, windows, approvals, freeze, with commas, and then a reason"},
		"/promoter promote prod --bypass":                        {Verb: verb.Promote, Problem: "--bypass takes a list of soak, healthy, checks, tagged, windows, approvals, freeze, with commas, and then a reason"},
		"/promoter hold --env prod":                              {Verb: verb.Hold, Problem: "hold takes no options in a comment; it applies to this pull request"},
		"/promoter refresh please":                               {Verb: verb.Refresh, Problem: "refresh takes no arguments"},
		"/promoter merge":                                        {Problem: "unknown command"},
		"/promoter hold\n/promoter resume":                       {Problem: "a comment can contain only one command; write each command in its own comment"},
		"/promoter hold " + strings.Repeat("a", 1000):            {Problem: "the command is longer than 1000 characters"},
		"~~~ text\n```\n/promoter resume\n~~~~ \n/promoter hold": {Verb: verb.Hold},
	} {
		got, found := command.Read(comment)
		if !found {
			t.Errorf("%q has no command", comment)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", comment, diff)
		}
	}
}

func TestRead_otherText(t *testing.T) {
	t.Parallel()
	for _, comment := range []string{
		"", "hold", "please /promoter hold", " /promoter hold", "    /promoter hold", "> /promoter hold", "- /promoter hold",
		"`/promoter hold`", "/promoters hold", "/promoter-hold", "//promoter hold", "/PROMOTER hold", "promoter hold",
		"```\n/promoter hold\n```", "```sh\n/promoter hold", "   ~~~\n/promoter hold\n~~", "````\n```\n/promoter hold\n````",
		"<!--\n/promoter hold\n-->", "a <!-- b\n/promoter hold -->", "<!-- a --> <!--\n/promoter hold\n--> <!-- b",
	} {
		if got, found := command.Read(comment); found {
			t.Errorf("%q has the command %+v", comment, got)
		}
	}
}

func TestCommand_String(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"hold", "hold the cart is empty", "promote prod-eu", "promote prod --bypass soak,checks incident 42", "rollback --bypass freeze incident 42", "rollback slow", "reject it leaks", "help"} {
		if got, _ := command.Read("/promoter " + text); got.String() != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// FuzzRead checks for any comment that the command is limited, one line, and the same when it is
// read again, and that no reader sees a command in what is quoted or code.
func FuzzRead(f *testing.F) {
	for _, comment := range []string{
		"/promoter hold because", "/promoter promote prod", "```\n/promoter hold\n```", "<!--\n/promoter hold\n-->", "~~~\r\n/promoter\r\n",
		"/promoter hold \xff\u2028", "/promoter reject <!-- -->", "/promoter\n/promoter", "> a\n/promoter hold", ">>>\n/promoter hold\n>>>",
		"<details>\n\n/promoter hold\n\n</details>", "a | b\n- | -\n/promoter hold", "$$\n/promoter hold\n$$", "a\n: b\n/promoter hold",
		"[^1]: a\n/promoter hold\n\n[^1]", "[a]: /b '\n/promoter hold\n'", "- a\n/promoter hold", "---\n/promoter hold\n---", "a\r/promoter hold",
		"\\[\n/promoter hold\n\\]", "</blockquote>\n\n/promoter hold", "<div><!--\n\n/promoter hold\n\n--></div>", "a `\n/promoter hold\n`",
	} {
		f.Add(comment)
	}
	f.Fuzz(func(t *testing.T, comment string) {
		got, found := command.Read(comment)
		if !found && !reflect.DeepEqual(got, command.Command{}) || found && !strings.Contains(comment, "/promoter") {
			t.Fatalf("%q: %+v, %v", comment, got, found)
		}
		if !utf8.ValidString(got.Reason) || strings.ContainsAny(got.Reason, "\r\n") || len(got.Reason) > 1000 {
			t.Fatalf("%q has the reason %q", comment, got.Reason)
		}
		if got.Environment != "" && !field.ValidName(got.Environment) {
			t.Fatalf("%q is about %q", comment, got.Environment)
		}
		for how, hidden := range map[string]string{"quoted": quoted(comment), "in a fence": fenced(comment)} {
			if got, found := command.Read(hidden); found {
				t.Fatalf("%q, which is %s, has the command %+v", hidden, how, got)
			}
		}
		if !found || got.Problem != "" {
			return
		}
		if again := command.Parse(got.String()); !reflect.DeepEqual(again, got) {
			t.Fatalf("%q is %+v, and that is %+v", comment, got, again)
		}
	})
}

// quoted returns a comment as forges quote it in a reply.
func quoted(comment string) string {
	lines := strings.NewReplacer("\r\n", "\n> ", "\r", "\n> ", "\n", "\n> ")
	return "> " + lines.Replace(comment)
}

// fenced returns a comment as code.
func fenced(comment string) string {
	fence := "```"
	for strings.Contains(comment, fence) {
		fence += "`"
	}
	return fence + "\n" + comment + "\n" + fence
}
