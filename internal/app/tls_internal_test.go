package app

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/config"
	"promoter/internal/fault"
)

// WriteCertificate writes a certificate for promoter.example.com that ends at a time,
// and its key, into a folder, as a Secret is mounted: both change at once, by a link.
func WriteCertificate(t testing.TB, folder, serial string, until time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	number, _ := new(big.Int).SetString(serial, 10)
	template := &x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: "promoter.example.com"}, DNSNames: []string{"promoter.example.com"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: until.Add(-90 * 24 * time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true,
	}
	made, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	swap(t, folder, serial, map[string][]byte{
		"tls.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}),
		"tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
	})
}

// swap lets the link "..data" of the folder name another version of its files.
func swap(t testing.TB, folder, version string, files map[string][]byte) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.MkdirAll(filepath.Join(folder, version), 0o700))
	for name, content := range files {
		check(os.WriteFile(filepath.Join(folder, version, name), content, 0o600))
		if _, err := os.Lstat(filepath.Join(folder, name)); err != nil {
			check(os.Symlink(filepath.Join("..data", name), filepath.Join(folder, name)))
		}
	}
	check(os.Symlink(version, filepath.Join(folder, "..new")))
	check(os.Rename(filepath.Join(folder, "..new"), filepath.Join(folder, "..data")))
}

// certified is a Server with a certificate in a folder, and its log.
func certified(t *testing.T, folder string, now *time.Time) (*Server, *bytes.Buffer, *slog.Logger) {
	t.Helper()
	file, problems := config.LoadServer("server.yaml", fmt.Appendf(nil,
		"version: 1\nlisten: \":8443\"\ntls:\n  certificate: \"file:%s/tls.crt\"\n  key: \"file:%[1]s/tls.key\"\n", folder), func(string) (string, bool) { return "", false })
	if file == nil {
		t.Fatal(problems)
	}
	said := &bytes.Buffer{}
	return &Server{file: file, now: func() time.Time { return *now }}, said, slog.New(slog.NewTextHandler(said, nil))
}

func serialOf(t *testing.T, c *certificate) string {
	t.Helper()
	shown, err := c.current(&tls.ClientHelloInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return shown.Leaf.SerialNumber.String()
}

// A renewed certificate is shown to new connections; one that cannot be used is said
// once, and the one of before stays.
func TestCertificate_renewed(t *testing.T) {
	t.Parallel()
	folder, now := t.TempDir(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	WriteCertificate(t, folder, "1", now.AddDate(0, 2, 0))
	s, said, log := certified(t, folder, &now)
	c, err := s.openCertificate(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	WriteCertificate(t, folder, "2", now.AddDate(0, 3, 0))
	if serial := serialOf(t, c); serial != "1" {
		t.Errorf("it was read again at once: %s", serial)
	}
	now = now.Add(certificateEvery)
	if serial := serialOf(t, c); serial != "2" || !strings.Contains(said.String(), "the certificate was renewed") {
		t.Errorf("after the time: %s\n%s", serial, said)
	}
	swap(t, folder, "half", map[string][]byte{"tls.crt": []byte("not yet written"), "tls.key": nil})
	said.Reset()
	for range 3 {
		now = now.Add(certificateEvery)
		if serial := serialOf(t, c); serial != "2" {
			t.Errorf("files that cannot be used: %s", serial)
		}
	}
	if n := strings.Count(said.String(), "the one of before stays"); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, said)
	}
	now = now.Add(certificateEvery)
	WriteCertificate(t, folder, "3", now.AddDate(0, 3, 0))
	if serial := serialOf(t, c); serial != "3" {
		t.Errorf("when they are good again: %s", serial)
	}
}

// What is wrong at the start is said with its place in the file.
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
			WriteCertificate(t, folder, "2", now)
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
			swap(t, folder, "2", map[string][]byte{"tls.crt": {}, "tls.key": {}})
		}, []string{"server.yaml:4:3", "empty"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, now := t.TempDir(), now
			WriteCertificate(t, folder, "1", now)
			test.harm(t, folder)
			s, _, log := certified(t, folder, &now)
			_, err := s.openCertificate(t.Context(), log)
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

// That it ends soon, or has, is said once a day, in the log and by doctor.
func TestCertificate_ends(t *testing.T) {
	t.Parallel()
	folder, until := t.TempDir(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	WriteCertificate(t, folder, "1", until)
	now := until.AddDate(0, 0, -20)
	s, said, log := certified(t, folder, &now)
	c, err := s.openCertificate(t.Context(), log)
	if err != nil || said.Len() > 0 {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, test := range []struct {
		at      time.Time
		says    string
		verdict Verdict
	}{
		{until.AddDate(0, 0, -20), "expires in 20 days", VerdictOK},
		{until.AddDate(0, 0, -13), "expires in 13 days", VerdictWarn},
		{until.Add(-time.Hour), "expires within a day", VerdictWarn},
		{until.AddDate(0, 0, 2), "has expired", VerdictWarn},
	} {
		now = test.at
		said.Reset()
		for range 3 {
			serialOf(t, c)
			now = now.Add(certificateEvery)
		}
		wanted := 1
		if test.verdict == VerdictOK {
			wanted = 0
		}
		if n := strings.Count(said.String(), "the certificate "+test.says); n != wanted {
			t.Errorf("%v: said %d times:\n%s", test.at, n, said)
		}
		d := &doctor{Server: s}
		now = test.at
		d.tls(t.Context())
		if f := d.findings[0]; f.Verdict != test.verdict || !strings.Contains(f.Says, test.says) {
			t.Errorf("doctor at %v: %+v", test.at, f)
		}
	}
}

func TestDoctor_withoutTLS(t *testing.T) {
	t.Parallel()
	for listen, warns := range map[string]bool{"127.0.0.1:8080": false, "localhost:8080": false, "[::1]:8080": false, ":8080": true, "0.0.0.0:80": true, "10.0.0.1:80": true} {
		d := &doctor{Server: &Server{file: &config.Server{Listen: listen}}}
		d.tls(t.Context())
		if (len(d.findings) == 1 && d.findings[0].Verdict == VerdictWarn) != warns {
			t.Errorf("%s: %+v", listen, d.findings)
		}
	}
}

// A connection that shows nothing, or a file without a certificate, proves nothing.
func TestCertificate_shownNothing(t *testing.T) {
	t.Parallel()
	folder, now := t.TempDir(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	WriteCertificate(t, folder, "1", now.AddDate(0, 2, 0))
	s, _, _ := certified(t, folder, &now)
	own := &certificate{file: s.file.TLS, sources: s.sources(), now: s.now}
	if err := own.isShown(tls.ConnectionState{}); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("no certificate was shown: %v", err)
	}
	swap(t, folder, "none", map[string][]byte{"tls.crt": []byte("not yet written"), "tls.key": nil})
	if err := own.isShown(tls.ConnectionState{PeerCertificates: []*x509.Certificate{{}}}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("the file holds none: %v", err)
	}
}
