package git_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/git/gittest"
	"promoter/internal/git/object"
	"promoter/internal/git/wire"
)

// us is who commits in these tests.
var us = object.Signature{Name: "promoter", Email: "promoter@example.com", When: epoch.Add(1000 * time.Hour)}

func written(t testing.TB, m *git.Mirror, parent object.ID, change files) object.ID {
	t.Helper()
	d := object.Draft{Parent: parent, Write: map[string][]byte{}, Author: us, Committer: us, Message: "Change"}
	for name, content := range change {
		d.Write[name] = []byte(content)
	}
	id, err := m.Objects.Write(d)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// allWays are the transports with ssh.
func allWays(o *origin) map[string]wire.Remote {
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
			want := map[string]object.ID{"main": second, "env/prod": onProd, "promoter/dev/web": first}
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
			if got := history(t, m, next); !slices.Equal(got, []object.ID{next, second, first, main, root}) {
				t.Errorf("history: %v", got)
			}
			err = m.Push(t.Context(), git.Update{Branch: "promoter/dev/web", Old: first}, git.Update{Branch: "orphan", New: written(t, m, object.ID{}, files{"o.json": "{}"})})
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

func TestPush_lostRaceInside(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(5))
	web := o.serve()
	m := opened(t, web.remote())
	fetched(t, m, "main")
	mine := written(t, m, main, files{"a.yaml": "mine\n"})
	var theirs object.ID
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
	if err := m.Push(t.Context(), git.Update{Branch: "x", New: object.ID{1}}); err == nil {
		t.Error("a commit that is nowhere was pushed")
	}
}

func TestPush_refusedByTheServer(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"file", "http", "ssh"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			main := o.commit("main", many(5))
			remote := allWays(o)[name]
			dir := filepath.Join(t.TempDir(), "mirror")
			m := openedIn(t, dir, remote)
			fetched(t, m, "main")
			mine := written(t, m, main, files{"a.yaml": "mine\n"})
			for hook, want := range map[string]string{"pre-receive": "pre-receive hook declined", "update": "hook declined"} {
				runs := filepath.Join(dir, hook)
				o.hook(hook, "echo x >> "+runs+"\necho 'error: GH006: Protected branch update failed for refs/heads/main.' >&2\necho 'At least 1 approving review is required' >&2\nexit 1\n")
				err := m.Push(t.Context(), git.Update{Branch: "main", Old: main, New: mine})
				for _, text := range []string{want, "GH006: Protected branch update failed for refs/heads/main.; At least 1 approving review is required"} {
					if fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), text) {
						t.Errorf("%s: %v: %v", hook, fault.KindOf(err), err)
					}
				}
				if tries := strings.TrimSpace(gittest.Exec(t, dir, "hash-object", runs)); tries != "587be6b4c3f93f93c489c0111bba5596147a26cb" { // of one x
					t.Errorf("%s: not one try", hook)
				}
				remove(t, filepath.Join(o.dir, "hooks", hook))
			}
			o.config("receive.denyDeletes", "true")
			if err := m.Push(t.Context(), git.Update{Branch: "main", Old: main}); fault.KindOf(err) != fault.Unauthorized {
				t.Errorf("a delete: %v: %v", fault.KindOf(err), err)
			}
			if o.head("main") != main {
				t.Error("the branch moved")
			}
			if err := m.Push(t.Context(), git.Update{Branch: "main", Old: main, New: mine}); err != nil {
				t.Errorf("after the protection is gone: %v", err)
			}
		})
	}
}

func TestPush_readOnly(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(5))
	web := o.serve()
	over := map[string]wire.Remote{"http": web.remote()}
	s := o.serveSSH()
	over["ssh"] = s.remote()
	s.answer(func(command string, channel ssh.Channel) bool {
		if strings.HasPrefix(command, "git-upload-pack") {
			return false
		}
		_, _ = io.WriteString(channel.Stderr(), "ERROR: Permission to acme/shop.git denied to deploy key\n")
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(&struct{ Status uint32 }{128}))
		return true
	})
	o.config("http.receivepack", "false")
	for name, remote := range over {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := opened(t, remote)
			fetched(t, m, "main")
			mine := written(t, m, main, files{"a.yaml": "mine\n"})
			err := m.Push(t.Context(), git.Update{Branch: "main", Old: main, New: mine})
			if fault.KindOf(err) != fault.Unauthorized {
				t.Errorf("%v: %v", fault.KindOf(err), err)
			}
		})
	}
}

