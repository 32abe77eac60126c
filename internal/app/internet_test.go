package app_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// internet is where https leads to in the tests of this package: a proxy, as the
// environment names one, behind which each host is a handler of a test. Others are
// not there.
type internet struct {
	key       *ecdsa.PrivateKey
	authority *x509.Certificate

	mutex sync.Mutex
	hosts map[string]http.Handler
	inner *httptest.Server // speaks TLS as whoever is asked for
}

// online is the one of the process: which proxy there is, and who is trusted, a
// process learns once.
var online = &internet{hosts: map[string]http.Handler{}}

// join puts the process behind the proxy, and makes it trust the hosts there.
func (i *internet) join() error {
	var err error
	if i.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return err
	}
	i.authority = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tests"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	data, err := x509.CreateCertificate(rand.Reader, i.authority, i.authority, &i.key.PublicKey, i.key)
	if err != nil {
		return err
	}
	trusted, err := x509.ParseCertificate(data)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AddCert(trusted)
	_ = os.Setenv("GODEBUG", "x509usefallbackroots=1")
	x509.SetFallbackRoots(roots)
	i.inner = httptest.NewUnstartedServer(http.HandlerFunc(i.serve))
	i.inner.TLS = &tls.Config{GetCertificate: i.certificate}
	i.inner.StartTLS()
	_ = os.Setenv("HTTPS_PROXY", httptest.NewServer(http.HandlerFunc(i.proxy)).URL)
	return nil
}

// host lets a handler be a host for the time of a test. No other test may name it.
func (i *internet) host(t *testing.T, name string, handler http.Handler) {
	t.Helper()
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if i.hosts[name] != nil {
		t.Fatalf("two tests are %s", name)
	}
	i.hosts[name] = handler
	t.Cleanup(func() {
		i.mutex.Lock()
		defer i.mutex.Unlock()
		delete(i.hosts, name)
	})
}

func (i *internet) serve(w http.ResponseWriter, r *http.Request) {
	i.mutex.Lock()
	handler := i.hosts[r.Host]
	i.mutex.Unlock()
	if handler == nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	handler.ServeHTTP(w, r)
}

func (i *internet) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{hello.ServerName},
		NotBefore: i.authority.NotBefore, NotAfter: i.authority.NotAfter,
	}
	data, err := x509.CreateCertificate(rand.Reader, leaf, i.authority, &i.key.PublicKey, i.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{data}, PrivateKey: i.key}, nil
}

// proxy opens a tunnel, whatever the host is.
func (i *internet) proxy(w http.ResponseWriter, r *http.Request) {
	hijacker, ok := w.(http.Hijacker)
	if r.Method != http.MethodConnect || !ok {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	to, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", strings.TrimPrefix(i.inner.URL, "https://"))
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer func() { _ = to.Close() }()
	from, _, err := hijacker.Hijack()
	if err != nil {
		return
	}
	defer func() { _ = from.Close() }()
	_, _ = io.WriteString(from, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
	_, _ = io.Copy(from, to)
}
