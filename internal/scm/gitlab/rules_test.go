package gitlab_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/scm"
	"promoter/internal/scm/gitlab/gitlabtest"
)

func TestRules_readsRequiredChecks(t *testing.T) {
	t.Parallel()
	const hidden = ": GitLab shows them only to a token with the role Maintainer"
	everything := func(s *gitlabtest.Settings) {
		rules(2)(s)
		s.Method, s.Trains, s.Signed, s.CommittersApart, s.ResetApprovals = "ff", true, true, true, true
	}
	protect := func(p *gitlabtest.Project) {
		p.Protect("ma*", gitlabtest.Protection{Push: gitlabtest.NoOne, Merge: gitlabtest.Developer, CodeOwners: true})
	}
	for name, test := range map[string]struct {
		options gitlabtest.Options
		role    string
		change  func(*gitlabtest.Project)
		want    scm.Rules
	}{
		"nothing": {role: gitlabtest.Maintainer, change: func(*gitlabtest.Project) {}},
		"everything": {
			role: gitlabtest.Maintainer, change: func(p *gitlabtest.Project) { p.Set(everything); protect(p) },
			want: scm.Rules{Approvals: 2, Owners: true, NotByPusher: true, Current: true, Queue: true, Signed: true, Linear: true, PullRequests: true, Stuck: "push rule"},
		},
		"everything, to a Developer": {
			role: gitlabtest.Developer, change: func(p *gitlabtest.Project) { p.Set(everything); protect(p) },
			want: scm.Rules{
				Approvals: 2, NotByPusher: true, Current: true, Queue: true, Linear: true, PullRequests: true,
				Hidden: "whether code owners must approve, push rules" + hidden,
			},
		},
		"of a free server": {
			options: gitlabtest.Options{Free: true}, role: gitlabtest.Maintainer,
			change: func(p *gitlabtest.Project) { p.Set(everything); protect(p) },
			want:   scm.Rules{Current: true, Linear: true, PullRequests: true},
		},
		"semi-linear": {
			role: gitlabtest.Maintainer, change: func(p *gitlabtest.Project) { p.Set(func(s *gitlabtest.Settings) { s.Method = "rebase_merge" }) },
			want: scm.Rules{Current: true},
		},
		"we may push": {
			role: gitlabtest.Maintainer,
			change: func(p *gitlabtest.Project) {
				p.Protect("main", gitlabtest.Protection{Push: gitlabtest.Maintainer, Merge: gitlabtest.Maintainer})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := newBench(t, test.options)
			b.project.Settings.Permit(gitlabtest.Self, test.role)
			test.change(b.project)
			got, err := b.open(t).(scm.Ruled).Rules(t.Context(), "main")
			if err != nil {
				t.Fatal(err)
			}
			if test.want.Stuck != "" && strings.Contains(got.Stuck, test.want.Stuck) {
				got.Stuck = test.want.Stuck
			}
			if test.role == gitlabtest.Developer {
				test.want.Hidden = strings.TrimSpace(test.want.Hidden)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
