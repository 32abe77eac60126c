package image

import (
	"strings"
	"testing"
)

func TestValidTag(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]bool{
		"latest": true, "1.2.3": true, "_x": true, "A-b.C_9": true, strings.Repeat("a", 128): true,
		"": false, ".1": false, "-1": false, "1+2": false, "a b": false, "ä": false, "a:b": false,
		strings.Repeat("a", 129): false,
	} {
		if got := ValidTag(tag); got != want {
			t.Errorf("ValidTag(%q) = %v", tag, got)
		}
	}
}

func TestValidDigest(t *testing.T) {
	t.Parallel()
	hex := func(n int) string { return strings.Repeat("f", n) }
	for digest, want := range map[string]bool{
		"sha256:" + hex(64):                    true,
		"sha512:" + hex(128):                   true,
		"sha256:" + hex(63):                    false,
		"sha256:" + hex(65):                    false,
		"sha512:" + hex(64):                    false,
		"sha384:" + hex(96):                    false,
		"sha256:" + strings.ToUpper(hex(64)):   false,
		"sha256-" + hex(64):                    false,
		"sha256:" + hex(63) + "g":              false,
		hex(64):                                false,
		"sha256:" + hex(64) + ":" + hex(64):    false,
		"":                                     false,
		" sha256:" + hex(64):                   false,
		"sha256:" + hex(32) + "\x00" + hex(31): false,
	} {
		if got := ValidDigest(digest); got != want {
			t.Errorf("ValidDigest(%q) = %v", digest, got)
		}
	}
}

func TestValidHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"quay.io": true, "localhost:5000": true, "10.0.0.1": true, "[::1]:5000": true, "[2001:DB8::1]": true, "A-b.C": true,
		"": false, "quay.io:": false, ":5000": false, "a..b": false, "a.": false, ".a": false, "a-.b": false, "-a": false,
		"a_b": false, "[::1]5000": false, "[::1": false, "[::1]:": false, "[]": false, "[fe80::1%eth0]": false,
		"[\x11::1]": false, strings.Repeat("a", maxHost+1): false,
	} {
		if got := validHost(host); got != want {
			t.Errorf("validHost(%q) = %v", host, got)
		}
	}
}
