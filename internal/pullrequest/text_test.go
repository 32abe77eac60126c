package pullrequest_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/image"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
)

const (
	beginMarker = "<!-- promoter:begin -->"
	endMarker   = "<!-- promoter:end -->"
)

func TestTitle(t *testing.T) {
	t.Parallel()
	shop := func(title string, moves ...promotion.Move) pullrequest.Page {
		p := aPage(map[string][]promotion.Move{"shop": moves})
		p.Environment.PullRequest.Title = title
		return p
	}
	many := []promotion.Move{aMove("a", "1", "2"), aMove("b", "1", "3"), aMove("c", "1", "4"), aMove("d", "1", "5")}
	rollback := shop("", aMove("web", "1.4.2", "1.4.1"))
	rollback.Decisions[0].Reason.Rule = promotion.RuleRollback
	for want, page := range map[string]pullrequest.Page{
		"Promote shop to staging: web 1.4.2":                        shop("", aMove("web", "1.4.1", "1.4.2")),
		"Promote shop to staging: a 2, b 3, c 4 and 1 more":         shop("", many...),
		"Promote shop to staging":                                   shop(""),
		"Roll back shop in staging: web 1.4.1":                      rollback,
		"Promote everything to staging: moving sha256:bbbbbbbbbbbb": moved(),
		"staging: shop web 1.4.2 1.4.2 " + promotiontest.DigestB:    shop("{environment}: {application}  {component} {version} {tag} {digest}\n", aMove("web", "1.4.1", "1.4.2")),
		"a, b, c and 1 more: {unknown}":                             shop("{component}: {unknown}", many...),
	} {
		if got := pullrequest.Title(page); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if subject, _ := pullrequest.CommitMessage(page); subject != want {
			t.Errorf("the subject of the commit is %q, the title %q", subject, want)
		}
	}
}

func TestTitle_atMost250(t *testing.T) {
	t.Parallel()
	p := aPage(map[string][]promotion.Move{"shop": {aMove("web", "1", strings.Repeat("é", 300))}})
	p.Environment.PullRequest.Title = strings.Repeat("é", 240) + " {tag}"
	if n := len([]rune(pullrequest.Title(p))); n != 250 {
		t.Errorf("%d runes", n)
	}
}

func TestBody_truncated(t *testing.T) {
	t.Parallel()
	moves := map[string][]promotion.Move{}
	for i := range 2000 {
		moves[fmt.Sprintf("application-%d", i)] = []promotion.Move{aMove("web", "1.4.1", "1.4.2")}
	}
	body := pullrequest.Body(aPage(moves))
	if n := len([]rune(body)); n > 65_536 || n < 65_000 {
		t.Errorf("%d runes", n)
	}
	if !strings.HasSuffix(body, "*Truncated: the rest exceeds the size of a pull request body.*\n\n"+endMarker) {
		t.Errorf("ends with %q", body[len(body)-200:])
	}
	_, message := pullrequest.CommitMessage(aPage(moves))
	if !strings.HasSuffix(message, "\nand 1950 more") {
		t.Errorf("the commit ends with %q", message[len(message)-50:])
	}
}

// TestBody_sanitizesOutsideText checks every line with text from outside: it contains no
// character that a forge acts on.
func TestBody_sanitizesOutsideText(t *testing.T) {
	t.Parallel()
	body := pullrequest.Body(hostile())
	if strings.Count(body, beginMarker) != 1 || strings.Count(body, endMarker) != 1 || strings.Count(body, "-->") != 3 {
		t.Error("the text holds another end of a comment")
	}
	for line := range strings.Lines(body) {
		for _, found := range []string{"@acme", "#12", "\u202e", "\r"} {
			if strings.Contains(line, found) {
				t.Errorf("%q in %s", found, line)
			}
		}
		if strings.HasPrefix(strings.TrimSpace(line), "/") {
			t.Errorf("a command: %s", line)
		}
		for i, span := range strings.Split(line, "`") {
			if i%2 == 0 && strings.Contains(span, "<img") || i%2 == 0 && strings.Contains(span, "[x](") {
				t.Errorf("markup: %s", line)
			}
		}
	}
	subject, message := pullrequest.CommitMessage(hostile())
	if text := subject + message; strings.Contains(text, "@acme") || strings.Contains(text, "#12") {
		t.Errorf("the commit says %q", text)
	}
}

