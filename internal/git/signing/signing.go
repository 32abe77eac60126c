// Package signing signs Git commits with a private key of the operator, GPG or SSH, as
// `git commit -S` does. It runs no program: the key is a secret, and stays in memory.
package signing

import (
	"bytes"
	"crypto/rand"
	"crypto/sha512"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"golang.org/x/crypto/ssh"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// The formats of keys, as users know them.
const (
	GPG = "GPG"
	SSH = "SSH"
)

// Key signs commits. Its zero value is none.
type Key struct {
	Format      string
	Fingerprint string   // as gpg and ssh-keygen print it
	Emails      []string // of the user IDs of a GPG key

	sign func(payload []byte, at time.Time) (string, error)
}

// IsZero reports whether there is no key.
func (k Key) IsZero() bool { return k.sign == nil }

// Covers reports whether signatures of the key are valid for a committer. An SSH key has no
// identity: who verifies decides whose it is.
func (k Key) Covers(email string) bool {
	for _, one := range k.Emails {
		if strings.EqualFold(one, email) {
			return true
		}
	}
	return k.Format != GPG
}

// String describes the key.
func (k Key) String() string {
	if len(k.Emails) == 0 {
		return k.Format + " key " + k.Fingerprint
	}
	return k.Format + " key " + k.Fingerprint + " of " + fault.List(k.Emails)
}

// Sign returns the signature of an encoded commit, armored.
func (k Key) Sign(payload []byte, at time.Time) (string, error) {
	signature, err := k.sign(payload, at)
	if err != nil {
		return "", fault.Wrap(fault.Invalid, fmt.Errorf("sign with the %s: %w", k, err))
	}
	return signature, nil
}

// The armor of private keys.
const (
	gpgArmor       = "-----BEGIN PGP PRIVATE KEY BLOCK-----"
	gpgPublicArmor = "-----BEGIN PGP PUBLIC KEY BLOCK-----"
)

// Parse reads a private key, and decrypts it if there is a passphrase: a GPG key as
// 'gpg --export-secret-keys --armor' prints it, or an SSH key in a form that ssh-keygen
// writes. Errors are Invalid faults that contain nothing of the key.
func Parse(private, passphrase secret.String) (Key, error) {
	text := strings.TrimSpace(private.Reveal())
	switch {
	case strings.Contains(text, gpgArmor):
		return parseGPG(text, passphrase)
	case strings.Contains(text, gpgPublicArmor), strings.HasPrefix(text, "ssh-"), strings.HasPrefix(text, "ecdsa-"):
		return Key{}, fault.New(fault.Invalid, "this is a public key: signing needs the private key")
	case strings.HasPrefix(text, "-----BEGIN "):
		return parseSSH(text, passphrase)
	default:
		return Key{}, fault.New(fault.Invalid,
			"this is no private key: write a GPG key as 'gpg --export-secret-keys --armor KEY' prints it, "+
				"or an SSH key as ssh-keygen writes it")
	}
}

func parseGPG(text string, passphrase secret.String) (Key, error) {
	entities, err := openpgp.ReadArmoredKeyRing(strings.NewReader(text + "\n"))
	if err != nil {
		return Key{}, fault.New(fault.Invalid, "the GPG key cannot be read: %v", err)
	}
	if len(entities) != 1 {
		return Key{}, fault.New(fault.Invalid,
			"there are %d GPG keys: export one with 'gpg --export-secret-keys --armor KEY'", len(entities))
	}
	entity := entities[0]
	if err := decrypt(entity, passphrase); err != nil {
		return Key{}, err
	}
	key := Key{Format: GPG, Fingerprint: fmt.Sprintf("%X", entity.PrimaryKey.Fingerprint)}
	for _, identity := range entity.Identities {
		if identity.UserId != nil && identity.UserId.Email != "" && len(identity.Revocations) == 0 {
			key.Emails = append(key.Emails, identity.UserId.Email)
		}
	}
	slices.Sort(key.Emails)
	key.sign = func(payload []byte, at time.Time) (string, error) {
		found, ok := entity.SigningKey(at)
		if !ok || found.PrivateKey == nil || found.PrivateKey.Dummy() {
			return "", errors.New("it has expired, was revoked, or has no secret key for signing: renew it, " +
				"or export it with its subkey for signing")
		}
		var armored bytes.Buffer
		config := &packet.Config{
			Time:         func() time.Time { return at },
			SigningKeyId: found.PublicKey.KeyId,

			NonDeterministicSignaturesViaNotation: packet.BoolPointer(false),
		}
		err := openpgp.ArmoredDetachSign(&armored, entity, bytes.NewReader(payload), config)
		return armored.String(), err
	}
	return key, nil
}

// decrypt decrypts the secret keys of a GPG key. Keys that were left out of the export, such
// as an offline primary key, are skipped.
func decrypt(entity *openpgp.Entity, passphrase secret.String) error {
	private := []*packet.PrivateKey{entity.PrivateKey}
	for _, subkey := range entity.Subkeys {
		private = append(private, subkey.PrivateKey)
	}
	for _, one := range private {
		if one == nil || one.Dummy() || !one.Encrypted {
			continue
		}
		if passphrase.IsZero() {
			return errNoPassphrase()
		}
		if err := one.Decrypt([]byte(passphrase.Reveal())); err != nil {
			return errPassphrase()
		}
	}
	return nil
}

func errNoPassphrase() error {
	return fault.New(fault.Invalid, "the key has a passphrase: set it too")
}

func errPassphrase() error {
	return fault.New(fault.Invalid, "the passphrase does not decrypt the key")
}

func parseSSH(text string, passphrase secret.String) (Key, error) {
	raw, err := ssh.ParseRawPrivateKey([]byte(text + "\n"))
	var encrypted *ssh.PassphraseMissingError
	if errors.As(err, &encrypted) {
		if passphrase.IsZero() {
			return Key{}, errNoPassphrase()
		}
		if raw, err = ssh.ParseRawPrivateKeyWithPassphrase([]byte(text+"\n"), []byte(passphrase.Reveal())); err != nil {
			return Key{}, errPassphrase()
		}
	}
	if err != nil {
		return Key{}, fault.New(fault.Invalid, "the SSH key cannot be read: %v", err)
	}
	signer, err := ssh.NewSignerFromKey(raw)
	if err != nil {
		return Key{}, fault.New(fault.Invalid, "the SSH key cannot be used: %v", err)
	}
	algorithm := signer.PublicKey().Type()
	switch algorithm {
	case ssh.KeyAlgoRSA:
		algorithm = ssh.KeyAlgoRSASHA512 // ssh-rsa is SHA-1, which OpenSSH refuses
	case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
	default:
		return Key{}, fault.New(fault.Invalid, "SSH keys of type %s cannot sign commits: make one with 'ssh-keygen -t ed25519'", algorithm)
	}
	signing, ok := signer.(ssh.AlgorithmSigner)
	if !ok {
		return Key{}, fault.New(fault.Invalid, "the SSH key cannot be used for signatures")
	}
	return Key{
		Format: SSH, Fingerprint: ssh.FingerprintSHA256(signer.PublicKey()),
		sign: func(payload []byte, _ time.Time) (string, error) { return signSSH(signing, algorithm, payload) },
	}, nil
}

// What Git signs with an SSH key.
// https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig
const (
	sshMagic     = "SSHSIG"
	sshNamespace = "git"
	sshHash      = "sha512"
	sshVersion   = 1
)

// signSSH makes a signature as 'ssh-keygen -Y sign -n git' does.
func signSSH(signer ssh.AlgorithmSigner, algorithm string, payload []byte) (string, error) {
	hash := sha512.Sum512(payload)
	message := ssh.Marshal(struct{ Namespace, Reserved, Hash, Sum string }{sshNamespace, "", sshHash, string(hash[:])})
	signature, err := signer.SignWithAlgorithm(rand.Reader, append([]byte(sshMagic), message...), algorithm)
	if err != nil {
		return "", err
	}
	blob := ssh.Marshal(struct {
		Version                                         uint32
		PublicKey, Namespace, Reserved, Hash, Signature string
	}{sshVersion, string(signer.PublicKey().Marshal()), sshNamespace, "", sshHash, string(ssh.Marshal(signature))})
	armored := pem.EncodeToMemory(&pem.Block{Type: "SSH SIGNATURE", Bytes: append([]byte(sshMagic), blob...)})
	return string(armored), nil
}