func TestPush_lostAnswer(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(5))
	web, s := o.serve(), o.serveSSH()
	for name, remote := range map[string]wire.Remote{"http": web.remote(), "ssh": s.remote()} {
		m := opened(t, remote)
		fetched(t, m, "main")
		mine := written(t, m, main, files{"a.yaml": name + "\n"})
		web.instead(func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "git-receive-pack") {
				return false
			}
			o.move("main", o.take(mine, main, name))
			panic(http.ErrAbortHandler)
		})
		s.answer(func(command string, channel ssh.Channel) bool {
			if strings.HasPrefix(command, "git-upload-pack") {
				return false
			}
			_, _ = fmt.Fprintf(channel, "%04x%s refs/heads/main\x00report-status\n0000", 4+40+1+15+1+13+1, main)
			_, _ = io.ReadFull(channel, make([]byte, 100))
			o.move("main", o.take(mine, main, name))
			return true
		})
		if err := m.Push(t.Context(), git.Update{Branch: "main", Old: main, New: mine}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if id, _ := m.Have("main"); id != mine || o.head("main") != mine {
			t.Errorf("%s: %s, %s, want %s", name, id, o.head("main"), mine)
		}
		main = mine
	}
}

// take lets the origin have a commit as a push would, and returns it.
func (o *origin) take(id, parent object.ID, content string) object.ID {
	o.t.Helper()
	other := opened(o.t, o.remoteFile())
	fetched(o.t, other, "main")
	if made := written(o.t, other, parent, files{"a.yaml": content + "\n"}); made != id {
		o.t.Errorf("made %s, want %s", made, id)
	}
	if err := other.Push(o.t.Context(), git.Update{Branch: "taken/" + content, New: id}); err != nil {
		o.t.Error(err)
	}
	return id
}

func TestPush_lostRequest(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(5))
	web := o.serve()
	m := opened(t, web.remote())
	fetched(t, m, "main")
	mine := written(t, m, main, files{"a.yaml": "mine\n"})
	web.instead(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			panic(http.ErrAbortHandler)
		}
		return false
	})
	if err := m.Push(t.Context(), git.Update{Branch: "main", Old: main, New: mine}); fault.KindOf(err) != fault.Temporary {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
	web.instead(nil)
	if err := m.Push(t.Context(), git.Update{Branch: "main", Old: main, New: mine}); err != nil {
		t.Errorf("the same again: %v", err)
	}
}

// A large directory that changes with each commit is sent once, and as deltas for the
// other commits, also if there are more versions than one chain of deltas may have.
func TestPush_sendsDeltas(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.config("receive.unpackLimit", "1") // keeps the pack
	all := files{}
	for i := range 3000 {
		all[fmt.Sprintf("apps/service-%04d/kustomization.yaml", i)] = fmt.Sprint(i % 7)
	}
	first := o.commit("main", all)
	o.repack()
	m := opened(t, o.remoteFile())
	fetched(t, m, "main")
	tip := first
	for i := range 120 {
		tip = written(t, m, tip, files{fmt.Sprintf("apps/service-%04d/kustomization.yaml", i*31%3000): fmt.Sprint("new ", i)})
	}
	before := packFiles(t, o.dir)
	if err := m.Push(t.Context(), git.Update{Branch: "main", Old: first, New: tip}); err != nil {
		t.Fatal(err)
	}
	pack := slices.DeleteFunc(packFiles(t, o.dir), func(name string) bool { return slices.Contains(before, name) })
	if len(pack) != 1 {
		t.Fatalf("the push added the packs %v", pack)
	}
	info, err := os.Stat(pack[0])
	if err != nil {
		t.Fatal(err)
	}
	if size, whole := info.Size(), int64(5*3000*30); size > whole {
		t.Errorf("the pack has %d bytes, and five versions of the directory have %d", size, whole)
	}
	if sent := strings.Count(gittest.Exec(t, ".", "verify-pack", "-v", pack[0]), " tree "); sent != 3*120 {
		t.Errorf("%d trees were sent, want %d", sent, 3*120)
	}
	o.run("", "fsck", "--strict")
	same(t, m, o, tip)
}

func packFiles(t testing.TB, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "objects/pack/*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
