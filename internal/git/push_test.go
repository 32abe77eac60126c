package git_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/git"
)

// us is who commits in these tests.

var us = git.Signature{Name: "promoter", Email: "promoter@example.com", When: epoch.Add(1000 * time.Hour)}

func written(t testing.TB, m *git.Mirror, parent git.ID, change files) git.ID {
	t.Helper()
	d := git.Draft{Parent: parent, Write: map[string][]byte{}, Author: us, Committer: us, Message: "Change"}
	for name, content := range change {
		d.Write[name] = []byte(content)
	}
	id, err := m.Write(d)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// allWays are the transports with ssh.

func allWays(o *origin) map[string]git.Remote {
	all := ways(o)
	all["ssh"] = o.serveSSH().remote()
	return all
}

func TestPush_sendsOnlyNewObjects(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"file", "http", "ssh"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			o.config("receive.unpackLimit", "1") // keeps the pack, to be counted
			root := o.commit("main", many(200))
			main := o.commit("main", files{"a.yaml": "a: 1\n"})
			prod := o.commit("env/prod", files{"p.yaml": "p: 1\n"})
			o.repack()
			dir := filepath.Join(t.TempDir(), "mirror")
			remote := allWays(o)[name]
			m := openedIn(t, dir, remote)
			fetched(t, m, "main", "env/prod")

			first := written(t, m, main, files{"apps/a1/f1.yaml": "new: 1\n"})
			second := written(t, m, first, files{"a.yaml": "a: 2\n"})
			onProd := written(t, m, prod, files{"p.yaml": "p: 2\n"})
			before := objectsIn(t, o.dir)
			err := m.Push(t.Context(),
				git.Update{Branch: "main", Old: main, New: second},
				git.Update{Branch: "env/prod", Old: prod, New: onProd},
				git.Update{Branch: "promoter/dev/web", New: first})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]git.ID{"main": second, "env/prod": onProd, "promoter/dev/web": first}
			for branch, id := range want {
				if got := o.head(branch); got != id {
					t.Errorf("%s is at %s, want %s", branch, got, id)
				}
				if got, _ := m.Have(branch); got != id {
					t.Errorf("the mirror has %s at %s, want %s", branch, got, id)
				}
				same(t, m, o, id)
			}
			// Three commits, four root or inner trees of apps, three files.
			if got := objectsIn(t, o.dir) - before; got != 3+5+3 {
				t.Errorf("%d objects were sent", got)
			}
			o.run("", "fsck", "--strict")

			// What was pushed is in the mirror, also for the next process.
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			m = openedIn(t, dir, remote)
			same(t, m, o, second)
			if found, err := m.Fetch(t.Context(), "main", "env/prod", "promoter/dev/web"); err != nil || cmp.Diff(want, found) != "" {
				t.Errorf("%v, %v", found, err)
			}
			next := o.commit("main", files{"apps/a2/f2.yaml": "theirs\n"})
			o.repack()
			fetched(t, m, "main")
			same(t, m, o, next)
			if got := history(t, m, next); !slices.Equal(got, []git.ID{next, second, first, main, root}) {
				t.Errorf("history: %v", got)
			}
			err = m.Push(t.Context(), git.Update{Branch: "promoter/dev/web", Old: first}, git.Update{Branch: "orphan", New: written(t, m, git.ID{}, files{"o.json": "{}"})})
			if err != nil {
				t.Fatal(err)
			}
			if id, ok := o.find("promoter/dev/web"); ok {
				t.Errorf("the deleted branch is at %s", id)
			}
			if got := o.contents(o.head("orphan"))["o.json"]; got != "{}" {
				t.Errorf("orphan: %q", got)
			}
			if err := m.Push(t.Context(), git.Update{Branch: "orphan", Old: o.head("orphan")}); err != nil { // no pack at all
				t.Error(err)
			}
		})
	}
}

func TestPush_lostRace(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"file", "http", "ssh"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			main := o.commit("main", many(5))
			m := opened(t, allWays(o)[name])
			fetched(t, m, "main")
			mine := written(t, m, main, files{"a.yaml": "mine\n"})
			theirs := o.commit("main", files{"a.yaml": "theirs\n"})
			for what, update := range map[string]git.Update{
				"moved":          {Branch: "main", Old: main, New: mine},
				"exists already": {Branch: "main", New: mine},
				"is gone":        {Branch: "none", Old: main, New: mine},
			} {
				other := git.Update{Branch: "other", New: mine}
				if err := m.Push(t.Context(), other, update); fault.KindOf(err) != fault.Conflict {
					t.Errorf("%s: %v: %v", what, fault.KindOf(err), err)
				}
			}
			if o.head("main") != theirs {
				t.Error("their commit is gone")
			}
			if _, ok := o.find("other"); ok {
				t.Error("half of a push was done")
			}
			fetched(t, m, "main")
			again := written(t, m, theirs, files{"a.yaml": "mine\n"})
			if err := m.Push(t.Context(), git.Update{Branch: "main", Old: theirs, New: again}); err != nil {
				t.Error(err)
			}
		})
	}
}

// A branch that moves while the push is on its way: the server compares too.

func TestPush_lostRaceInside(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(5))
	web := o.serve()
	m := opened(t, web.remote())
	fetched(t, m, "main")
	mine := written(t, m, main, files{"a.yaml": "mine\n"})
	var theirs git.ID
	web.instead(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			theirs = o.commit("main", files{"a.yaml": "theirs\n"})
		}
		return false
	})
	err := m.Push(t.Context(), git.Update{Branch: "main", Old: main, New: mine})
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "main is at "+theirs.String()) {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
	if o.head("main") != theirs {
		t.Error("their commit is gone")
	}
}

// A refusal of what nobody moved is told in the server's words, once.

// Without leave to push the service itself refuses.

// The push is done and its answer lost: the branches tell.

func TestPush_invalid(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(5))
	m := opened(t, o.remoteFile())
	fetched(t, m, "main")
	for name, updates := range map[string][]git.Update{
		"no move":      {{Branch: "main", Old: main, New: main}},
		"named twice":  {{Branch: "x", New: main}, {Branch: "x", New: main}},
		"no name":      {{Branch: "", New: main}},
		"an odd name":  {{Branch: "a..b", New: main}},
		"another kind": {{Branch: "x\n0000", New: main}},
	} {
		if err := m.Push(t.Context(), updates...); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v: %v", name, fault.KindOf(err), err)
		}
	}
	if err := m.Push(t.Context()); err != nil {
		t.Errorf("nothing: %v", err)
	}
	if _, err := m.Fetch(t.Context(), "../../x"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an odd name: %v", err)
	}
	if err := m.Push(t.Context(), git.Update{Branch: "x", New: git.ID{1}}); err == nil {
		t.Error("a commit that is nowhere was pushed")
	}
}
