// Package lex recognizes references, names of repositories, variables, and markers in text,
// without parsing YAML: a reference and what surrounds it in a value, the names that a line
// mentions, the comments that name a component, and the comments of templates. It decides
// nothing about files.
package lex

import (
	"iter"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"promoter/internal/image"
	"promoter/internal/printable"
)

// CutReference removes what may surround a reference: spaces, including those
// that are not YAML whitespace, the name of an option or variable with its
// equals sign, and a scheme. A sentence with an equals sign is not an option.
func CutReference(value string) (before, name, after string) {
	name = strings.TrimFunc(value, unicode.IsSpace)
	at := strings.Index(value, name)
	after = value[at+len(name):]
	option := strings.LastIndexByte(name[:variableStart(name)], '=') + 1
	if strings.ContainsFunc(name[:option], unicode.IsSpace) {
		return "", value, ""
	}
	name = name[option:]
	for _, scheme := range referenceSchemes {
		name = strings.TrimPrefix(name, scheme)
	}
	return value[:len(value)-len(after)-len(name)], name, after
}

// referenceSchemes are the transports that tools put before a reference. A
// similar web address, such as https://quay.io/acme/web:v1, is not a reference.
var referenceSchemes = []string{"oci://", "docker://", "docker-image://"}

// VersionStart returns the end of a reference's name: the offset of its first
// colon or at sign after the host, or of a placeholder.
func VersionStart(value string) int {
	end := variableStart(value)
	host := max(strings.IndexByte(value[:end], '/'), 0)
	if at := strings.IndexAny(value[host:end], ":@"); at >= 0 {
		return host + at
	}
	return end
}

// variableStart returns the offset of the first placeholder: ${…}, $(…) or
// {{…}}. Without one it returns the length of the text.
func variableStart(s string) int {
	start := len(s)
	for _, opening := range []string{"${", "$(", "{{"} {
		if at := strings.Index(s, opening); at >= 0 {
			start = min(start, at)
		}
	}
	return start
}

// IsVariable reports whether the text contains a placeholder.
func IsVariable(s string) bool { return variableStart(s) < len(s) }

// defaulted matches a variable with a default, as in Compose and Flux, before a
// name: ${REGISTRY:-quay.io}/ or ${REGISTRY:=quay.io}/.
var defaulted = regexp.MustCompile(`^\$\{\w+:?[-=]([^${}]*)\}`)

// FillRegistry replaces a variable at the start of a reference with its
// default.
func FillRegistry(s string) string {
	if match := defaulted.FindStringSubmatch(s); match != nil {
		return match[1] + s[len(match[0]):]
	}
	return s
}

// SaysImage reports whether a key or option indicates that its value is an
// image.
func SaysImage(key string) bool { return strings.Contains(strings.ToLower(key), "image") }

// IsAddress reports whether the text may also be a host and port, as in
// redis:6379: a name without a slash, and a number that few images use as a
// tag.
func IsAddress(r image.Reference) bool {
	if r.Digest != "" || strings.Contains(r.Name, "/") {
		return false
	}
	port, err := strconv.ParseUint(r.Tag, 10, 16)
	return err == nil && (port >= 100 || port == 80)
}

// maxQuoted is how much of a text a reason quotes, in runes.
const maxQuoted = 120

// Shorten makes untrusted text suitable for a reason: truncated, on one line, and printable.
func Shorten(s string) string { return printable.ShortLine(s, maxQuoted) }

// nameLike matches a run of characters used in references.
var nameLike = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9._/:@-]*`)

// Words returns the words of a line that may be references.
func Words(line string) []string { return nameLike.FindAllString(line, -1) }

// Mentions yields the possible repository names on a line, without tag and
// digest.
func Mentions(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for end := 0; ; {
			at := nameLike.FindStringIndex(line[end:])
			if at == nil {
				return
			}
			start := end + at[0]
			end += at[1]
			if name := mentioned(line, start, end); name != "" && !yield(name) {
				return
			}
		}
	}
}

// nearKey is how many bytes before a value its key is searched for. Without a
// limit, a hostile line would be read once for each of its words.
const nearKey = 64

// mentioned returns the name in a word of a line, or nothing. Web addresses are
// not names. A name of one segment may be an ordinary word, so it counts only
// with a version after it, or with a possible version if the key contains
// "image": redis:{{ .port }} is an address.
func mentioned(line string, start, end int) string {
	word := line[start:end]
	if scheme, rest, found := strings.Cut(word, "://"); found {
		if scheme == "http" || scheme == "https" {
			return ""
		}
		word = rest
	}
	reference, err := image.Parse(word)
	if err == nil && IsAddress(reference) {
		return ""
	}
	name, _, _ := strings.Cut(word, "@")
	if at := strings.LastIndexByte(name, ':'); at > strings.LastIndexByte(name, '/') {
		name = name[:at]
	}
	switch {
	case strings.Contains(name, "/"):
	case len(name) == len(word), strings.HasPrefix(line[end:], " "), err != nil && !SaysImage(line[max(0, start-nearKey):start]):
		return ""
	}
	return strings.TrimRight(name, "./-_:")
}
