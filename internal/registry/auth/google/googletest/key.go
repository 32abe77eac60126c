package googletest

import (
	"crypto/rand"
	"crypto/rsa"
	"testing"
)

// testKey makes the key of the service account; a short one, because tests make many.
func testKey(t testing.TB) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
