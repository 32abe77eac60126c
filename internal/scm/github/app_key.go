package github

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// minKeyBits is the minimum key size. GitHub creates keys of 2048 bits.
const minKeyBits = 2048

// parseKey parses the private key of an App: PEM with PKCS#1, as GitHub provides it,
// or with PKCS#8, to which other tools convert it. No error contains any part of it.
func parseKey(text secret.String) (*rsa.PrivateKey, error) {
	if text.IsZero() {
		return nil, fault.New(fault.Invalid, "the private key is empty")
	}
	block, _ := pem.Decode([]byte(text.Reveal()))
	if block == nil {
		return nil, fault.New(fault.Invalid, "the private key is no PEM: it is the file that GitHub gave for download, which begins with -----BEGIN RSA PRIVATE KEY-----")
	}
	key, err := parseBlock(block)
	if err != nil {
		return nil, err
	}
	if err := key.Validate(); err != nil || key.N.BitLen() < minKeyBits {
		return nil, fault.New(fault.Invalid, "the private key is damaged, or shorter than %d bits: make a new one on the App's page", minKeyBits)
	}
	return key, nil
}

func parseBlock(block *pem.Block) (*rsa.PrivateKey, error) {
	switch block.Type {
	case "RSA PRIVATE KEY":
		if block.Headers["DEK-Info"] != "" {
			return nil, fault.New(fault.Invalid, "the private key is encrypted: decrypt it with 'openssl rsa'")
		}
		if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
			return key, nil
		}
	case "PRIVATE KEY":
		parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		key, isRSA := parsed.(*rsa.PrivateKey)
		if err == nil && isRSA {
			return key, nil
		}
		if err == nil {
			return nil, fault.New(fault.Invalid, "the private key is no RSA key, which GitHub wants")
		}
	case "ENCRYPTED PRIVATE KEY":
		return nil, fault.New(fault.Invalid, "the private key is encrypted: decrypt it with 'openssl pkcs8'")
	default:
		return nil, fault.New(fault.Invalid, "the PEM holds no private key: give the file that GitHub gave for download")
	}
	return nil, fault.New(fault.Invalid, "the private key is damaged: download a new one from the App's page")
}
