// Package certificate reads the TLS certificate of the service from its files, again while the
// service runs, and decides which certificates a command trusts that calls the service.
package certificate

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"promoter/internal/atomicfile"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
)

const (
	// ExpiresSoon is how long before its end a certificate causes a warning.
	ExpiresSoon = 14 * 24 * time.Hour

	certificateInterval = 10 * time.Second // between two reads of its files
	warnInterval        = 24 * time.Hour
)

// Source is where the certificate and its key are read from.
type Source struct {
	TLS     serverconfig.TLS
	Secrets serverconfig.Sources
	Now     func() time.Time
}

// Certificate is the TLS certificate of the service. Its files are read again while
// the service runs. If they cannot be used, the certificate before stays.
type Certificate struct {
	source Source
	log    *slog.Logger

	mutex  sync.Mutex
	pem    []byte // of both files, as they were read last
	loaded *tls.Certificate
	read   time.Time
	warned time.Time
	broken string // why the files cannot be used now
}

// Open reads the certificate. It is nil if the source names none.
func Open(ctx context.Context, source Source, log *slog.Logger) (*Certificate, error) {
	if !source.TLS.On() {
		return nil, nil //nolint:nilnil // none is no error
	}
	c := &Certificate{source: source, log: log}
	if err := c.load(); err != nil {
		return nil, err
	}
	c.read = source.Now()
	c.warn(ctx)
	return c, nil
}

// Leaf returns the certificate as it was loaded last.
func (c *Certificate) Leaf() *x509.Certificate {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.loaded.Leaf
}

// Config returns the configuration of a listener; nil without a certificate.
func (c *Certificate) Config() *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
}

// get returns the certificate for a handshake.
func (c *Certificate) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if now := c.source.Now(); now.Sub(c.read).Abs() >= certificateInterval {
		c.read = now
		c.reload(hello.Context())
	}
	return c.loaded, nil
}

// reload reads the files again, and logs each error once.
func (c *Certificate) reload(ctx context.Context) {
	before := c.loaded
	err := c.load()
	switch {
	case err != nil && err.Error() != c.broken:
		c.broken = err.Error()
		c.log.ErrorContext(ctx, "could not reload the certificate: the previous one stays in use", slog.Any("error", err))
	case err == nil:
		c.broken = ""
	}
	if before != c.loaded {
		c.log.InfoContext(ctx, "certificate reloaded", slog.Time("until", c.loaded.Leaf.NotAfter.UTC()))
		c.warned = time.Time{}
	}
	c.warn(ctx)
}

// warn logs once a day that the certificate expires soon.
func (c *Certificate) warn(ctx context.Context) {
	now, until := c.source.Now(), c.loaded.Leaf.NotAfter
	if until.Sub(now) > ExpiresSoon || now.Sub(c.warned) < warnInterval {
		return
	}
	c.warned = now
	c.log.WarnContext(ctx, "the certificate "+Expiry(until, now), slog.Time("until", until.UTC()))
}

// Expiry describes when a certificate expires.
func Expiry(until, now time.Time) string {
	days := int(until.Sub(now).Hours() / 24)
	switch {
	case until.Before(now):
		return "has expired"
	case days == 0:
		return "expires within a day"
	case days == 1:
		return "expires in 1 day"
	default:
		return fmt.Sprintf("expires in %d days", days)
	}
}

// load uses the files if they changed. The errors of crypto/tls hold no part of a key.
func (c *Certificate) load() error {
	file := c.source.TLS
	chain, err := c.source.readFile("certificate", file.Certificate)
	if err != nil {
		return err
	}
	key, err := c.source.readFile("key", file.Key)
	if err != nil {
		return err
	}
	both := bytes.Join([][]byte{chain, key}, []byte{0})
	if bytes.Equal(both, c.pem) {
		return nil
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return fault.New(fault.Invalid, "%s: tls: %s and %s do not make a certificate with its key: %w",
			file.Position, file.Certificate, file.Key, err)
	}
	c.pem, c.loaded = both, &pair
	return nil
}

func (s Source) readFile(key string, reference serverconfig.Reference) ([]byte, error) {
	text, err := reference.Resolve(s.Secrets)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s: tls.%s: %w", s.TLS.Position, key, err)
	}
	return []byte(text.Reveal()), nil
}

// maxAuthorities bounds a file of certificate authorities, in bytes. That of a system
// has 250 KB.
const maxAuthorities = 4 << 20

// Trusted returns which certificates a command trusts that calls the service: with caFile, also
// those of these authorities. On this machine it is exactly the certificate of the server file,
// whose names are for other machines. Nil stands for the authorities of the system.
func (s Source) Trusted(url, caFile string) (*tls.Config, error) {
	switch {
	case caFile != "":
		data, err := atomicfile.Read(caFile, maxAuthorities)
		if err != nil {
			return nil, fault.New(fault.Invalid, "--ca: %w", err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if len(data) > maxAuthorities || !pool.AppendCertsFromPEM(data) {
			return nil, fault.New(fault.Invalid, "--ca %s holds no certificate in PEM, or too many", caFile)
		}
		return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}, nil
	case url == "" && s.TLS.On():
		return &tls.Config{
			MinVersion:         tls.VersionTLS12,
			InsecureSkipVerify: true, //nolint:gosec // VerifyConnection requires exactly one certificate
			VerifyConnection:   s.verifyOwnCertificate,
		}, nil
	}
	return nil, nil //nolint:nilnil // the system's
}

var (
	errOtherCertificate = errors.New("the service presents another certificate than the server file names: " +
		"was it renewed this moment? Try again, or name the service with --url")
	errNoCertificate = errors.New("it holds no certificate in PEM")
)

// verifyOwnCertificate requires the current certificate of the file. Presenting it
// proves the possession of its key, which the caller need not be able to read.
func (s Source) verifyOwnCertificate(state tls.ConnectionState) error {
	chain, err := s.readFile("certificate", s.TLS.Certificate)
	if err != nil {
		return err
	}
	for block, rest := pem.Decode(chain); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		if len(state.PeerCertificates) == 0 || !bytes.Equal(state.PeerCertificates[0].Raw, block.Bytes) {
			return fault.Wrap(fault.Unauthorized, errOtherCertificate)
		}
		return nil
	}
	return fault.New(fault.Invalid, "%s: tls.certificate: %w", s.TLS.Position, errNoCertificate)
}

// ExplainError adds to the error of a TLS connection to the service what to change.
func ExplainError(err error) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var plain tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown):
		return fault.New(fault.Unauthorized, "%w: name its authority with --ca FILE", err)
	case errors.As(err, &name):
		return fault.New(fault.Unauthorized, "%w: use a name of the certificate in --url", err)
	case errors.As(err, &plain):
		return fault.New(fault.Invalid, "%w: the service does not use TLS: on this machine write http:// in --url", err)
	}
	return err
}
