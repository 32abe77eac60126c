package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"promoter/internal/config"
	"promoter/internal/fault"
)

// When the files of a certificate are looked at again, when it is said that it ends
// soon, and how often.
const (
	certificateEvery = 10 * time.Second
	endsSoon         = 14 * 24 * time.Hour
	warnEvery        = 24 * time.Hour
)

// certificate is the one of the service. Files that change are read again while it
// runs; as long as they cannot be used, the certificate of before stays.
type certificate struct {
	file    config.TLS
	sources config.Sources
	now     func() time.Time
	log     *slog.Logger

	mutex  sync.Mutex
	pem    []byte // of both files, as they were read last
	loaded *tls.Certificate
	looked time.Time
	warned time.Time
	broken string // why the files cannot be used now
}

// openCertificate reads the certificate of the file; nil: it names none.
func (s *Server) openCertificate(ctx context.Context, log *slog.Logger) (*certificate, error) {
	if !s.file.TLS.On() {
		return nil, nil //nolint:nilnil // none is no error
	}
	c := &certificate{file: s.file.TLS, sources: s.sources(), now: s.now, log: log}
	if err := c.load(); err != nil {
		return nil, err
	}
	c.looked = c.now()
	c.warn(ctx)
	return c, nil
}

// config is what the listener is told.
func (c *certificate) config() *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.current}
}

// current is the certificate for a handshake.
func (c *certificate) current(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.now().Sub(c.looked).Abs() >= certificateEvery {
		c.looked = c.now()
		c.again(hello.Context())
	}
	return c.loaded, nil
}

// again reads the files once more, and says once what is wrong with them.
func (c *certificate) again(ctx context.Context) {
	before := c.loaded
	err := c.load()
	switch {
	case err != nil && err.Error() != c.broken:
		c.broken = err.Error()
		c.log.ErrorContext(ctx, "the certificate cannot be read again: the one of before stays", slog.Any("error", err))
	case err == nil:
		c.broken = ""
	}
	if before != c.loaded {
		c.log.InfoContext(ctx, "the certificate was renewed", slog.Time("until", c.loaded.Leaf.NotAfter.UTC()))
		c.warned = time.Time{}
	}
	c.warn(ctx)
}

// warn says that the certificate ends soon, once a day.
func (c *certificate) warn(ctx context.Context) {
	now, until := c.now(), c.loaded.Leaf.NotAfter
	if until.Sub(now) > endsSoon || now.Sub(c.warned) < warnEvery {
		return
	}
	c.warned = now
	c.log.WarnContext(ctx, "the certificate "+ending(until, now), slog.Time("until", until.UTC()))
}

// ending says how long a certificate is good for.
func ending(until, now time.Time) string {
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

// load takes the files if they changed.
func (c *certificate) load() error {
	chain, err := c.read("certificate", c.file.Certificate)
	if err != nil {
		return err
	}
	key, err := c.read("key", c.file.Key)
	if err != nil {
		return err
	}
	both := bytes.Join([][]byte{chain, key}, []byte{0})
	if bytes.Equal(both, c.pem) {
		return nil
	}
	loaded, err := c.fit(chain, key)
	if err != nil {
		return err
	}
	c.pem, c.loaded = both, loaded
	return nil
}

func (c *certificate) read(what string, from config.Reference) ([]byte, error) {
	text, err := from.Resolve(c.sources)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s: tls.%s: %w", c.file.Position, what, err)
	}
	return []byte(text.Reveal()), nil
}

// fit makes a certificate of both. The errors of the library hold nothing of a key.
func (c *certificate) fit(chain, key []byte) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s: tls: %s and %s do not make a certificate with its key: %w", c.file.Position, c.file.Certificate, c.file.Key, err)
	}
	if pair.Leaf == nil {
		if pair.Leaf, err = x509.ParseCertificate(pair.Certificate[0]); err != nil {
			return nil, fault.New(fault.Invalid, "%s: tls.certificate: %w", c.file.Position, err)
		}
	}
	return &pair, nil
}
