package git_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"promoter/internal/fault"
	"promoter/internal/git"
)

func TestPush_lostAnswer(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(5))
	web, s := o.serve(), o.serveSSH()
	for name, remote := range map[string]git.Remote{"http": web.remote(), "ssh": s.remote()} {
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

func (o *origin) take(id, parent git.ID, content string) git.ID {
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

// The connection dies before the server did anything.

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
