// Package certificatetest writes the certificates of tests as a Secret is mounted.
package certificatetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"promoter/internal/secret/secrettest"
)

// Write writes a certificate for promoter.example.com that ends at a time,
// and its key, into a folder, as a Secret is mounted: both change at once, by a link.
func Write(t testing.TB, folder, serial string, until time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	number, _ := new(big.Int).SetString(serial, 10)
	template := &x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: "promoter.example.com"},
		DNSNames: []string{"promoter.example.com"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: until.Add(-90 * 24 * time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true,
	}
	made, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	secrettest.Swap(t, folder, serial, map[string]string{
		"tls.crt": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})),
		"tls.key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
	})
}
