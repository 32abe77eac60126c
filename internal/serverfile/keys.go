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
func (s *Server) SealKeys() (seal.Keys, error) {
	var secrets []secret.String
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
	return seal.New(secrets...)
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
func (s *Server) SigningKey() (signing.Key, error) {
	named := s.File.Signing
	if named.Key.IsZero() {
		return signing.Key{}, nil
	}
	private, err := s.Secret(named.Key)
	if err != nil {
		return signing.Key{}, fmt.Errorf("signing.key: %w", err)
	}
	passphrase, err := s.Secret(named.Passphrase)
	if err != nil {
		return signing.Key{}, fmt.Errorf("signing.passphrase: %w", err)
	}
	key, err := signing.Parse(private, passphrase)
	if err != nil {
		return signing.Key{}, fmt.Errorf("signing.key (%s): %w", named.Key, err)
	}
	if _, err := key.Sign(nil, s.Now()); err != nil { // it may have expired
		return signing.Key{}, fmt.Errorf("signing.key (%s): %w", named.Key, err)
	}
	return key, nil
}
