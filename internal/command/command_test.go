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
		"/promoter hold <!-- a -->":                            {Verb: verb.Hold, Reason: "<!-- a -->"},
		"/promoter hold \xff":                                  {Verb: verb.Hold, Reason: "\uFFFD"},
		"/promoter reject":                                     {Verb: verb.Reject, Problem: "reject requires a reason"},
		"/promoter promote":                                    {Verb: verb.Promote, Problem: "promote requires an environment"},
		"/promoter promote prod now":                           {Verb: verb.Promote, Problem: "promote takes exactly one environment"},
		"/promoter promote Prod":                               {Verb: verb.Promote, Problem: "not a valid environment name"},
		"/promoter promote --bypass":                           {Verb: verb.Promote, Problem: "promote takes no options in a comment; it applies to this pull request"},
		"/promoter promote prod --bypass soak,windows,soak incident 42": {
			Verb: verb.Promote, Environment: "prod", Bypass: []string{"soak", "windows"}, Reason: "incident 42",
		},
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
		"<!--\n/promoter hold\n-->", "a <!-- b\n/promoter hold", "<!-- a --> <!--\n/promoter hold\n--> <!-- b",
	} {
		if got, found := command.Read(comment); found {
			t.Errorf("%q has the command %+v", comment, got)
		}
	}
}

func TestCommand_String(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"hold", "hold the cart is empty", "promote prod-eu", "promote prod --bypass soak,checks incident 42", "reject it leaks", "help"} {
		if got, _ := command.Read("/promoter " + text); got.String() != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// FuzzRead checks for any comment that the commands are limited, one line, and the same when it is written again.
func FuzzRead(f *testing.F) {
	for _, comment := range []string{
		"/promoter hold because", "/promoter promote prod", "```\n/promoter hold\n```", "<!--\n/promoter hold\n-->", "~~~\r\n/promoter\r\n",
		"/promoter hold \xff\u2028", "/promoter reject <!-- -->", "/promoter\n/promoter",
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
		if !found || got.Problem != "" {
			return
		}
		if again, _ := command.Read("/promoter " + got.String()); !reflect.DeepEqual(again, got) {
			t.Fatalf("%q is %+v, and that is %+v", comment, got, again)
		}
	})
}
