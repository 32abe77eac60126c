package wire

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/secret"
)

// sshUser is the user if neither the credential nor the URL has one, as all forges
// expect.
const sshUser = "git"

// dialSSH connects to the remote and starts the service there.
func dialSSH(ctx context.Context, e Endpoint, service Service, credential Credential) (transport, error) {
	keys, err := readHostKeys(e)
	if err != nil {
		return nil, err
	}
	config, err := clientConfig(e, credential, keys)
	if err != nil {
		return nil, err
	}
	conn, err := e.remote.Dial(ctx, "tcp", e.address())
	if err != nil {
		return nil, connectionError(fmt.Errorf("connect to the server: %w", err))
	}
	// When the context ends, so do the connection and all that waits for it.
	release := context.AfterFunc(ctx, func() { _ = conn.Close() })
	p, err := startRemote(conn, e, service, config)
	if err != nil {
		release()
		_ = conn.Close()
		return nil, keys.explain(ctx, err)
	}
	closeClient := p.end
	p.end = func() error {
		release()
		err := closeClient()
		if err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.EOF) {
			return fmt.Errorf("close the connection: %w", outbound.Redact(err))
		}
		return nil
	}
	return p, nil
}

// clientConfig returns the settings of the handshake.
func clientConfig(e Endpoint, credential Credential, keys *hostKeys) (*ssh.ClientConfig, error) {
	config := &ssh.ClientConfig{User: e.user, HostKeyCallback: keys.check, HostKeyAlgorithms: keys.algorithms()}
	if credential.User != "" {
		config.User = credential.User
	}
	if config.User == "" {
		config.User = sshUser
	}
	if !credential.Key.IsZero() {
		signer, err := parseKey(credential)
		if err != nil {
			return nil, err
		}
		config.Auth = append(config.Auth, ssh.PublicKeys(signer))
	}
	if !credential.Password.IsZero() {
		config.Auth = append(config.Auth, ssh.Password(credential.Password.Reveal()))
	}
	return config, nil
}

// CheckKey returns an error unless a text is a private key without a passphrase.
func CheckKey(key secret.String) error {
	_, err := parseKey(Credential{Key: key})
	return err
}

// parseKey parses the private key. It does not repeat the parser's errors, which may
// contain parts of the key.
func parseKey(c Credential) (ssh.Signer, error) {
	key := []byte(c.Key.Reveal())
	signer, err := ssh.ParsePrivateKey(key)
	var encrypted *ssh.PassphraseMissingError
	if errors.As(err, &encrypted) {
		if c.Passphrase.IsZero() {
			return nil, fault.New(fault.Invalid, "the SSH key is encrypted: configure its passphrase")
		}
		if signer, err = ssh.ParsePrivateKeyWithPassphrase(key, []byte(c.Passphrase.Reveal())); err != nil {
			return nil, fault.New(fault.Invalid, "the passphrase does not decrypt the SSH key")
		}
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, "the SSH key is not a private key in PEM format")
	}
	return signer, nil
}

// startRemote makes the handshake and starts the service.
func startRemote(conn net.Conn, e Endpoint, service Service, config *ssh.ClientConfig) (*program, error) {
	secure, channels, requests, err := ssh.NewClientConn(conn, e.address(), config)
	if err != nil {
		return nil, err
	}
	client := ssh.NewClient(secure, channels, requests)
	p := &program{exited: make(chan struct{}), end: client.Close}
	if err := p.startIn(client, e, service); err != nil {
		_ = client.Close()
		return nil, fmt.Errorf("start the service: %w", err)
	}
	return p, nil
}

// startIn starts the service in a session of the client.
func (p *program) startIn(client *ssh.Client, e Endpoint, service Service) error {
	session, err := client.NewSession()
	if err != nil {
		return err
	}
	session.Stderr = &p.stderr
	if p.stdin, err = session.StdinPipe(); err != nil {
		return err
	}
	if p.stdout, err = session.StdoutPipe(); err != nil {
		return err
	}
	path := "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(e.path) + "'" // one word for the remote shell
	if err := session.Start(string(service) + " " + path); err != nil {
		return err
	}
	go func() {
		defer close(p.exited)
		_ = session.Wait() // stderr has the reason
	}()
	return nil
}

// hostKeys verifies the key of a server with a known_hosts file, and keeps the
// reason for refusing it: the ssh package returns it only as text.
type hostKeys struct {
	file   string
	host   string
	known  ssh.HostKeyCallback
	reason error
}

func readHostKeys(e Endpoint) (*hostKeys, error) {
	known, err := knownhosts.New(e.remote.KnownHosts)
	if err != nil {
		return nil, fault.New(fault.Invalid, "read the known hosts: %w", err)
	}
	return &hostKeys{file: e.remote.KnownHosts, host: e.address(), known: known}, nil
}

// check is called during the handshake.
func (k *hostKeys) check(host string, remote net.Addr, key ssh.PublicKey) error {
	err := k.known(host, remote, key)
	var unknown *knownhosts.KeyError
	var revoked *knownhosts.RevokedError
	switch {
	case errors.As(err, &unknown) && len(unknown.Want) == 0:
		k.reason = fault.New(fault.Invalid, "the SSH host key of %s is not in %s: verify that its fingerprint is %s, then add it",
			k.host, k.file, ssh.FingerprintSHA256(key))
	case errors.As(err, &unknown):
		const changed = "the SSH host key of %s has changed to %s, but %s has another one in line %d: the connection may be intercepted"
		k.reason = fault.New(fault.Invalid, changed, k.host, ssh.FingerprintSHA256(key), k.file, unknown.Want[0].Line)
	case errors.As(err, &revoked):
		k.reason = fault.New(fault.Invalid, "the SSH host key of %s is revoked in %s", k.host, k.file)
	case err != nil:
		k.reason = fault.New(fault.Invalid, "check the SSH host key of %s: %w", k.host, err)
	}
	return k.reason
}

// algorithms returns those of the host's known keys, because a server with several
// keys must send one of them. It returns none for an unknown host.
func (k *hostKeys) algorithms() []string {
	zero, err := ssh.NewPublicKey(make(ed25519.PublicKey, ed25519.PublicKeySize)) // not the key of any host
	if err != nil {
		return nil
	}
	var want *knownhosts.KeyError
	if !errors.As(k.known(k.host, &net.TCPAddr{}, zero), &want) {
		return nil
	}
	var names []string
	for _, known := range want.Want {
		if kind := known.Key.Type(); kind == ssh.KeyAlgoRSA {
			names = append(names, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		} else {
			names = append(names, kind)
		}
	}
	return names
}

// explain gives the error of a handshake its kind.
func (k *hostKeys) explain(ctx context.Context, err error) error {
	var mismatch *ssh.AlgorithmNegotiationError
	switch {
	case k.reason != nil:
		return k.reason
	case ctx.Err() != nil:
		return fault.Wrap(fault.Temporary, context.Cause(ctx))
	case errors.As(err, &mismatch):
		return fault.New(fault.Invalid,
			"the server supports none of our SSH algorithms, or has no host key of a type that %s has for %s: %w", k.file, k.host, err)
	case strings.Contains(err.Error(), "unable to authenticate"): // the error has no type
		return fault.New(fault.Unauthorized, "the server rejected the SSH key or the password")
	case errors.Is(err, io.EOF):
		return fault.New(fault.Temporary, "the server closed the connection: %w", io.ErrUnexpectedEOF)
	}
	return fault.Wrap(fault.Temporary, outbound.Redact(err))
}
