package app_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/certificate/certificatetest"
	"promoter/internal/fault"
	"promoter/internal/serverfile"
	"promoter/internal/service/adminapi"
)

// clientOn is the client of a command on this machine: with its own server file and its
// certificate.
func (w *served) clientOn(folder string, location adminapi.ClientOptions) (*adminapi.Client, error) {
	w.t.Helper()
	file := w.write("asking-tls.yaml", fmt.Sprintf(`version: 1
listen: %q
api: {token: "env:API"}
tls: {certificate: "file:%s/tls.crt", key: "file:%[2]s/tls.key"}
`, strings.TrimPrefix(w.url, "http://"), folder))
	return adminapi.NewClient(serverfile.Options{Config: file, Env: environ("API", serveToken), Now: time.Now}, location)
}

// The service uses TLS 1.2 and newer with HTTP/2. Commands trust its own certificate on
// this machine, and elsewhere one of a certificate authority.
func TestServe_tls(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	folder, other := t.TempDir(), t.TempDir()
	certificatetest.Write(t, folder, "1", time.Now().AddDate(0, 2, 0))
	certificatetest.Write(t, other, "9", time.Now().AddDate(0, 2, 0))
	w := serveAs(t, s, serving{quiet: -1, poll: "1h", receivers: fmt.Sprintf("tls: {certificate: \"file:%s/tls.crt\", key: \"file:%[1]s/tls.key\"}", folder)})
	address := strings.TrimPrefix(w.url, "http://")

	running, err := w.clientOn(folder, adminapi.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if status, err := running.Status(t.Context()); err != nil || len(status.Repositories) != 1 {
		t.Errorf("on this machine: %+v, %v", status, err)
	}
	w.keyless(folder)
	if running, err = w.clientOn(other, adminapi.ClientOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := running.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "another certificate") {
		t.Errorf("with another certificate: %v", err)
	}
	if running, err = w.clientOn(folder, adminapi.ClientOptions{URL: "https://" + address}); err != nil {
		t.Fatal(err)
	}
	if _, err := running.Status(t.Context()); fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "--ca FILE") {
		t.Errorf("from an authority that nobody knows: %v", err)
	}
	ca := filepath.Join(folder, "tls.crt")
	if running, err = w.clientOn(folder, adminapi.ClientOptions{URL: "https://" + address, CA: ca}); err != nil {
		t.Fatal(err)
	}
	if _, err := running.Status(t.Context()); err != nil {
		t.Errorf("from the authority of the file: %v", err)
	}
	if running, err = w.clientOn(folder, adminapi.ClientOptions{URL: strings.Replace("https://"+address, "127.0.0.1", "localhost", 1), CA: ca}); err != nil {
		t.Fatal(err)
	}
	if _, err := running.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "use a name of the certificate") {
		t.Errorf("by another name: %v", err)
	}
	for name, file := range map[string]string{"no file": "/nowhere", "no certificate": filepath.Join(s.dir, "served.yaml")} {
		if _, err := w.clientOn(folder, adminapi.ClientOptions{URL: "https://" + address, CA: file}); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "--ca") {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.speaks(folder, "https://"+address+"/readyz")
	w.speaks(folder, "https://"+w.scraped+"/metrics")
	w.stop()
}

// keyless is a user who may read the certificate and not its key.
func (w *served) keyless(folder string) {
	w.t.Helper()
	chain, err := os.ReadFile(filepath.Join(folder, "tls.crt"))
	if err != nil {
		w.t.Fatal(err)
	}
	public := w.t.TempDir()
	writeFile(w.t, filepath.Join(public, "tls.crt"), string(chain))
	running, err := w.clientOn(public, adminapi.ClientOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := running.Status(w.t.Context()); err != nil {
		w.t.Errorf("without the key: %v", err)
	}
}

// speaks checks the protocols at a URL.
func (w *served) speaks(folder, url string) {
	w.t.Helper()
	pem, err := os.ReadFile(filepath.Join(folder, "tls.crt"))
	if err != nil {
		w.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	trust := &tls.Config{RootCAs: roots, ServerName: "promoter.example.com", MinVersion: tls.VersionTLS12}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: trust.Clone(), ForceAttemptHTTP2: true}}
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK || response.ProtoMajor != 2 {
		w.t.Errorf("%d by %s", response.StatusCode, response.Proto)
	}
	client.CloseIdleConnections()
	old := trust.Clone()
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 //nolint:gosec // it has to be refused
	conn, err := (&tls.Dialer{NetDialer: &net.Dialer{}, Config: old}).DialContext(w.t.Context(), "tcp", request.URL.Host)
	if err == nil {
		_ = conn.Close()
		w.t.Error("TLS 1.1 is spoken")
	}
}
