package app

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"

	"promoter/internal/fault"
)

// maxAuthorities bounds a file with authorities, in bytes: that of a system is 250 KB.
const maxAuthorities = 4 << 20

// trusting says whom a command trusts that asks the service. On this machine it is the
// certificate of the server's own file: its names are for those who come from outside.
// Nil: whom the system trusts.
func (s *Server) trusting(asking Asking) (*tls.Config, error) {
	switch {
	case asking.CA != "":
		return trustingFile(asking.CA)
	case asking.URL == "" && s.file.TLS.On():
		own := &certificate{file: s.file.TLS, sources: s.sources(), now: s.now}
		return &tls.Config{
			MinVersion:         tls.VersionTLS12,
			InsecureSkipVerify: true, //nolint:gosec // VerifyConnection wants exactly one certificate
			VerifyConnection:   own.isShown,
		}, nil
	}
	return nil, nil //nolint:nilnil // the system's
}

func trustingFile(name string) (*tls.Config, error) {
	data, err := readFile(name, maxAuthorities)
	if err != nil {
		return nil, fault.New(fault.Invalid, "--ca: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if len(data) > maxAuthorities || !pool.AppendCertsFromPEM(data) {
		return nil, fault.New(fault.Invalid, "--ca %s holds no certificate in PEM, or too many", name)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}, nil
}

var errNotOwn = errors.New("what answers there shows another certificate than the server's file names: was it renewed this moment? Try again, or name the service with --url")

// isShown wants the certificate of the file, as it is now. That it is shown proves the
// key, which whoever asks need not be able to read.
func (c *certificate) isShown(state tls.ConnectionState) error {
	chain, err := c.read("certificate", c.file.Certificate)
	if err != nil {
		return err
	}
	own, err := firstOf(chain)
	if err != nil {
		return fault.New(fault.Invalid, "%s: tls.certificate: %w", c.file.Position, err)
	}
	if len(state.PeerCertificates) == 0 || !bytes.Equal(state.PeerCertificates[0].Raw, own) {
		return fault.Wrap(fault.Unauthorized, errNotOwn)
	}
	return nil
}

var errNoCertificate = errors.New("it holds no certificate in PEM")

// firstOf is the first certificate of a chain in PEM, which is the server's own.
func firstOf(chain []byte) ([]byte, error) {
	for block, rest := pem.Decode(chain); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			return block.Bytes, nil
		}
	}
	return nil, errNoCertificate
}

// untrusted says what to do where a certificate is not believed.
func untrusted(err error) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var plain tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown):
		return fault.New(fault.Unauthorized, "%w: name its authority with --ca FILE", err)
	case errors.As(err, &name):
		return fault.New(fault.Unauthorized, "%w: use a name of the certificate in --url", err)
	case errors.As(err, &plain):
		return fault.New(fault.Invalid, "%w: no TLS is spoken there: on this machine write http:// in --url", err)
	}
	return err
}
