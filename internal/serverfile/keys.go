package serverfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"promoter/internal/atomicfile"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/git/signing"
	"promoter/internal/seal"
	"promoter/internal/secret"
)

// sealKeyFile is the key that a service makes, in the data folder. Commands with the same
// server file on the same machine use it too.
const sealKeyFile = "seal.key"

// maxKey is the largest key file that is read, in bytes.
const maxKey = 4096

// SealKeys returns the keys of the seals: those of the server file or the environment, or
// the one that a service made. Without any, there are no seals.
func (s *Server) SealKeys() (*secret.Derived[seal.Keys], error) {
	secrets, err := s.sealSecrets()
	if err != nil {
		return nil, err
	}
	return secret.Derive("seal.keys", func(from []secret.String) (seal.Keys, error) { return seal.New(from...) }, secrets...)
}

func (s *Server) sealSecrets() (secrets []secret.String, err error) {
	for _, reference := range s.File.Seal.Keys {
		one, err := s.Secret(reference)
		if err != nil {
			return nil, fmt.Errorf("seal.keys: %w", err)
		}
		secrets = append(secrets, one)
	}
	if len(secrets) == 0 {
		made, err := s.madeSealKey()
		if err != nil || made.IsZero() {
			return nil, err
		}
		secrets = append(secrets, made)
	}
	return secrets, nil
}

// UseSealKey sets the key of a service whose server file names none.
func (s *Server) UseSealKey(key secret.String) { s.sealKey = key }

// MakeSealKey makes a key in the data folder, unless there is one or the server file names
// one. It reports the file that it wrote; empty: none.
func (s *Server) MakeSealKey() (file string, err error) {
	made, err := s.madeSealKey()
	if err != nil || len(s.File.Seal.Keys) > 0 || !made.IsZero() {
		return "", err
	}
	file = filepath.Join(s.File.Data, sealKeyFile)
	_, err = makeKey(file)
	return file, err
}

// madeSealKey returns the key that a service made, if any.
func (s *Server) madeSealKey() (secret.String, error) {
	if !s.sealKey.IsZero() || s.File.Data == "" {
		return s.sealKey, nil
	}
	return readKey(filepath.Join(s.File.Data, sealKeyFile))
}

// readKey reads a key that a service made; zero: there is none.
func readKey(file string) (secret.String, error) {
	content, err := atomicfile.Read(file, maxKey)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // what else is wrong with the folder, its users report
		return secret.String{}, nil
	}
	if err != nil {
		return secret.String{}, fmt.Errorf("read a key that serve made: %w", err)
	}
	return secret.New(strings.TrimSpace(string(content))), nil
}

func makeKey(file string) (secret.String, error) {
	key := seal.Generate()
	if err := atomicfile.Replace(file, []byte(key.Reveal()+"\n")); err != nil {
		return secret.String{}, fmt.Errorf("write a key: %w", err)
	}
	return key, nil
}

// SignsAsApp reports whether GitHub makes and signs the commits of repositories on a forge.
func (s *Server) SignsAsApp(forge serverconfig.Forge) bool {
	return s.File.Signing.GitHubApp && forge.App != nil
}

// SignsCommits reports whether the commits of repositories on a forge are signed.
func (s *Server) SignsCommits(forge serverconfig.Forge) bool {
	return s.SignsAsApp(forge) || !s.File.Signing.Key.IsZero()
}

// SigningKey returns the key that signs commits; zero: the server file names none.
func (s *Server) SigningKey() (*secret.Derived[signing.Key], error) {
	named := s.File.Signing
	private, err := s.Secret(named.Key)
	if err != nil {
		return nil, fmt.Errorf("signing.key: %w", err)
	}
	passphrase, err := s.Secret(named.Passphrase)
	if err != nil {
		return nil, fmt.Errorf("signing.passphrase: %w", err)
	}
	return secret.Derive("signing.key", func(from []secret.String) (signing.Key, error) {
		if from[0].IsZero() {
			return signing.Key{}, nil
		}
		key, err := signing.Parse(from[0], from[1])
		if err == nil {
			_, err = key.Sign(nil, s.Now()) // it may have expired
		}
		if err != nil {
			return signing.Key{}, fmt.Errorf("signing.key (%s): %w", named.Key, err)
		}
		return key, nil
	}, private, passphrase)
}
