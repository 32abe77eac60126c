package git_test

import (
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
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"promoter/internal/git"
	"promoter/internal/secret"
)

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
	instead  func(command string, channel ssh.Channel) bool // of Git's program, when it says so
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
func (s *sshServer) credential() git.Credential {
	s.t.Helper()
	block, err := ssh.MarshalPrivateKey(s.private, "")
	if err != nil {
		s.t.Fatal(err)
	}
	return git.Credential{Key: secret.New(string(pem.EncodeToMemory(block)))}
}

// locked is the client's key that the passphrase opens, which takes its time.
func (s *sshServer) locked() git.Credential {
	s.t.Helper()
	block, err := ssh.MarshalPrivateKeyWithPassphrase(s.private, "", []byte(passphrase))
	if err != nil {
		s.t.Fatal(err)
	}
	return git.Credential{Key: secret.New(string(pem.EncodeToMemory(block))), Passphrase: secret.New(passphrase)}
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
			return nil, errors.New("nobody we know")
		},
		PasswordCallback: func(meta ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
			if meta.User() == "other" && string(password) == passphrase {
				return nil, nil //nolint:nilnil // no restrictions
			}
			return nil, errors.New("nobody we know")
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
	command.Dir, command.Env = filepath.Dir(s.o.dir), gitEnv()
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

func (s *sshServer) remote() git.Remote {
	return git.Remote{
		URL:        "ssh://git@" + s.address + s.o.dir,
		Dial:       (&net.Dialer{}).DialContext,
		KnownHosts: s.known,
		Credential: with(s.credential()),
	}
}
