package pullrequest_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide/decidetest"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/propose"
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
	failed := aPage(map[string][]promotion.Move{"api": {aMove("api", "2", "1")}, "shop": {aMove("web", "1.4.2", "1.4.1")}})
	for i := range failed.Decisions {
		failed.Decisions[i].Reason.Rule = promotion.RuleOnFailure
	}
	named := shop("", aMove("web", "1.4.1", "1.4.2"))
	named.Environment.Title = "Staging\nfor @acme/sre"
	filled := shop("{environment}: {version}", aMove("web", "1.4.1", "1.4.2"))
	filled.Environment.Title = "Staging"
	for want, page := range map[string]pullrequest.Page{
		"Promote shop to staging: web 1.4.2":                     shop("", aMove("web", "1.4.1", "1.4.2")),
		"Promote shop to Staging for @\u200bacme/sre: web 1.4.2": named,
		"staging: 1.4.2": filled,
		"Promote shop to staging: a 2, b 3, c 4 and 1 more":         shop("", many...),
		"Promote shop to staging":                                   shop(""),
		"Roll back shop in staging: web 1.4.1":                      rollback,
		"Roll back 2 applications in staging: api, shop":            failed,
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
	if strings.Count(body, beginMarker) != 1 || strings.Count(body, endMarker) != 1 || strings.Count(body, "-->") != 5 {
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
	from := func(text, address string) string {
		p := full()
		d := &p.Decisions[0]
		d.Moves[1].To.Tag, d.Moves[1].From.Tag, d.Reason.Message = text, "x"+text, text
		d.Conditions[0] = promotion.Condition{Name: text, State: promotion.Passed, Value: text, Reason: text}
		p.Changes = map[pullrequest.ChangeKey]pullrequest.Change{
			pullrequest.KeyOf(d.Moves[0]): {
				From: image.Description{Revision: "a"},
				To:   image.Description{Revision: "b" + text, Size: 1, Platform: text},
				Source: scm.Change{Comparison: scm.Comparison{
					Commits: []scm.Commit{{ID: text, Message: text, Author: text, PullRequest: scm.PullLink{Number: 1, URL: address}}}, URL: address,
				}},
			},
			pullrequest.KeyOf(d.Moves[1]): {Unread: "x" + text},
		}
		return pullrequest.Body(p)
	}
	f.Fuzz(func(t *testing.T, text, address string) {
		body := from(text, address)
		if strings.Count(body, "<!--") != 5 || strings.Count(body, "-->") != 5 {
			t.Errorf("comments: %s", body)
		}
		if got, want := strings.Count(body, "\n"), strings.Count(from("x", "https://example.com/"), "\n"); got != want && text != "" {
			t.Errorf("%d lines instead of %d: %s", got, want, body)
		}
		for line := range strings.Lines(body) {
			if strings.Count(line, "`")%2 != 0 {
				t.Errorf("an open code span: %s", line)
			}
			rest := strings.NewReplacer("@\u200b", "", "#\u200b", "").Replace(line)
			if strings.ContainsAny(rest, "@#") && !strings.Contains(rest, "](http") && !strings.Contains(rest, "<a href") {
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
			t.Errorf("%q becomes %q", template, body[:1500])
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
	byForge := promotion.Condition{Name: "protection approvals", State: promotion.Pending, Value: "0 of 1", Forge: true}
	unknown := promotion.Condition{Name: "check qa", State: promotion.Unknown, Reason: strings.Repeat("é", 300)}
	for _, test := range []struct {
		step  propose.Step
		gates []promotion.Condition
		want  string
	}{
		{propose.StepPropose, nil, "passed ready to merge"},
		{propose.StepPropose, []promotion.Condition{passed}, "passed check ci passed"},
		{propose.StepPropose, []promotion.Condition{passed, passed}, "passed all 2 gates passed"},
		{propose.StepPropose, []promotion.Condition{passed, waiting, failed}, "pending waiting for windows office: closed (until 2026-11-18 12:00 UTC)"},
		{propose.StepPropose, []promotion.Condition{failed}, "failed failed: check e2e: e2e failed"},
		{propose.StepPropose, []promotion.Condition{unknown}, "pending waiting for check qa: " + strings.Repeat("é", 117) + "…"},
		{propose.StepPropose, []promotion.Condition{byForge}, "passed the forge waits for protection approvals"},
		{propose.StepPropose, []promotion.Condition{passed, byForge}, "passed check ci passed, the forge waits for protection approvals"},
		{propose.StepKeep, []promotion.Condition{passed}, "pending on hold by ann"},
	} {
		got := pullrequest.StatusOf(propose.Proposal{
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

// The source of the config has priority. What keeps the commits unknown is named.
func TestChange_SourceQuery(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	of := func(revision, source string) image.Description {
		return image.Description{Revision: revision, Source: source}
	}
	tags := []string{"v1.4.2", "1.4.2"}
	for name, tc := range map[string]struct {
		change     pullrequest.Change
		configured string
		tag        string
		want       scm.ChangeQuery
		unknown    string
	}{
		"of the image":  {pullrequest.Change{From: of(a, "x"), To: of(b, "https://github.com/acme/web")}, "", "1.4.2", scm.ChangeQuery{Source: "https://github.com/acme/web", From: a, To: b, Tags: tags, Limit: 30}, ""},
		"of the config": {pullrequest.Change{From: of(a, ""), To: of(b, "https://github.com/acme/web")}, "github.com/acme/other", "v1.4.2", scm.ChangeQuery{Source: "github.com/acme/other", Configured: true, From: a, To: b, Tags: tags, Limit: 30}, ""},
		"none":          {pullrequest.Change{From: of(a, ""), To: of(b, "")}, "", "1.4.2", scm.ChangeQuery{}, "the new image has no label or annotation org.opencontainers.image.source, and the component no source"},
		"another":       {pullrequest.Change{From: of(a, "https://github.com/acme/old"), To: of(b, "https://github.com/acme/web")}, "", "main-1", scm.ChangeQuery{}, "the source was github.com/acme/old before, and is github.com/acme/web now"},
		"renamed case":  {pullrequest.Change{From: of(a, "https://github.com/Acme/web"), To: of(b, "https://github.com/acme/web")}, "", "main-1", scm.ChangeQuery{Source: "https://github.com/acme/web", From: a, To: b, Limit: 30}, ""},
		"no revision":   {pullrequest.Change{From: of(a, ""), To: of("", "https://github.com/acme/web")}, "", "1.4.2", scm.ChangeQuery{Source: "https://github.com/acme/web", Tags: tags, Limit: 30}, "the new image has no label or annotation org.opencontainers.image.revision"},
		"none before":   {pullrequest.Change{From: of("", ""), To: of(b, "https://github.com/acme/web")}, "", "latest", scm.ChangeQuery{}, "the current image has no label or annotation org.opencontainers.image.revision"},
		"one commit":    {pullrequest.Change{From: of(a, ""), To: of(a, "https://github.com/acme/web")}, "", "latest", scm.ChangeQuery{}, ""},
	} {
		got, needed := tc.change.SourceQuery(tc.configured, image.Version{Tag: tc.tag})
		if needed != (tc.want.Source != "") {
			t.Errorf("%s: needed %t", name, needed)
		} else if diff := cmp.Diff(tc.want, got); needed && diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if unknown := tc.change.Unknown(); unknown != tc.unknown {
			t.Errorf("%s: unknown because %q", name, unknown)
		}
	}
}

// Where a version is already is read from the files, and since when from the history of
// parents, whose landings are always read.
func TestOthersWith(t *testing.T) {
	t.Parallel()
	w := decidetest.NewCheckout(t, promotiontest.Components+`
environments:
  dev: {paths: ["dev/{application}"]}
  test: {paths: ["test/{application}"], after: [dev]}
  staging: {paths: ["staging/{application}"], after: [dev]}
  prod: {paths: ["prod/{application}"], after: [staging]}
`).WithForge()
	const wanted = "web:1.5@" + promotiontest.DigestB
	w.Has("dev/shop", wanted)
	w.Has("test/shop", "web:1.4@"+promotiontest.DigestA)
	w.Has("staging/shop", wanted)
	w.Has("prod/shop", "web:1.4@"+promotiontest.DigestA)
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	w.Landings[promotion.Target{Environment: "staging", Application: "shop"}] = []promotion.Landing{
		{Snapshot: promotiontest.SnapshotOf(wanted), At: day(21), Number: 28}, // moved another component
		{Snapshot: promotiontest.SnapshotOf(wanted), At: day(20), Number: 27},
		{Snapshot: promotiontest.SnapshotOf("web:1.4@" + promotiontest.DigestA), At: day(1), Number: 3},
	}
	target := promotion.Target{Environment: "prod", Application: "shop"}
	moved := pullrequest.Changed{
		Target: target, Repository: promotiontest.Repository("web"),
		Move: promotion.Move{Component: "web", To: promotiontest.Version("1.5@" + promotiontest.DigestB)},
	}
	want := []pullrequest.Other{{Environment: "dev"}, {Environment: "staging", Since: day(20), PullRequest: "!27"}}
	if diff := cmp.Diff(want, pullrequest.OthersWith(w.Observation, moved, func(l promotion.Landing) time.Time { return l.At }, "!")); diff != "" {
		t.Error(diff)
	}
}

// What was read before stays while it cannot be read, for the same changes only.
func TestKeepChanges(t *testing.T) {
	t.Parallel()
	before, now, other := alone(), alone(), unread()
	now.Changes = nil
	before.Decisions[0].Reason.Message, now.Decisions[0].Reason.Message = "old", "new"
	kept := pullrequest.KeepChanges("mine\r\n"+strings.ReplaceAll(pullrequest.Body(before), "\n", "\r\n"), pullrequest.Body(now))
	before.Decisions[0].Reason.Message = "new"
	if diff := cmp.Diff(pullrequest.Body(before), kept); diff != "" {
		t.Error(diff)
	}
	for name, existing := range map[string]string{
		"other changes": pullrequest.Body(other), "none": "", "no markers": "text", "cut off": pullrequest.Body(before)[:400] + endMarker,
	} {
		if got := pullrequest.KeepChanges(existing, pullrequest.Body(now)); got != pullrequest.Body(now) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Details never take the room of what follows them.
func TestBody_boundsDetails(t *testing.T) {
	t.Parallel()
	moves := map[string][]promotion.Move{}
	for i := range 40 {
		moves["shop"] = append(moves["shop"], aMove(fmt.Sprintf("web-%02d", i), "1.4.1", "1.4.2"))
	}
	p := aPage(moves)
	p.Changes = map[pullrequest.ChangeKey]pullrequest.Change{}
	change := full().Changes[pullrequest.KeyOf(aMove("web", "1.4.1", "1.4.2"))]
	for range 40 {
		change.Source.Commits = append(change.Source.Commits, scm.Commit{ID: "abc", Message: strings.Repeat("x", 100)})
	}
	for _, m := range moves["shop"] {
		p.Changes[pullrequest.KeyOf(m)] = change
	}
	body := pullrequest.Body(p)
	if !strings.Contains(body, "components are left out: they exceed the size of this section.") || !strings.Contains(body, "**Merge** this pull request") {
		t.Error(body)
	}
}

// The notes of a release have no markup of their own, and are bounded.
func FuzzRelease(f *testing.F) {
	f.Add("# Title\n\n* one @ann #1\n```\n/close\n-->")
	f.Add(strings.Repeat("line\n", 100))
	f.Fuzz(func(t *testing.T, notes string) {
		p := alone()
		for key, change := range p.Changes {
			change.Source.Release.Notes, change.Others = notes, nil
			p.Changes[key] = change
		}
		_, body, _ := strings.Cut(pullrequest.Body(p), "<summary>Release notes of")
		_, body, _ = strings.Cut(body, "\n\n")
		body, _, _ = strings.Cut(body, "\n\n</details>")
		if n := strings.Count(body, "\n"); n > 45 || len([]rune(body)) > 6000 {
			t.Errorf("%d lines, %d bytes", n, len(body))
		}
		for line := range strings.Lines(body) {
			rest := strings.NewReplacer("@\u200b", "", "#\u200b", "").Replace(line)
			if !strings.HasPrefix(line, ">") && !strings.HasPrefix(line, "Release ") && body != "" || strings.ContainsAny(rest, "@#`") && strings.HasPrefix(line, ">") || strings.Contains(rest, "-->") || strings.Contains(rest, "<") {
				t.Errorf("markup: %q", line)
			}
		}
	})
}
