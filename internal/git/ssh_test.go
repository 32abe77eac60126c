package git_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/secret"
)

// passphrase opens the client's key in these tests.

const passphrase = "correct horse battery staple"

// sshServer serves an origin over ssh with Git's own programs.

// serveSSH starts the server; it ends with the test, all its programs with it.

// knownHosts writes a file that holds the key for the server.

// exec runs the command in a shell, as sshd does, beside the origin.

// answer lets the server answer in place of Git's program.

func TestSSH_fetchAndPush(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(30))
	first := o.commit("main", files{"a.yaml": "a: 1\n"})
	s := o.serveSSH()
	remote := s.remote()
	remote.Credential = with(s.locked())
	m := opened(t, remote)
	if refs, err := m.List(t.Context()); err != nil || refs.Branches["main"] != first || refs.Default != "main" {
		t.Errorf("%v, %v", refs, err)
	}
	fetched(t, m, "main")
	same(t, m, o, first)
	second := o.commit("main", files{"a.yaml": "a: 2\n"})
	third := o.commit("main", files{"a.yaml": "a: 1\n", "apps/a1/f1.yaml": "changed\n"})
	o.repack()
	fetched(t, m, "main")
	same(t, m, o, second)
	same(t, m, o, third)
	if err := m.Deepen(t.Context(), "main", epoch); err != nil {
		t.Fatal(err)
	}
	if got := history(t, m, third); len(got) != 4 {
		t.Errorf("%d commits", len(got))
	}
}

func TestSSH_short(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(3))
	s := o.serveSSH()
	remote := s.remote()
	remote.URL = "git@forge.example:origin.git"
	remote.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != "forge.example:22" {
			t.Errorf("dials %s", address)
		}
		return (&net.Dialer{}).DialContext(ctx, network, s.address)
	}
	line := knownhosts.Line([]string{"forge.example"}, s.host.PublicKey())
	remote.KnownHosts = filepath.Join(t.TempDir(), "known")
	write(t, remote.KnownHosts, line+"\n")
	m := opened(t, remote)
	if refs, err := m.List(t.Context()); err != nil || refs.Branches["main"] != main {
		t.Errorf("%v, %v", refs, err)
	}
	if diff := s.commands[0]; diff != "git-upload-pack 'origin.git'" {
		t.Errorf("command: %s", diff)
	}
}

func TestSSH_refused(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(3))
	s := o.serveSSH()
	stranger, _ := newSigner(t)
	_, private := newSigner(t)
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	wrong := secret.New(string(pem.EncodeToMemory(block)))
	empty := filepath.Join(t.TempDir(), "empty")
	write(t, empty, "")
	locked := s.locked().Key
	for name, test := range map[string]struct {
		change func(*git.Remote)
		kind   fault.Kind
		want   string
	}{
		"an unknown host":    {func(r *git.Remote) { r.KnownHosts = empty }, fault.Invalid, "is not in " + empty + ": add it"},
		"a changed key":      {func(r *git.Remote) { r.KnownHosts = s.knownHosts(stranger.PublicKey()) }, fault.Invalid, "has changed"},
		"no known hosts":     {func(r *git.Remote) { r.KnownHosts = empty + "/none" }, fault.Invalid, "read the known hosts"},
		"a wrong key":        {func(r *git.Remote) { r.Credential = with(git.Credential{Key: wrong}) }, fault.Unauthorized, "does not take the ssh key"},
		"a wrong password":   {func(r *git.Remote) { r.Credential = with(git.Credential{User: "other", Password: wrong}) }, fault.Unauthorized, "does not take the ssh key"},
		"nobody":             {func(r *git.Remote) { r.Credential = nil }, fault.Unauthorized, "does not take the ssh key"},
		"no passphrase":      {func(r *git.Remote) { r.Credential = with(git.Credential{Key: locked}) }, fault.Invalid, "give its passphrase"},
		"a wrong passphrase": {func(r *git.Remote) { r.Credential = with(git.Credential{Key: locked, Passphrase: wrong}) }, fault.Invalid, "does not open"},
		"no key at all":      {func(r *git.Remote) { r.Credential = with(git.Credential{Key: secret.New("hello")}) }, fault.Invalid, "no private key"},
		"no such repository": {func(r *git.Remote) { r.URL += "/none" }, fault.NotFound, "does not appear to be a git repository"},
		"nobody who answers": {func(r *git.Remote) { r.URL = "ssh://git@" + nobody + "/x" }, fault.Temporary, "reach the server"},
		"a failed credential": {func(r *git.Remote) {
			r.Credential = func(context.Context) (git.Credential, error) {
				return git.Credential{}, fault.New(fault.Invalid, "no file")
			}
		}, fault.Invalid, "find the credential"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			remote := s.remote()
			test.change(&remote)
			_, err := opened(t, remote).List(t.Context())
			if fault.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v: %v", fault.KindOf(err), err)
			}
			for _, value := range []string{passphrase, "PRIVATE", wrong.Reveal()} {
				if strings.Contains(err.Error(), value) {
					t.Errorf("the error holds a secret: %v", err)
				}
			}
		})
	}
}

func TestSSH_password(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(3))
	remote := o.serveSSH().remote()
	remote.Credential = with(git.Credential{User: "other", Password: secret.New(passphrase)})
	if _, err := opened(t, remote).List(t.Context()); err != nil {
		t.Error(err)
	}
}

// A program's words come beside its answer; they are waited for.

func TestSSH_lastWords(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(3))
	s := o.serveSSH()
	m := opened(t, s.remote())
	for words, kind := range map[string]fault.Kind{
		"ERROR: Repository not found.\n":                         fault.NotFound,
		"remote: \nremote: =====\nremote: You are not allowed\n": fault.Unauthorized,
		"fatal: something odd\n":                                 fault.Temporary,
		"":                                                       fault.Temporary,
	} {
		s.answer(func(_ string, channel ssh.Channel) bool {
			_, _ = io.WriteString(channel.Stderr(), words)
			_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(&struct{ Status uint32 }{1}))
			return true
		})
		_, err := m.List(t.Context())
		if fault.KindOf(err) != kind {
			t.Errorf("%q: %v: %v", words, fault.KindOf(err), err)
		}
		if last := strings.TrimSpace(words[strings.LastIndex(strings.TrimSpace(words), "\n")+1:]); !strings.Contains(err.Error(), strings.TrimPrefix(strings.TrimPrefix(last, "remote: "), "ERROR: ")) {
			t.Errorf("%q is not told: %v", words, err)
		}
	}
}

func TestSSH_hangs(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("main", many(3))
	s := o.serveSSH()
	m := opened(t, s.remote())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.answer(func(_ string, channel ssh.Channel) bool {
		cancel() // while the client waits
		_, _ = io.Copy(io.Discard, channel)
		return true
	})
	done := make(chan error, 1)
	go func() { _, err := m.List(ctx); done <- err }()
	select {
	case err := <-done:
		if fault.KindOf(err) != fault.Temporary || !errors.Is(err, context.Canceled) {
			t.Errorf("%v: %v", fault.KindOf(err), err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the end of the context is not obeyed")
	}
}