// FuzzBody puts any text wherever text from outside goes.
func FuzzBody(f *testing.F) {
	f.Add("Fix #1 for @ann | `x` <b> -->", "https://example.com/a...b")
	f.Add("a\n/close\n<!-- promoter:end -->", "https://x/\n@y")
	f.Add(strings.Repeat("`", 200), "javascript:alert(1)")
	f.Add("<!-->", "") // a comment that ends where it begins
	f.Fuzz(func(t *testing.T, text, address string) {
		p := full()
		d := &p.Decisions[0]
		d.Moves[1].To.Tag, d.Moves[1].From.Tag, d.Reason.Message = text, "x"+text, text
		d.Conditions[0] = promotion.Condition{Name: text, State: promotion.Passed, Value: text, Reason: text}
		for span := range p.Commits {
			p.Commits[span] = scm.Comparison{Commits: []scm.Commit{{ID: text, Message: text}}, URL: address}
		}
		body := pullrequest.Body(p)
		if strings.Count(body, "<!--") != 3 || strings.Count(body, "-->") != 3 {
			t.Errorf("comments: %s", body)
		}
		if got, want := strings.Count(body, "\n"), strings.Count(pullrequest.Body(full()), "\n")-2; got != want && text != "" {
			t.Errorf("%d lines instead of %d: %s", got, want, body)
		}
		for line := range strings.Lines(body) {
			if strings.Count(line, "`")%2 != 0 {
				t.Errorf("an open code span: %s", line)
			}
			rest := strings.NewReplacer("@\u200b", "", "#\u200b", "").Replace(line)
			if strings.ContainsAny(rest, "@#") && !strings.Contains(rest, "[compare](") {
				t.Errorf("a mention: %s", line)
			}
		}
		if merged := pullrequest.MergeBody("mine\n"+body, body); merged != "mine\n"+body {
			t.Errorf("merged with itself: %s", merged)
		}
	})
}

func TestMergeBody_keepsTextOfUsers(t *testing.T) {
	t.Parallel()
	ours := pullrequest.Body(full())
	old := beginMarker + "\nold\n" + endMarker
	for _, test := range []struct{ name, existing, want string }{
		{"new", "", ours},
		{"blank", " \n", ours},
		{"ours alone", old, ours},
		{"text around", "Hello\n\n" + old + "\n\nbye", "Hello\n\n" + ours + "\n\nbye"},
		{"no markers", "my own words", "my own words"},
		{"one marker", beginMarker + "\nhalf", beginMarker + "\nhalf"},
		{"the other marker", endMarker + "\nhalf", endMarker + "\nhalf"},
		{"markers the wrong way round", endMarker + beginMarker, endMarker + beginMarker},
		{"quoted below", old + "\n> " + old, ours + "\n> " + old},
		{"up to date", "a" + ours + "b", "a" + ours + "b"},
		{"other ends of lines", "a\r\n" + strings.ReplaceAll(ours, "\n", "\r\n"), "a\r\n" + strings.ReplaceAll(ours, "\n", "\r\n")},
		{"no room", strings.Repeat("x", 65_300) + old, strings.Repeat("x", 65_300) + old},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := pullrequest.MergeBody(test.existing, ours)
			if got != test.want {
				t.Errorf("got %q", got)
			}
			if again := pullrequest.MergeBody(got, ours); again != got {
				t.Errorf("a second time: %q", again)
			}
		})
	}
}

// A comment that a template begins and does not end hides nothing of promoter's part.
func TestBody_openCommentInTemplate(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 16_380)
	for template, want := range map[string]string{
		"text <!-- note":                      "text &lt;!-- note",
		"<!-- a --> b <!-- c <!-- d":          "<!-- a --> b &lt;!-- c &lt;!-- d",
		"<!-- a --> b <!-- c -->":             "<!-- a --> b <!-- c -->",
		"<!-->":                               "&lt;!-->",
		"<!--->":                              "&lt;!--->",
		"<!-- {tag}":                          "&lt;!-- 1.4.2, 2.1.0",
		long + "<!-- cut at the limit -->":    long + "<!-…",
		"<!-- <!-- promoter:end -->":          "<!-- &lt;!-- promoter:end -->",
		"<!-- promoter:end --> <!-- mine":     "&lt;!-- promoter:end --> &lt;!-- mine",
		"<!" + "<!-- promoter:end -->-- mine": "<!&lt;!-- promoter:end -->-- mine",
	} {
		page := full()
		page.Environment.PullRequest.Body = template
		page.Environment.PullRequest.Title = template
		body := pullrequest.Body(page)
		if !strings.Contains(body, "\n"+want+"\n") {
			t.Errorf("%q becomes %q", template, body[:200])
		}
		visible := regexp.MustCompile(`(?s)<!--.*?-->`).ReplaceAllString(body, "")
		if strings.Contains(visible, "<!--") || !strings.Contains(visible, "Merge gates") {
			t.Errorf("%q hides a part of\n%s", template, body)
		}
	}
}

