package git_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"promoter/internal/fault"
	"promoter/internal/git/gittest"
	"promoter/internal/git/wire"
	"promoter/internal/secret"
)

// passphrase opens the client's key in these tests.
const passphrase = "correct horse battery staple"

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
	if _, err := m.List(t.Context()); err != nil {
		t.Error(err)
	}
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
		change func(*wire.Remote)
		kind   fault.Kind
		want   string
	}{
		"an unknown host":    {func(r *wire.Remote) { r.KnownHosts = empty }, fault.Invalid, "is not in " + empty + ": verify"},
		"a changed key":      {func(r *wire.Remote) { r.KnownHosts = s.knownHosts(stranger.PublicKey()) }, fault.Invalid, "has changed"},
		"no known hosts":     {func(r *wire.Remote) { r.KnownHosts = empty + "/none" }, fault.Invalid, "read the known hosts"},
		"a wrong key":        {func(r *wire.Remote) { r.Credential = with(wire.Credential{Key: wrong}) }, fault.Unauthorized, "rejected the SSH key"},
		"a wrong password":   {func(r *wire.Remote) { r.Credential = with(wire.Credential{User: "other", Password: wrong}) }, fault.Unauthorized, "rejected the SSH key"},
		"no credential":      {func(r *wire.Remote) { r.Credential = nil }, fault.Unauthorized, "rejected the SSH key"},
		"no passphrase":      {func(r *wire.Remote) { r.Credential = with(wire.Credential{Key: locked}) }, fault.Invalid, "configure its passphrase"},
		"a wrong passphrase": {func(r *wire.Remote) { r.Credential = with(wire.Credential{Key: locked, Passphrase: wrong}) }, fault.Invalid, "does not decrypt"},
		"no key at all":      {func(r *wire.Remote) { r.Credential = with(wire.Credential{Key: secret.New("hello")}) }, fault.Invalid, "not a private key"},
		"no such repository": {func(r *wire.Remote) { r.URL += "/none" }, fault.NotFound, "does not appear to be a git repository"},
		"a closed port":      {func(r *wire.Remote) { r.URL = "ssh://git@" + closedAddress + "/x" }, fault.Temporary, "connect to the server"},
		"a failed credential": {func(r *wire.Remote) {
			r.Credential = func(context.Context) (wire.Credential, error) {
				return wire.Credential{}, fault.New(fault.Invalid, "no file")
			}
		}, fault.Invalid, "get the credential"},
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
					t.Errorf("the error contains a secret: %v", err)
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
	remote.Credential = with(wire.Credential{User: "other", Password: secret.New(passphrase)})
	if _, err := opened(t, remote).List(t.Context()); err != nil {
		t.Error(err)
	}
}

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
			t.Errorf("%q is not reported: %v", words, err)
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
		t.Fatal("the call does not end with the context")
	}
}

type sshServer struct {
	t       testing.TB
	o       *origin
	address string
	host    ssh.Signer
	client  ssh.Signer
	private ed25519.PrivateKey // of the client
	known   string             // path of the known hosts

	mu       sync.Mutex
	commands []string
	instead  func(command string, channel ssh.Channel) bool // of Git's program, if it returns true
}

func newSigner(t testing.TB) (ssh.Signer, ed25519.PrivateKey) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer, private
}

func (o *origin) serveSSH() *sshServer {
	o.t.Helper()
	s := &sshServer{t: o.t, o: o}
	s.host, _ = newSigner(o.t)
	s.client, s.private = newSigner(o.t)
	listener, err := (&net.ListenConfig{}).Listen(o.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		o.t.Fatal(err)
	}
	s.address = listener.Addr().String()
	s.known = s.knownHosts(s.host.PublicKey())
	var connections sync.WaitGroup
	o.t.Cleanup(func() { _ = listener.Close(); connections.Wait() })
	connections.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Go(func() { s.serve(conn) })
		}
	})
	return s
}

// credential is the client's key.
func (s *sshServer) credential() wire.Credential {
	s.t.Helper()
	block, err := ssh.MarshalPrivateKey(s.private, "")
	if err != nil {
		s.t.Fatal(err)
	}
	return wire.Credential{Key: secret.New(string(pem.EncodeToMemory(block)))}
}

// locked is the client's key that the passphrase opens, which takes its time.
func (s *sshServer) locked() wire.Credential {
	s.t.Helper()
	block, err := ssh.MarshalPrivateKeyWithPassphrase(s.private, "", []byte(passphrase))
	if err != nil {
		s.t.Fatal(err)
	}
	return wire.Credential{Key: secret.New(string(pem.EncodeToMemory(block))), Passphrase: secret.New(passphrase)}
}

func (s *sshServer) knownHosts(key ssh.PublicKey) string {
	s.t.Helper()
	name := filepath.Join(s.t.TempDir(), "known_hosts")
	line := knownhosts.Line([]string{knownhosts.Normalize(s.address)}, key)
	if err := os.WriteFile(name, []byte("# ours\n"+line+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return name
}

func (s *sshServer) serve(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // the client may be gone
	config := &ssh.ServerConfig{
		PublicKeyCallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if meta.User() == "git" && slices.Equal(key.Marshal(), s.client.PublicKey().Marshal()) {
				return nil, nil //nolint:nilnil // no restrictions
			}
			return nil, errors.New("unknown user")
		},
		PasswordCallback: func(meta ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
			if meta.User() == "other" && string(password) == passphrase {
				return nil, nil //nolint:nilnil // no restrictions
			}
			return nil, errors.New("unknown user")
		},
	}
	config.AddHostKey(s.host)
	server, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	defer server.Close() //nolint:errcheck // the client may be gone
	go ssh.DiscardRequests(requests)
	var sessions sync.WaitGroup
	defer sessions.Wait()
	for offered := range channels {
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		sessions.Go(func() { s.session(channel, requests) })
	}
}

func (s *sshServer) session(channel ssh.Channel, requests <-chan *ssh.Request) {
	defer channel.Close() //nolint:errcheck // the client may be gone
	for request := range requests {
		if request.Type != "exec" {
			_ = request.Reply(false, nil)
			continue
		}
		var asked struct{ Command string }
		if err := ssh.Unmarshal(request.Payload, &asked); err != nil {
			return
		}
		_ = request.Reply(true, nil)
		s.mu.Lock()
		s.commands = append(s.commands, asked.Command)
		instead := s.instead
		s.mu.Unlock()
		if instead != nil && instead(asked.Command, channel) {
			return
		}
		s.exec(asked.Command, channel)
		return
	}
}

func (s *sshServer) exec(line string, channel ssh.Channel) {
	command := exec.Command("sh", "-c", line) //nolint:noctx // it ends with its input
	command.Dir, command.Env = filepath.Dir(s.o.dir), gittest.Environ()
	command.Stdout, command.Stderr = channel, channel.Stderr()
	stdin, err := command.StdinPipe()
	if err != nil {
		return
	}
	if err := command.Start(); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(stdin, channel)
		_ = stdin.Close()
	}()
	status := struct{ Status uint32 }{}
	if err := command.Wait(); err != nil {
		status.Status = 128
	}
	_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(&status))
}

func (s *sshServer) answer(f func(command string, channel ssh.Channel) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instead = f
}

func (s *sshServer) remote() wire.Remote {
	return wire.Remote{
		URL:        "ssh://git@" + s.address + s.o.dir,
		Dial:       (&net.Dialer{}).DialContext,
		KnownHosts: s.known,
		Credential: with(s.credential()),
	}
}
