package git_test

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"promoter/internal/fault"
	"promoter/internal/git"
)

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
				if tries := strings.TrimSpace(askGit(t, dir, "hash-object", runs)); tries != "587be6b4c3f93f93c489c0111bba5596147a26cb" { // of one x
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
	over := map[string]git.Remote{"http": web.remote()}
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