// A template cannot write promoter's markers, also not by one that appears when another is
// taken out of it, or is filled into it. Otherwise the body would grow with each update.
func TestBody_markersInTemplateAreInert(t *testing.T) {
	t.Parallel()
	for _, marker := range []string{beginMarker, endMarker, "<!-- promoter:title 0011223344556677 -->"} {
		for _, template := range []string{
			marker,
			marker[:10] + marker + marker[10:],
			marker[:3] + marker[:10] + marker + marker[10:] + marker[3:],
			"<!-- promoter:{component}" + strings.TrimPrefix(marker, "<!-- promoter:"),
			"<!--  promoter:end\xff -->" + strings.ToUpper(marker),
		} {
			page := full()
			page.Environment.PullRequest.Body = "Mine: " + template + template
			ours := pullrequest.Body(page)
			for _, own := range []string{beginMarker, endMarker, "<!-- promoter:title "} {
				if n := strings.Count(ours, own); n != 1 {
					t.Errorf("%q: %d times %s", template, n, own)
				}
			}
			body := "Hello\n" + ours + "\nbye"
			page.Environment.PullRequest.Body += "!"
			for range 3 {
				body = pullrequest.MergeBody(body, pullrequest.Body(page))
			}
			if want := "Hello\n" + pullrequest.Body(page) + "\nbye"; body != want {
				t.Errorf("%q: the body became %q", template, body)
			}
		}
	}
}

func TestMergeBody_truncatesOwnPart(t *testing.T) {
	t.Parallel()
	theirs := strings.Repeat("é", 64_000)
	got := pullrequest.MergeBody(theirs+beginMarker+endMarker, pullrequest.Body(full()))
	if n := len([]rune(got)); n > 65_536 || !strings.HasPrefix(got, theirs) || !strings.HasSuffix(got, endMarker) {
		t.Errorf("%d runes", n)
	}
	if again := pullrequest.MergeBody(got, pullrequest.Body(full())); again != got {
		t.Error("a second time differs")
	}
}

func TestStatusOf(t *testing.T) {
	t.Parallel()
	opens := promotiontest.Noon.Add(time.Hour)
	waiting := promotion.Condition{Name: "windows office", State: promotion.Pending, Reason: "closed", Until: &opens}
	passed := promotion.Condition{Name: "check ci", State: promotion.Passed}
	failed := promotion.Condition{Name: "check e2e", State: promotion.Failed, Reason: "e2e failed"}
	unknown := promotion.Condition{Name: "check qa", State: promotion.Unknown, Reason: strings.Repeat("é", 300)}
	for _, test := range []struct {
		step  pullrequest.Step
		gates []promotion.Condition
		want  string
	}{
		{pullrequest.StepPropose, nil, "passed ready to merge"},
		{pullrequest.StepPropose, []promotion.Condition{passed}, "passed check ci passed"},
		{pullrequest.StepPropose, []promotion.Condition{passed, passed}, "passed all 2 gates passed"},
		{pullrequest.StepPropose, []promotion.Condition{passed, waiting, failed}, "pending waiting for windows office: closed (until 2026-11-18 12:00 UTC)"},
		{pullrequest.StepPropose, []promotion.Condition{failed}, "failed failed: check e2e: e2e failed"},
		{pullrequest.StepPropose, []promotion.Condition{unknown}, "pending waiting for check qa: " + strings.Repeat("é", 117) + "…"},
		{pullrequest.StepKeep, []promotion.Condition{passed}, "pending on hold by ann"},
	} {
		got := pullrequest.StatusOf(pullrequest.Proposal{
			Step: test.step, Gates: test.gates, Reason: promotion.Reason{Message: "on hold by ann"},
		})
		if text := string(got.State) + " " + got.Description; text != test.want || got.Context != "promoter" {
			t.Errorf("got %s %q, want %q", got.Context, text, test.want)
		}
	}
}

func TestStatusOfOthers(t *testing.T) {
	t.Parallel()
	if got := pullrequest.StatusOfOthers(nil); got.State != scm.CheckPassed || got.Description != "not a promotion" {
		t.Errorf("got %v", got)
	}
	got := pullrequest.StatusOfOthers(errors.New(".promoter.yaml:3:1: no\nsuch thing"))
	if got.State != scm.CheckFailed || got.Description != "not a promotion; the config has an error: .promoter.yaml:3:1: no such thing" {
		t.Errorf("got %v", got)
	}
}

func TestStatusOfTakenOver(t *testing.T) {
	t.Parallel()
	got := pullrequest.StatusOfTakenOver("ada\ncommitted to it")
	if got.State != scm.CheckFailed || got.Description != "not promoter's anymore: ada committed to it" {
		t.Errorf("got %v", got)
	}
}

func TestSpanOf(t *testing.T) {
	t.Parallel()
	move := aMove("web", "1", "2")
	if span, known := pullrequest.SpanOf(move); !known || span.From != move.From.Revision || span.To != move.To.Revision {
		t.Errorf("got %v, %v", span, known)
	}
	for _, m := range []promotion.Move{
		{From: image.Version{Revision: "a"}},
		{To: image.Version{Revision: "a"}},
		{From: image.Version{Revision: "a"}, To: image.Version{Revision: "a"}},
	} {
		if span, known := pullrequest.SpanOf(m); known {
			t.Errorf("%v has the span %v", m, span)
		}
	}
}
