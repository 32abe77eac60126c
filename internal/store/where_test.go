package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/database"
	"promoter/internal/store"
)

func everyTarget(store.TargetKey) bool { return true }

// A text finds whole tags, and the beginnings of digests and commits, but no other text of a
// version.
func TestTargets_Naming(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		version := func(tag, from, hex string) []store.EventVersion {
			return []store.EventVersion{{
				Component: "web", Repository: "quay.io/acme/web", Tag: tag, FromTag: from, Digest: "sha256:" + strings.Repeat(hex, 64), Revision: strings.Repeat(hex, 40) + "-dirty",
			}}
		}
		pulled := func(pull string, versions []store.EventVersion) []store.EventVersion {
			versions[0].SourcePullRequests = []string{"github.com/acme/web#1" + pull, "github.com/Acme/web#" + pull}
			return versions
		}
		b.write(func(ctx context.Context, tx *database.Tx) error {
			return b.Targets.Set(ctx, tx, "github.com/7", []store.Target{
				{Environment: "dev", Application: "now", Message: "not 1.5 yet", Current: pulled("12", version("v1.6", "1.5", "c"))},
				{Environment: "dev", Application: "next", Wanted: version("1.7_RC<1>", "", "d")},
			})
		})
		b.write(func(ctx context.Context, tx *database.Tx) error {
			_, err := b.AddEvents(ctx, tx, []store.Event{
				{Repository: "github.com/7", Environment: "dev", Application: "before", Action: store.EventLanded, At: noon, Commit: strings.Repeat("e", 40), Versions: pulled("34", version("1.5", "1.4", "b"))},
				{Repository: "github.com/7", Environment: "dev", Application: "decided", Action: "hold", At: noon, Message: "1.5"},
			})
			return err
		})
		for _, test := range []struct{ tag, hex, pull, want string }{
			{"1.5", "", "", "before"},
			{"1.4", "", "", ""},
			{"1", "", "", ""},
			{"1.6", "", "", "now"},
			{"V1.6", "", "", "now"},
			{"1.7_rc<1>", "", "", "next"},
			{"1.7%", "", "", ""},
			{"", "", "", ""},
			{"x", strings.Repeat("c", 7), "", "now"},
			{"x", "sha256:" + strings.Repeat("d", 64), "", "next"},
			{"x", strings.Repeat("B", 40), "", "before"},
			{"x", strings.Repeat("e", 12), "", "before"},
			{"x", "dirty", "", ""},
			{`x"`, `c"`, "", ""},
			{"", "", "#12", "now"},
			{"", "", "#2", ""},
			{"", "", "Acme/web#12", "now"},
			{"", "", "me/web#12", ""},
			{"", "", "github.com/acme/web#12", "now"},
			{"", "", "hub.com/acme/web#12", ""},
			{"", "", "acme/web#34", "before"},
			{"", "", "%#12", ""},
		} {
			found, err := b.Targets.Naming(b.Context(), store.VersionName{Tag: test.tag, Digits: test.hex, PullRequest: test.pull}, everyTarget)
			var names []string
			for _, one := range found {
				names = append(names, one.Application)
			}
			if got := strings.Join(names, " "); got != test.want || err != nil {
				b.Errorf("%q, %q, %q: %q, want %q, %v", test.tag, test.hex, test.pull, got, test.want, err)
			}
		}
	})
}

// However many targets with a version are not readable, all that are readable are found.
func TestTargets_NamingOfReadableTargets(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		targets := []store.Target{}
		add := func(environment, application string) {
			targets = append(targets, store.Target{
				Environment: environment, Application: application, Current: []store.EventVersion{{Component: "web", Tag: "1.5"}},
			})
		}
		for i := range 250 {
			add("secret", fmt.Sprintf("a-%d", i))
		}
		add("dev", "shop")
		add("secret", "shop")
		b.write(func(ctx context.Context, tx *database.Tx) error {
			return b.Targets.Set(ctx, tx, "github.com/7", targets)
		})
		found, err := b.Targets.Naming(b.Context(), store.VersionName{Tag: "1.5"}, func(key store.TargetKey) bool { return key.Environment == "dev" })
		want := []store.ApplicationKey{{Repository: "github.com/7", Application: "shop"}}
		if diff := cmp.Diff(want, found); diff != "" || err != nil {
			b.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}
