package connect

import (
	"context"
	"strings"
	"testing"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect/rules"
	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/serverfile"
)

// askedForge says by whom it was asked, and counts.
type askedForge struct {
	right string
	err   error
	asked *int
}

func (f askedForge) Open(context.Context, string) (scm.Repository, error) { return nil, nil }

func (f askedForge) Compare(_ context.Context, repository, from, _ string, _ int) (scm.Comparison, error) {
	*f.asked++
	if from == older { // going back
		return scm.Comparison{}, f.err
	}
	return scm.Comparison{Commits: []scm.Commit{{ID: newer}}, URL: f.right + " " + repository}, f.err
}

func (f askedForge) Releases(context.Context, string, int) ([]scm.Release, error) {
	*f.asked++
	return []scm.Release{{Tag: f.right}}, f.err
}

func (f askedForge) Release(_ context.Context, _, tag string) (scm.Release, error) {
	*f.asked++
	if tag != "v1.4.2" {
		return scm.Release{}, fault.New(fault.NotFound, "there is none")
	}
	return scm.Release{Tag: f.right}, f.err
}

var newer, older = strings.Repeat("b", 40), strings.Repeat("a", 40)

// seeing are the sources of github.com/Acme/gitops with entries of the server file.
func seeing(entries ...serverconfig.Source) (s Sources, asked *int) {
	asked = new(int)
	forge := func(right string) askedForge { return askedForge{right: right, asked: asked} }
	hub := serverconfig.Forge{Name: "hub", Kind: serverconfig.ForgeGitHub, URL: "https://github.com"}
	twin := serverconfig.Forge{Name: "twin", Kind: serverconfig.ForgeGitHub, URL: "https://github.com"}
	other := serverconfig.Forge{Name: "other", Kind: serverconfig.ForgeGitLab, URL: "https://git.example.com"}
	plain := serverconfig.Forge{Name: "plain", Kind: serverconfig.ForgeGit, URL: "https://plain.example.com"}
	file := &serverconfig.Config{Forges: []serverconfig.Forge{hub, twin, other, plain}, Sources: entries}
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	w := &Session{Server: &serverfile.Server{File: file, Now: func() time.Time { return now }}, connections: &Connections{}, forges: map[string]*Forge{
		"hub":   {Config: hub, SCM: forge("hub"), public: forge("none")},
		"twin":  {Config: twin, SCM: forge("twin"), public: forge("none of twin")},
		"other": {Config: other, SCM: forge("other"), public: forge("none of other")},
		"plain": {Config: plain},
	}}
	return w.Sources(&Repository{Forge: w.forges["hub"], name: rules.Name{Text: "github.com/Acme/gitops", Fold: true}}), asked
}

var acmeSees = serverconfig.Source{Repositories: []string{"github.com/acme/web", "git.example.com/acme/*"}, UsableBy: []string{"github.com/acme/gitops"}}

// The author of a config file or an image never decides alone which private commits are read.
func TestSources_onlyARuleLetsAPrivateSourceBeSeen(t *testing.T) {
	t.Parallel()
	s, _ := seeing(acmeSees, serverconfig.Source{Repositories: []string{"github.com/acme/secret"}, UsableBy: []string{"github.com/acme/other"}})
	for _, tc := range []struct {
		source     string
		configured bool
		want       string
	}{
		{"github.com/acme/web", true, "hub acme/web"},
		{"https://github.com/acme/web/tree/main", true, "hub acme/web"},
		{"git.example.com/acme/web", true, "other acme/web"},
		{"github.com/acme/gitops", false, "hub acme/gitops"}, // the repository itself

		{"github.com/acme/web", false, "none acme/web"}, // only the image names it
		{"git.example.com/acme/web", false, "none of other acme/web"},
		{"github.com/acme/secret", true, "none acme/secret"}, // the rule is for another repository
		{"github.com/acme/website", true, "none acme/website"},
		{"github.com/tenant-b/web", true, "none tenant-b/web"},
		{"git.example.com/acme/sub/web", true, "none of other acme/sub/web"},
	} {
		got, err := s.Change(t.Context(), scm.ChangeQuery{Source: tc.source, Configured: tc.configured, From: older[:39] + "c", To: newer})
		if err != nil || got.Comparison.URL != tc.want || got.Unread != "" {
			t.Errorf("%s (%t) is asked as %q, %v, want %q; %s", tc.source, tc.configured, got.Comparison.URL, err, tc.want, got.Unread)
		}
	}
	for source, want := range map[string]string{
		"hub/acme/web": "hub", "github.com/acme/web": "hub", "twin/acme/web": "twin", "hub/acme/secret": "none", "hub/tenant-b/web": "none", "other/acme/web": "other", "hub/acme/gitops": "hub",
	} {
		releases, name, err := s.Releases(source)
		if err != nil {
			t.Fatal(source, err)
		}
		list, err := releases.Releases(t.Context(), name, 1)
		if err != nil || list[0].Tag != want {
			t.Errorf("%s is asked as %v, %v, want %q", source, list, err, want)
		}
	}
	if _, _, err := s.Releases("gitlab/acme/web"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a forge that is not there gives %v", err)
	}
	if _, _, err := s.Releases("plain/acme/web"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a forge without releases gives %v", err)
	}
}

