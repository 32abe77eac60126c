package connect

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect/connecttest"
	"promoter/internal/fault"
)

// certified is a Server with a certificate in a folder, and its log.
func certified(t *testing.T, folder string, now *time.Time) (*Server, *bytes.Buffer, *slog.Logger) {
	t.Helper()
	file, problems := serverconfig.Load("server.yaml", fmt.Appendf(nil,
		"version: 1\nlisten: \":8443\"\ntls:\n  certificate: \"file:%s/tls.crt\"\n  key: \"file:%[1]s/tls.key\"\n", folder), func(string) (string, bool) { return "", false })
	if file == nil {
		t.Fatal(problems)
	}
	said := &bytes.Buffer{}
	return &Server{File: file, Now: func() time.Time { return *now }}, said, slog.New(slog.NewTextHandler(said, nil))
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
	connecttest.WriteCertificate(t, folder, "1", now.AddDate(0, 2, 0))
	s, said, log := certified(t, folder, &now)
	c, err := s.OpenCertificate(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	connecttest.WriteCertificate(t, folder, "2", now.AddDate(0, 3, 0))
	if serial := serialOf(t, c); serial != "1" {
		t.Errorf("it was read again at once: %s", serial)
	}
	now = now.Add(certificateInterval)
	if serial := serialOf(t, c); serial != "2" || !strings.Contains(said.String(), "certificate reloaded") {
		t.Errorf("after the time: %s\n%s", serial, said)
	}
	connecttest.Swap(t, folder, "half", map[string][]byte{"tls.crt": []byte("not yet written"), "tls.key": nil})
	said.Reset()
	for range 3 {
		now = now.Add(certificateInterval)
		if serial := serialOf(t, c); serial != "2" {
			t.Errorf("files that cannot be used: %s", serial)
		}
	}
	if n := strings.Count(said.String(), "the previous one stays in use"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, said)
	}
	now = now.Add(certificateInterval)
	connecttest.WriteCertificate(t, folder, "3", now.AddDate(0, 3, 0))
	if serial := serialOf(t, c); serial != "3" {
		t.Errorf("when they are good again: %s", serial)
	}
}

// Errors at startup name the line of the file.
func TestOpenCertificate_refuses(t *testing.T) {
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
			connecttest.WriteCertificate(t, folder, "2", now)
			one, err := os.ReadFile(filepath.Join(folder, "1", "tls.key"))
			if err == nil {
				err = os.WriteFile(filepath.Join(folder, "2", "tls.key"), one, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, []string{"server.yaml:4:3", "do not make a certificate with its key", "does not match"}},
		"nothing in it": {func(t *testing.T, folder string) {
			t.Helper()
			connecttest.Swap(t, folder, "2", map[string][]byte{"tls.crt": {}, "tls.key": {}})
		}, []string{"server.yaml:4:3", "empty"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, now := t.TempDir(), now
			connecttest.WriteCertificate(t, folder, "1", now)
			test.harm(t, folder)
			s, _, log := certified(t, folder, &now)
			_, err := s.OpenCertificate(t.Context(), log)
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
	connecttest.WriteCertificate(t, folder, "1", until)
	now := until.AddDate(0, 0, -20)
	s, said, log := certified(t, folder, &now)
	c, err := s.OpenCertificate(t.Context(), log)
	if err != nil || said.Len() > 0 {
		t.Fatalf("%v\n%s", err, said)
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
		said.Reset()
		for range 3 {
			serialOf(t, c)
			now = now.Add(certificateInterval)
		}
		if n := strings.Count(said.String(), "the certificate "+test.says); n != test.logs {
			t.Errorf("%v: logged %d times, want %d:\n%s", test.at, n, test.logs, said)
		}
	}
}

// A connection that shows nothing, or a file without a certificate, proves nothing.
func TestCertificate_shownNothing(t *testing.T) {
	t.Parallel()
	folder, now := t.TempDir(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	connecttest.WriteCertificate(t, folder, "1", now.AddDate(0, 2, 0))
	s, _, _ := certified(t, folder, &now)
	if err := s.verifyOwnCertificate(tls.ConnectionState{}); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("no certificate was shown: %v", err)
	}
	connecttest.Swap(t, folder, "none", map[string][]byte{"tls.crt": []byte("not yet written"), "tls.key": nil})
	if err := s.verifyOwnCertificate(tls.ConnectionState{PeerCertificates: []*x509.Certificate{{}}}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("the file holds none: %v", err)
	}
}
