package pullrequest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/pullrequest"
	"promoter/internal/state"
)

// TestReply_golden holds the comment that answers commands against golden files.
func TestReply_golden(t *testing.T) {
	t.Parallel()
	opens := time.Date(2026, 11, 19, 8, 0, 0, 0, time.UTC)
	waits := propose.Proposal{Step: propose.StepWait, Decisions: []promotion.Decision{{
		Target: promotion.Target{Environment: "prod", Application: "shop"}, State: promotion.Waiting,
		Reason:     promotion.Reason{Message: "staging soak: 3h of 24h", Until: opens},
		Conditions: []promotion.Condition{{Name: "staging soak", State: promotion.Pending, Value: "3h of 24h", Reason: "present since 2026-11-18T08:00:00Z", Until: &opens}},
	}}}
	for name, answers := range map[string][]pullrequest.CommandReply{
		"help": {{Reply: state.Reply{Login: "ann", Command: "help", Reaction: "done", Message: "here you may use hold, help"}}},
		"explain": {{
			Reply:     state.Reply{Login: "ann", Command: "explain", Reaction: "done"},
			Proposals: []propose.Proposal{full().Proposal, waits},
		}},
		"hostile": {
			{Reply: state.Reply{Login: "@ann <!-- x", Command: "promote `x` @all #1", Reaction: "refused", Message: "because of @all, #1 and --> [a](https://b)\n/promoter hold"}},
			{Reply: state.Reply{Login: "ben", Reaction: "unclear", Message: "unknown command"}},
		},
	} {
		text := pullrequest.ReplyBody(answers...)
		path := filepath.Join("testdata", "answer", name+".md")
		if *update {
			if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), text+"\n"); diff != "" {
			t.Errorf("%s (-golden +got):\n%s", name, diff)
		}
		if strings.Contains("\n"+text, "\n/promoter") {
			t.Errorf("%s gives a command:\n%s", name, text)
		}
	}
}

func TestAnswer_emptyIfReactionsAreEnough(t *testing.T) {
	t.Parallel()
	for _, a := range []state.Reply{
		{Login: "ann", Command: "hold", Reaction: "done"}, {Login: "ann", Command: "explain", Reaction: "refused"}, {Login: "ann", Reaction: "unclear"},
	} {
		if text := pullrequest.ReplyBody(pullrequest.CommandReply{Reply: a}); text != "" {
			t.Errorf("%+v is answered: %s", a, text)
		}
	}
}

func TestAnswer_bounded(t *testing.T) {
	t.Parallel()
	var many []pullrequest.CommandReply
	for range 500 {
		many = append(many, pullrequest.CommandReply{Reply: state.Reply{Login: "ann", Command: "promote x", Reaction: "refused", Message: strings.Repeat("ä", 500)}})
	}
	if n := utf8.RuneCountInString(pullrequest.ReplyBody(many...)); n > 65_536 || n < 50_000 {
		t.Errorf("the answer has %d characters", n)
	}
}
