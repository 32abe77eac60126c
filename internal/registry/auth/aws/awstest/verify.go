package awstest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// signature is the form of the header, see
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-signing-elements.html
var signature = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=([A-Z0-9]+)/(\d{8})/([a-z0-9-]+)/([a-z-]+)/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$`)

// verify returns the code with which AWS refuses a signature; empty: it is valid.
func (a *Account) verify(r *http.Request, body, region, service string) string {
	parts := signature.FindStringSubmatch(r.Header.Get("Authorization"))
	if parts == nil {
		return "IncompleteSignatureException"
	}
	id, day, signed := parts[1], parts[2], strings.Split(parts[5], ";")
	if parts[3] != region || parts[4] != service {
		return "InvalidSignatureException" // scope
	}
	a.mutex.Lock()
	known, ok := a.keys[id]
	a.mutex.Unlock()
	stamp := r.Header.Get("X-Amz-Date")
	at, err := time.Parse("20060102T150405Z", stamp)
	switch {
	case !ok || r.Header.Get("X-Amz-Security-Token") != known.session:
		return "UnrecognizedClientException"
	case !known.until.IsZero() && a.now().After(known.until):
		return "ExpiredTokenException"
	case err != nil || !strings.HasPrefix(stamp, day) || at.Sub(a.now()).Abs() > 5*time.Minute:
		return "InvalidSignatureException"
	case !slices.IsSorted(signed) || !coversAll(r, signed):
		return "InvalidSignatureException"
	}
	canonical := r.Method + "\n" + r.URL.EscapedPath() + "\n" + r.URL.RawQuery + "\n"
	for _, name := range signed {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		canonical += name + ":" + value + "\n"
	}
	canonical += "\n" + parts[5] + "\n" + sum(body)
	want := mac([]byte("AWS4"+known.secret), day, region, service, "aws4_request",
		"AWS4-HMAC-SHA256\n"+stamp+"\n"+strings.Join(parts[2:5], "/")+"/aws4_request\n"+sum(canonical))
	if hex.EncodeToString(want) != parts[6] {
		return "InvalidSignatureException"
	}
	return ""
}

// coversAll reports whether host, content type and all headers of AWS are signed.
func coversAll(r *http.Request, signed []string) bool {
	wanted := []string{"host", "content-type"}
	for name := range r.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-amz-") {
			wanted = append(wanted, name)
		}
	}
	return !slices.ContainsFunc(wanted, func(name string) bool { return !slices.Contains(signed, name) })
}

func mac(key []byte, texts ...string) []byte {
	for _, text := range texts {
		hash := hmac.New(sha256.New, key)
		hash.Write([]byte(text))
		key = hash.Sum(nil)
	}
	return key
}

func sum(text string) string {
	hash := sha256.Sum256([]byte(text))
	return hex.EncodeToString(hash[:])
}

func (a *Account) body(r *http.Request) string {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		a.t.Error(err)
	}
	return string(data)
}
