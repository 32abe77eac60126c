package certificate

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/certificate/certificatetest"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
	"promoter/internal/secret/secrettest"
)

// certified is the source of a certificate in a folder, and a log.
func certified(t *testing.T, folder string, now *time.Time) (Source, *bytes.Buffer, *slog.Logger) {
	t.Helper()
	file, problems := serverconfig.Load("server.yaml", fmt.Appendf(nil,
		"version: 1\nlisten: \":8443\"\ntls:\n  certificate: \"file:%s/tls.crt\"\n  key: \"file:%[1]s/tls.key\"\n", folder), func(string) (string, bool) { return "", false })
	if file == nil {
		t.Fatal(problems)
	}
	logged := &bytes.Buffer{}
	return Source{TLS: file.TLS, Secrets: serverconfig.Sources{Open: func(path string) (io.ReadCloser, error) { return os.Open(path) }}, Now: func() time.Time { return *now }}, logged, slog.New(slog.NewTextHandler(logged, nil))
}

func serialOf(t *testing.T, c *Certificate) string {
	t.Helper()
	shown, err := c.get(&tls.ClientHelloInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return shown.Leaf.SerialNumber.String()
}

// A renewed certificate is shown to new connections; an invalid one is logged
// once, and the previous one stays.
func TestCertificate_renewed(t *testing.T) {
	t.Parallel()
	folder, now := t.TempDir(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	certificatetest.Write(t, folder, "1", now.AddDate(0, 2, 0))
	s, logged, log := certified(t, folder, &now)
	c, err := Open(t.Context(), s, log)
	if err != nil {
		t.Fatal(err)
	}
	certificatetest.Write(t, folder, "2", now.AddDate(0, 3, 0))
	if serial := serialOf(t, c); serial != "1" {
		t.Errorf("it was read again at once: %s", serial)
	}
	now = now.Add(certificateInterval)
	if serial := serialOf(t, c); serial != "2" || !strings.Contains(logged.String(), "certificate reloaded") {
		t.Errorf("after the time: %s\n%s", serial, logged)
	}
	secrettest.Swap(t, folder, "half", map[string]string{"tls.crt": "not yet written", "tls.key": ""})
	logged.Reset()
	for range 3 {
		now = now.Add(certificateInterval)
		if serial := serialOf(t, c); serial != "2" {
			t.Errorf("files that cannot be used: %s", serial)
		}
	}
	if n := strings.Count(logged.String(), "the previous one stays in use"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, logged)
	}
	now = now.Add(certificateInterval)
	certificatetest.Write(t, folder, "3", now.AddDate(0, 3, 0))
	if serial := serialOf(t, c); serial != "3" {
		t.Errorf("when they are good again: %s", serial)
	}
}

// Errors at startup name the line of the file.
func TestOpen_refuses(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		harm func(t *testing.T, folder string)
		want []string
	}{
		"no key": {func(t *testing.T, folder string) {
			t.Helper()
			if err := os.Remove(filepath.Join(folder, "1", "tls.key")); err != nil {
				t.Fatal(err)
			}
		}, []string{"server.yaml:4:3", "tls.key", "no such file"}},
		"the key of another": {func(t *testing.T, folder string) {
			t.Helper()
			one, err := os.ReadFile(filepath.Join(folder, "tls.key"))
			certificatetest.Write(t, folder, "2", now)
			if err == nil {
				err = os.WriteFile(filepath.Join(folder, "tls.key"), one, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, []string{"server.yaml:4:3", "do not make a certificate with its key", "does not match"}},
		"nothing in it": {func(t *testing.T, folder string) {
			t.Helper()
			secrettest.Swap(t, folder, "2", map[string]string{"tls.crt": "", "tls.key": ""})
		}, []string{"server.yaml:4:3", "empty"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, now := t.TempDir(), now
			certificatetest.Write(t, folder, "1", now)
			test.harm(t, folder)
			s, _, log := certified(t, folder, &now)
			_, err := Open(t.Context(), s, log)
			if fault.KindOf(err) != fault.Invalid {
				t.Fatalf("%v", err)
			}
			for _, word := range test.want {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("it does not say %q: %v", word, err)
				}
			}
		})
	}
}

// An expiry is logged once a day.
func TestCertificate_logsItsExpiry(t *testing.T) {
	t.Parallel()
	folder, until := t.TempDir(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	certificatetest.Write(t, folder, "1", until)
	now := until.AddDate(0, 0, -20)
	s, logged, log := certified(t, folder, &now)
	c, err := Open(t.Context(), s, log)
	if err != nil || logged.Len() > 0 {
		t.Fatalf("%v\n%s", err, logged)
	}
	for _, test := range []struct {
		at   time.Time
		says string
		logs int
	}{
		{until.AddDate(0, 0, -20), "expires in 20 days", 0},
		{until.AddDate(0, 0, -13), "expires in 13 days", 1},
		{until.Add(-time.Hour), "expires within a day", 1},
		{until.AddDate(0, 0, 2), "has expired", 1},
	} {
		now = test.at
		logged.Reset()
		for range 3 {
			serialOf(t, c)
			now = now.Add(certificateInterval)
		}
		if n := strings.Count(logged.String(), "the certificate "+test.says); n != test.logs {
			t.Errorf("%v: logged %d times, want %d:\n%s", test.at, n, test.logs, logged)
		}
	}
}

// A connection that shows nothing, or a file without a certificate, proves nothing.
func TestCertificate_shownNothing(t *testing.T) {
	t.Parallel()
	folder, now := t.TempDir(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	certificatetest.Write(t, folder, "1", now.AddDate(0, 2, 0))
	s, _, _ := certified(t, folder, &now)
	if err := s.verifyOwnCertificate(tls.ConnectionState{}); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("no certificate was shown: %v", err)
	}
	secrettest.Swap(t, folder, "none", map[string]string{"tls.crt": "not yet written", "tls.key": ""})
	if err := s.verifyOwnCertificate(tls.ConnectionState{PeerCertificates: []*x509.Certificate{{}}}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("the file holds none: %v", err)
	}
}