// What is not read is explained, with what to set up and a link that reveals nothing more.
func TestSources_explainsWhatIsNotRead(t *testing.T) {
	t.Parallel()
	s, asked := seeing(acmeSees)
	hidden := fault.New(fault.NotFound, "GitHub: Not Found")
	for name, f := range s.session.forges {
		if name != "plain" {
			f.SCM, f.public = askedForge{err: hidden, asked: asked}, askedForge{err: hidden, asked: asked}
		}
	}
	for _, tc := range []struct {
		query        scm.ChangeQuery
		unread, link string
	}{
		{
			scm.ChangeQuery{Source: "https://github.com/acme/secret"},
			"github.com/acme/secret has no such commits, or is not public: set source: github.com/acme/secret for the component, and let this repository see it with an entry of sources in the server file",
			"https://github.com/acme/secret/compare/",
		},
		{
			scm.ChangeQuery{Source: "git.example.com/a/b/secret", Configured: true},
			"git.example.com/a/b/secret has no such commits, or is not public: let this repository see it with an entry of sources in the server file",
			"https://git.example.com/a/b/secret/-/compare/",
		},
		{
			scm.ChangeQuery{Source: "github.com/acme/web", Configured: true},
			"the source has no such commits, or the credential of the forge hub cannot read github.com/acme/web",
			"https://github.com/acme/web/compare/",
		},
		{scm.ChangeQuery{Source: "https://gitlab.com/acme/web"}, "the server file has no forge gitlab.com", "https://gitlab.com/acme/web/-/compare/"},
		{scm.ChangeQuery{Source: "plain.example.com/acme/web"}, "the source is not readable: its forge compares no commits", "https://plain.example.com/acme/web/compare/"},
		{scm.ChangeQuery{Source: "my source"}, "the source my source is not the address of a repository", ""},
	} {
		tc.query.From, tc.query.To = older, newer
		got, err := s.Change(t.Context(), tc.query)
		if err != nil || got.Unread != tc.unread || !strings.HasPrefix(got.Comparison.URL, tc.link) || tc.link == "" && got.Comparison.URL != "" {
			t.Errorf("%s: %q, %q, %v", tc.query.Source, got.Unread, got.Comparison.URL, err)
		}
	}
	if got, err := s.Change(t.Context(), scm.ChangeQuery{Source: "github.com/acme/web", From: "main", To: newer}); err != nil || got.Unread != "the revision main is not the ID of a commit" {
		t.Errorf("a branch: %+v, %v", got, err)
	}
	limited := fault.New(fault.RateLimited, "later")
	s.session.forges["hub"].public = askedForge{err: limited, asked: asked}
	if got, err := s.Change(t.Context(), scm.ChangeQuery{Source: "github.com/acme/busy", From: older, To: newer}); fault.KindOf(err) != fault.RateLimited || got.Unread == "" {
		t.Errorf("a limit: %+v, %v", got, err)
	}
}

// Forges allow few requests without a credential, so that answers are kept for a while.
func TestSources_asksOnce(t *testing.T) {
	t.Parallel()
	s, asked := seeing()
	q := scm.ChangeQuery{Source: "github.com/acme/web", From: older, To: newer, Tags: []string{"v1.4.1", "v1.4.2", "1.4.2"}}
	for range 3 {
		got, err := s.Change(t.Context(), q)
		if err != nil || !got.Removes || len(got.Commits) != 1 || got.Release.Tag != "none" {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if *asked != 4 { // forth and back, and the releases of two tags
		t.Errorf("%d requests", *asked)
	}
	now := s.session.Server.Now()
	s.session.Server.Now = func() time.Time { return now.Add(absentKept) }
	if _, err := s.Change(t.Context(), q); err != nil || *asked != 5 { // the tag that was not there
		t.Errorf("%d requests, %v", *asked, err)
	}
	s.session.Server.Now = func() time.Time { return now.Add(sourceKept) }
	if _, err := s.Change(t.Context(), q); err != nil || *asked != 9 {
		t.Errorf("%d requests, %v", *asked, err)
	}
}
