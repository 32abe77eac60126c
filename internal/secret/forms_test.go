package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"

	"promoter/internal/secret"
)

func TestErase_findsEncodedValues(t *testing.T) {
	t.Parallel()
	const value = "s3cret?canary/+value"
	for before := range "xxxx" {
		text := strings.Repeat("x", before) + value + strings.Repeat("y", before)
		for name, form := range map[string]string{
			"plain": text, "query": url.QueryEscape(text), "path": url.PathEscape(text),
			"base64": base64.StdEncoding.EncodeToString([]byte(text)), "base64url": base64.RawURLEncoding.EncodeToString([]byte(text)),
			"hex": hex.EncodeToString([]byte(text)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(text))),
		} {
			erased := secret.Erase("before "+form+" after", "", "abc", value)
			left, _ := strings.CutPrefix(erased, "before ")
			left = strings.TrimSuffix(left, " after")
			if !strings.Contains(left, secret.Redacted) || len(left) > len(secret.Redacted)+6*before+6 {
				t.Errorf("%s after %d bytes: %q became %q", name, before, form, erased)
			}
		}
	}
	if got := secret.Erase("an abc in 616263", "abc"); got != "an "+secret.Redacted+" in 616263" {
		t.Errorf("a short value: %q", got)
	}
	if got := secret.Erase("nothing"); got != "nothing" {
		t.Errorf("no value: %q", got)
	}
}
