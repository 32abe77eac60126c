// Package identity identifies repositories, by a key that survives renames, and users of
// a forge. Two spellings of one thing are equal. No value and no error of this package
// contains a credential.
package identity

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"strings"
)

// RepositoryKey identifies a GitOps repository permanently: HOST/ID with the ID that the
// forge assigns, so that a rename changes nothing, or git:URL for plain Git, which has no
// IDs.
type RepositoryKey string

// IsNamed reports whether a text that a user wrote names the repository, of which the address is
// HOST/OWNER/NAME: its key, its address, or the end of that after a slash, in upper or lower case.
func (k RepositoryKey) IsNamed(address, text string) bool {
	text, address = strings.ToLower(text), strings.ToLower(address)
	return text != "" && (strings.ToLower(string(k)) == text || address == text || strings.HasSuffix(address, "/"+text))
}

// gitPrefix marks the keys of plain Git. What follows is a URL with "://", so no
// host with a port looks like it.
const gitPrefix = "git:"

// Limits in bytes: of a forge's host with its port, of an ID, and of a repository's URL.
const (
	maxHost = 253 + len(":65535")
	maxID   = 128
	maxURL  = 2048
)

// The errors never quote the URL, which may have a password.
var (
	errHost    = errors.New("the host of the forge is not a host name with an optional port")
	errURL     = errors.New("the repository's URL is malformed")
	errScheme  = errors.New("the repository's URL must start with https, http, ssh, git or file, or be USER@HOST:PATH")
	errQuery   = errors.New("the repository's URL must have no query and no fragment")
	errPath    = errors.New("the repository's URL must have a path without '..'")
	errNoHost  = errors.New("the repository's URL has no valid host")
	errTooLong = fmt.Errorf("the repository's URL is longer than %d bytes", maxURL)
)

// ForgeKey returns the key of a repository on a forge. The ID is opaque: a number, a
// UUID, or whatever the forge uses, without spaces and slashes.
func ForgeKey(host, id string) (RepositoryKey, error) {
	parsed, err := url.Parse("https://" + host)
	if err != nil || len(host) > maxHost || parsed.Host != host || !validHost(parsed.Hostname()) {
		return "", errHost
	}
	if id == "" || len(id) > maxID || strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c == '/' || c > '~' }) {
		return "", fmt.Errorf("%.40q is not the ID of a repository on %s", id, host)
	}
	return RepositoryKey(normalizeHost(parsed) + "/" + id), nil
}

// GitKey returns the key of a repository of plain Git. User, password, default port,
// trailing slashes, and .git are removed, and the host is in lower case. USER@HOST:PATH,
// which is ssh for Git, becomes an ssh URL. A file URL keeps its .git: on a disk, a and
// a.git are two folders.
func GitKey(raw string) (RepositoryKey, error) {
	if len(raw) > maxURL {
		return "", errTooLong
	}
	if ssh, ok := fromSCP(raw); ok {
		raw = ssh
	}
	parsed, err := url.Parse(raw)
	switch {
	case err != nil:
		return "", errURL
	case defaultPort(parsed.Scheme) == "" && parsed.Scheme != "file":
		return "", errScheme
	case parsed.RawQuery != "" || parsed.ForceQuery || parsed.Fragment != "":
		return "", errQuery
	case parsed.Scheme == "file":
		return fileKey(parsed)
	case !validHost(parsed.Hostname()):
		return "", errNoHost
	}
	clean, err := cleanPath(parsed.Path)
	if err != nil {
		return "", err
	}
	clean = strings.TrimRight(strings.TrimSuffix(clean, ".git"), "/")
	if clean != path.Clean(clean) { // it is empty, . or .., as in a folder ..git
		return "", errPath
	}
	normal := url.URL{Scheme: parsed.Scheme, Host: normalizeHost(parsed), Path: clean}
	return RepositoryKey(gitPrefix + normal.String()), nil
}

func fileKey(parsed *url.URL) (RepositoryKey, error) {
	if parsed.Host != "" && !strings.EqualFold(parsed.Host, "localhost") {
		return "", errors.New("a file URL cannot name another machine: write file:///PATH")
	}
	clean, err := cleanPath(parsed.Path)
	if err != nil {
		return "", err
	}
	normal := url.URL{Scheme: "file", Path: clean}
	return RepositoryKey(gitPrefix + normal.String()), nil
}

// cleanPath merges doubled slashes and removes those at the end.
func cleanPath(p string) (string, error) {
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." {
			return "", errPath
		}
	}
	if clean := path.Clean("/" + p); clean != "/" {
		return clean, nil
	}
	return "", errPath
}

// fromSCP turns [USER@]HOST:PATH into a URL. Git interprets it so when a colon precedes
// the first slash. A path without a leading slash is relative to the user's home there;
// servers that host Git make no difference.
// https://git-scm.com/docs/git-clone#_git_urls
func fromSCP(raw string) (string, bool) {
	if strings.Contains(raw, "://") {
		return "", false
	}
	if user, rest, found := strings.Cut(raw, "@"); found && !strings.ContainsAny(user, ":/[") {
		raw = rest
	}
	separator := ":"
	if strings.HasPrefix(raw, "[") {
		separator = "]:"
	}
	host, rest, found := strings.Cut(raw, separator)
	// An @ in the path is a password, in a URL without its scheme; a second colon is
	// one of Git's transport helpers, which run commands.
	if !found || strings.Contains(host, "/") || strings.HasPrefix(rest, ":") || strings.Contains(rest, "@") {
		return "", false
	}
	host += strings.TrimSuffix(separator, ":")
	return "ssh://" + host + "/" + (&url.URL{Path: rest}).EscapedPath(), true
}

// validHost reports whether s is an IP address or a name of letters, digits, dots, dashes,
// and underscores.
func validHost(s string) bool {
	if strings.Contains(s, ":") {
		return net.ParseIP(s) != nil
	}
	for i, c := range strings.ToLower(s) {
		word := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !word && (i == 0 || !strings.ContainsRune("-._", c)) {
			return false
		}
	}
	return s != ""
}

func defaultPort(scheme string) string {
	switch scheme {
	case "https":
		return "443"
	case "http":
		return "80"
	case "ssh":
		return "22"
	case "git":
		return "9418"
	default:
		return ""
	}
}

// normalizeHost returns the host in lower case, without the default port.
func normalizeHost(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port != "" && port != defaultPort(u.Scheme) {
		return net.JoinHostPort(host, port)
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}
