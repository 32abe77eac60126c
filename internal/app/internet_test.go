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

// internet is what https leads to in the tests of this package: a proxy from the
// environment, behind which each host is a handler of a test. Other hosts do not exist.
type internet struct {
	key       *ecdsa.PrivateKey
	authority *x509.Certificate

	mutex sync.Mutex
	hosts map[string]http.Handler
	inner *httptest.Server // uses TLS as the requested host
}

// online is that of the process, because a process reads the proxy and the trusted
// authorities once.
var online = &internet{hosts: map[string]http.Handler{}}

// join sets the proxy of the process, and makes it trust the hosts there.
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

// host makes a handler a host during a test. No other test may use its name.
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

// proxy opens a tunnel to any host.
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
