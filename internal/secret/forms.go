package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
)

// minEncoded is the length in bytes from which a value is searched in its encodings too.
// Those of shorter ones occur in other text.
const minEncoded = 8

// Erase replaces values in a text that another machine sent: as they are, and escaped, in
// base64 at any position of a longer text, and in hex.
func Erase(text string, values ...string) string {
	var forms []string
	for _, value := range values {
		forms = append(forms, formsOf(value)...)
	}
	slices.SortFunc(forms, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may contain another
	for _, form := range forms {
		text = strings.ReplaceAll(text, form, Redacted)
	}
	return text
}

func formsOf(value string) []string {
	switch {
	case value == "":
		return nil
	case len(value) < minEncoded:
		return []string{value}
	}
	digits := hex.EncodeToString([]byte(value))
	forms := []string{value, url.QueryEscape(value), url.PathEscape(value), digits, strings.ToUpper(digits)}
	for before := range 3 {
		forms = append(forms, encoded(base64.RawStdEncoding, value, before), encoded(base64.RawURLEncoding, value, before))
	}
	return forms
}

// encoded returns the part of an encoded text that depends on the value alone, if some bytes
// precede it and others follow.
func encoded(encoding *base64.Encoding, value string, before int) string {
	bits := 8 * before
	text := encoding.EncodeToString([]byte(strings.Repeat("\x00", before) + value))
	return text[(bits+5)/6 : (bits+8*len(value))/6]
}
