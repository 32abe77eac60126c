package app

import (
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"promoter/internal/scm"
)

// qualified is what people call a repository in the server's file:
// HOST/OWNER/NAME, and with plain Git the host and the path of its URL. It is
// what the repository is called now: a name is looked up, never remembered.
type qualified struct {
	text string
	fold bool // the forge compares names without regard to case
}

func qualify(info scm.Info) qualified {
	if info.URL != "" {
		return qualified{text: strings.ToLower(hostOf(info.URL)) + "/" + info.Name, fold: true}
	}
	parsed, err := url.Parse(info.CloneURL)
	if err != nil {
		return qualified{}
	}
	return qualified{text: strings.ToLower(parsed.Host) + "/" + strings.TrimSuffix(strings.Trim(parsed.Path, "/"), ".git")}
}

// fits says whether a glob of the server's file means the repository: * stands
// for text without a slash, ** for any. A text that is no UTF-8 names nothing and
// fits nothing: an expression takes each of its bytes for the same character.
func (q qualified) fits(glob string) bool {
	if !utf8.ValidString(q.text) || !utf8.ValidString(glob) {
		return false
	}
	parts := strings.Split(glob, "**")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(regexp.QuoteMeta(part), `\*`, "[^/]*")
	}
	flags := "(?s)"
	if q.fold {
		flags = "(?si)"
	}
	pattern, err := regexp.Compile(flags + "^" + strings.Join(parts, ".*") + "$")
	return err == nil && q.text != "" && pattern.MatchString(q.text)
}

func (q qualified) fitsAny(globs []string) bool {
	for _, glob := range globs {
		if q.fits(glob) {
			return true
		}
	}
	return false
}

// owner returns all of the name before its last slash.
func (q qualified) owner() string {
	owner := q.text[:max(0, strings.LastIndex(q.text, "/"))]
	if q.fold {
		return strings.ToLower(owner)
	}
	return owner
}
