package promotion_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"promoter/internal/promotion"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
)

func TestReadCommand_forms(t *testing.T) {
	t.Parallel()
	for comment, want := range map[string]promotion.Command{
		"/promoter hold":                                         {Verb: promotion.VerbHold},
		"/promoter hold the cart is empty":                       {Verb: promotion.VerbHold, Reason: "the cart is empty"},
		"Sorry.\r\n\r\n/promoter hold  the\tcart \r\nis empty":   {Verb: promotion.VerbHold, Reason: "the cart"},
		"/promoter Resume":                                       {Verb: promotion.VerbResume},
		"/promoter reject: it leaks":                             {Problem: "there is no such command"},
		"/promoter reject it leaks":                              {Verb: promotion.VerbReject, Reason: "it leaks"},
		"/promoter refresh":                                      {Verb: promotion.VerbRefresh},
		"/promoter promote prod-eu":                              {Verb: promotion.VerbPromote, Environment: "prod-eu"},
		"/promoter explain\n":                                    {Verb: promotion.VerbExplain},
		"/promoter\thelp":                                        {Verb: promotion.VerbHelp},
		"/promoter":                                              {Verb: promotion.VerbHelp},
		"> /promoter resume\n\n/promoter hold":                   {Verb: promotion.VerbHold},
		"```\n/promoter resume\n```\n/promoter hold":             {Verb: promotion.VerbHold},
		"<!-- a\n/promoter resume\n-->\n/promoter hold":          {Verb: promotion.VerbHold},
		"``` `inline` ```\n/promoter hold":                       {Verb: promotion.VerbHold},
		"/promoter hold <!-- a -->":                              {Verb: promotion.VerbHold, Reason: "<!-- a -->"},
		"/promoter hold \xff":                                    {Verb: promotion.VerbHold, Reason: "\uFFFD"},
		"/promoter reject":                                       {Verb: promotion.VerbReject, Problem: "reject needs the reason"},
		"/promoter promote":                                      {Verb: promotion.VerbPromote, Problem: "promote needs the environment"},
		"/promoter promote prod now":                             {Verb: promotion.VerbPromote, Problem: "promote takes one environment and nothing else"},
		"/promoter promote Prod":                                 {Verb: promotion.VerbPromote, Problem: "that is no name of an environment"},
		"/promoter promote --bypass":                             {Verb: promotion.VerbPromote, Problem: "promote takes no options here: it is about this pull request"},
		"/promoter hold --env prod":                              {Verb: promotion.VerbHold, Problem: "hold takes no options here: it is about this pull request"},
		"/promoter refresh please":                               {Verb: promotion.VerbRefresh, Problem: "refresh stands alone"},
		"/promoter merge":                                        {Problem: "there is no such command"},
		"/promoter hold\n/promoter resume":                       {Problem: "a comment gives one command, and this one has several: write each in a comment of its own"},
		"/promoter hold " + strings.Repeat("a", 1000):            {Problem: "the command is longer than 1000 characters"},
		"~~~ text\n```\n/promoter resume\n~~~~ \n/promoter hold": {Verb: promotion.VerbHold},
	} {
		got, found := promotion.ReadCommand(comment)
		if !found {
			t.Errorf("%q has no command", comment)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", comment, diff)
		}
	}
}

func TestReadCommand_otherText(t *testing.T) {
	t.Parallel()
	for _, comment := range []string{
		"", "hold", "please /promoter hold", " /promoter hold", "    /promoter hold", "> /promoter hold", "- /promoter hold",
		"`/promoter hold`", "/promoters hold", "/promoter-hold", "//promoter hold", "/PROMOTER hold", "promoter hold",
		"```\n/promoter hold\n```", "```sh\n/promoter hold", "   ~~~\n/promoter hold\n~~", "````\n```\n/promoter hold\n````",
		"<!--\n/promoter hold\n-->", "a <!-- b\n/promoter hold", "<!-- a --> <!--\n/promoter hold\n--> <!-- b",
	} {
		if got, found := promotion.ReadCommand(comment); found {
			t.Errorf("%q has the command %+v", comment, got)
		}
	}
}

func TestCommand_String(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"hold", "hold the cart is empty", "promote prod-eu", "reject it leaks", "help"} {
		if got, _ := promotion.ReadCommand("/promoter " + text); got.String() != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// FuzzReadCommand holds that whatever stands in a comment, what is read of it is
// bounded, one line, and the same when it is written again.
func FuzzReadCommand(f *testing.F) {
	for _, comment := range []string{
		"/promoter hold because", "/promoter promote prod", "```\n/promoter hold\n```", "<!--\n/promoter hold\n-->", "~~~\r\n/promoter\r\n",
		"/promoter hold \xff\u2028", "/promoter reject <!-- -->", "/promoter\n/promoter",
	} {
		f.Add(comment)
	}
	f.Fuzz(func(t *testing.T, comment string) {
		got, found := promotion.ReadCommand(comment)
		if !found && got != (promotion.Command{}) || found && !strings.Contains(comment, "/promoter") {
			t.Fatalf("%q: %+v, %v", comment, got, found)
		}
		if !utf8.ValidString(got.Reason) || strings.ContainsAny(got.Reason, "\r\n") || len(got.Reason) > 1000 {
			t.Fatalf("%q has the reason %q", comment, got.Reason)
		}
		if got.Environment != "" && !config.ValidName(got.Environment) {
			t.Fatalf("%q is about %q", comment, got.Environment)
		}
		if !found || got.Problem != "" {
			return
		}
		if again, _ := promotion.ReadCommand("/promoter " + got.String()); again != got {
			t.Fatalf("%q is %+v, and that is %+v", comment, got, again)
		}
	})
}
