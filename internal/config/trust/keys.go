package trust

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// IsPEM reports whether a text is PEM, and not where it is.
func IsPEM(text string) bool { return strings.Contains(text, "-----BEGIN ") }

// CheckKeys checks public keys in PEM.
func CheckKeys(text string) error {
	_, err := PublicKeys(text)
	return err
}

const minRSA = 2048 // bits

// PublicKeys parses public keys in PEM: at least one, and nothing else.
func PublicKeys(text string) ([]any, error) {
	var keys []any
	rest := []byte(strings.TrimSpace(text))
	for len(rest) > 0 {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil || block.Type != "PUBLIC KEY" {
			return nil, errors.New("this is not a public key in PEM")
		}
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, errors.New("the public key cannot be read")
		}
		switch key := key.(type) {
		case *rsa.PublicKey:
			if key.N.BitLen() < minRSA {
				return nil, fmt.Errorf("the RSA key is shorter than %d bits", minRSA)
			}
			keys = append(keys, key)
		case *ecdsa.PublicKey, ed25519.PublicKey:
			keys = append(keys, key)
		default:
			return nil, errors.New("the type of the public key is not supported: use ECDSA, RSA, or Ed25519")
		}
		rest = []byte(strings.TrimSpace(string(rest)))
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no public key")
	}
	return keys, nil
}
