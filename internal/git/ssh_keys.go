package git

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"net"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// sshUser is who logs in where neither the credential nor the URL says it, as all
// forges want it.
const sshUser = "git"

// hostKeys checks the key of a server against the known ones, and remembers why
// it refused one.
type hostKeys struct {
	file   string
	host   string
	known  ssh.HostKeyCallback
	reason error
}

// sshConfig makes what a handshake needs.
func sshConfig(r Remote, remote address, credential Credential) (*ssh.ClientConfig, *hostKeys, error) {
	known, err := knownhosts.New(r.KnownHosts)
	if err != nil {
		return nil, nil, fault.New(fault.Invalid, "read the known hosts: %w", err)
	}
	keys := &hostKeys{file: r.KnownHosts, host: remote.endpoint(), known: known}
	config := &ssh.ClientConfig{User: remote.user, HostKeyCallback: keys.check, HostKeyAlgorithms: keys.algorithms()}
	if credential.User != "" {
		config.User = credential.User
	}
	if config.User == "" {
		config.User = sshUser
	}
	if !credential.Key.IsZero() {
		signer, err := signerOf(credential)
		if err != nil {
			return nil, nil, err
		}
		config.Auth = append(config.Auth, ssh.PublicKeys(signer))
	}
	if !credential.Password.IsZero() {
		config.Auth = append(config.Auth, ssh.Password(credential.Password.Reveal()))
	}
	return config, keys, nil
}

// signerOf opens the private key. What the parser says of a key is not repeated.
func signerOf(c Credential) (ssh.Signer, error) {
	key := []byte(c.Key.Reveal())
	signer, err := ssh.ParsePrivateKey(key)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		if c.Passphrase.IsZero() {
			return nil, fault.New(fault.Invalid, "the ssh key is encrypted: give its passphrase")
		}
		if signer, err = ssh.ParsePrivateKeyWithPassphrase(key, []byte(c.Passphrase.Reveal())); err != nil {
			return nil, fault.New(fault.Invalid, "the passphrase does not open the ssh key")
		}
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, "the ssh key is no private key in PEM")
	}
	return signer, nil
}

// check is asked by the handshake.
func (k *hostKeys) check(host string, remote net.Addr, key ssh.PublicKey) error {
	err := k.known(host, remote, key)
	var unknown *knownhosts.KeyError
	var revoked *knownhosts.RevokedError
	switch {
	case errors.As(err, &unknown) && len(unknown.Want) == 0:
		k.reason = fault.New(fault.Invalid, "the ssh key of %s is not in %s: add it, after you have checked that %s is its fingerprint", k.host, k.file, ssh.FingerprintSHA256(key))
	case errors.As(err, &unknown):
		k.reason = fault.New(fault.Invalid, "the ssh key of %s has changed: it shows %s, and %s, line %d, holds another; somebody may be listening", k.host, ssh.FingerprintSHA256(key), k.file, unknown.Want[0].Line)
	case errors.As(err, &revoked):
		k.reason = fault.New(fault.Invalid, "the ssh key of %s is revoked in %s", k.host, k.file)
	case err != nil:
		k.reason = fault.New(fault.Invalid, "check the ssh key of %s: %w", k.host, err)
	}
	return k.reason
}

// algorithms returns those of the keys that are known for the host: a server with
// several keys must show one of them. None: whatever it shows will be unknown.
func (k *hostKeys) algorithms() []string {
	var want *knownhosts.KeyError
	if !errors.As(k.known(k.host, &net.TCPAddr{}, nobodysKey()), &want) {
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

// nobodysKey is a key that no host has, to ask which ones it has.
func nobodysKey() ssh.PublicKey {
	key, err := ssh.NewPublicKey(make(ed25519.PublicKey, ed25519.PublicKeySize))
	if err != nil {
		return nil // a key of that size is one
	}
	return key
}

// explain gives the error of a handshake its kind.
func (k *hostKeys) explain(ctx context.Context, err error) error {
	var none *ssh.AlgorithmNegotiationError
	switch {
	case k.reason != nil:
		return k.reason
	case ctx.Err() != nil:
		return fault.Wrap(fault.Temporary, context.Cause(ctx))
	case errors.As(err, &none):
		return fault.New(fault.Invalid, "the server agrees to no way of ours, or shows none of the kinds of ssh keys that %s holds for %s: %w", k.file, k.host, err)
	case strings.Contains(err.Error(), "unable to authenticate"): // it has no type
		return fault.New(fault.Unauthorized, "the server does not take the ssh key or the password")
	case errors.Is(err, io.EOF):
		return fault.New(fault.Temporary, "the server ended the connection: %w", io.ErrUnexpectedEOF)
	}
	return fault.Wrap(fault.Temporary, outbound.Redact(err))
}
