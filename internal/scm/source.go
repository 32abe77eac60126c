package scm

import (
	"net/url"
	"regexp"
	"strings"
)

// Source is a repository that a config file or an image names as the source of the image.
type Source struct {
	Host string // with its port, in lower case
	Path string // OWNER/NAME; on some forges with more groups
}

// String returns HOST/OWNER/NAME.
func (s Source) String() string { return s.Host + "/" + s.Path }

// maxSource bounds what is parsed: the author of an image wrote it.
const maxSource = 512

// Parts of the path of a web page that is not that of the repository itself.
var pageOfRepository = regexp.MustCompile(`/(-|tree|blob|src|commit|commits|releases|tags)(/.*)?$`)

// sourcePath matches the paths that forges give repositories.
var sourcePath = regexp.MustCompile(`^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+$`)

// ParseSource parses HOST/OWNER/NAME, the URL of a repository or of a page of it, and the
// address of SSH: all that builders write into org.opencontainers.image.source.
func ParseSource(text string) (Source, bool) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "git+")
	if len(text) > maxSource {
		return Source{}, false
	}
	if !strings.Contains(text, "://") {
		if user, rest, scp := strings.Cut(text, "@"); scp && !strings.Contains(user, "/") { // USER@HOST:PATH
			text = strings.Replace(rest, ":", "/", 1)
		}
		text = "https://" + text
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" || strings.Contains(parsed.Path, "/../") {
		return Source{}, false
	}
	host := strings.ToLower(parsed.Host)
	switch parsed.Scheme {
	case "https", "http":
	case "ssh", "git":
		host = strings.ToLower(parsed.Hostname()) // the port is not that of the web page
	default:
		return Source{}, false
	}
	path := strings.Trim(parsed.Path, "/")
	// OWNER/NAME comes first, so that a repository may be called tree.
	if segments := strings.SplitN(path, "/", 3); len(segments) == 3 {
		rest := pageOfRepository.ReplaceAllString("/"+segments[2], "")
		path = segments[0] + "/" + segments[1] + rest
	}
	path = strings.TrimSuffix(path, ".git")
	if !sourcePath.MatchString(path) || strings.Contains("/"+path+"/", "/./") || strings.Contains("/"+path+"/", "/../") {
		return Source{}, false
	}
	return Source{Host: host, Path: path}, true
}

// comparePages are the pages that compare two commits on public hosts, which are linked to
// also where promoter reads nothing.
var comparePages = map[string]string{
	"github.com":   "/compare/",
	"codeberg.org": "/compare/",
	"gitlab.com":   "/-/compare/",
}

// URL returns the web page of the repository, if that is known without asking the host.
func (s Source) URL() string { return "https://" + s.String() }

// CompareURL returns the page that compares two commits; empty if the host is not known.
func (s Source) CompareURL(from, to string) string {
	page := comparePages[s.Host]
	if page == "" || !IsRevision(from) || !IsRevision(to) {
		return ""
	}
	return s.URL() + page + from + "..." + to
}

var revision = regexp.MustCompile(`^[0-9a-fA-F]+$`)

// Digits of the ID of a commit: as many as Git shows at least, and all of SHA-256.
const minRevision, maxRevision = 7, 64

// IsRevision reports whether a text is the ID of a commit, maybe a short one. The names of
// branches and tags are none: what they name can change.
func IsRevision(text string) bool {
	return len(text) >= minRevision && len(text) <= maxRevision && revision.MatchString(text)
}

// ChangeQuery asks a source repository about the change from one version to another.
type ChangeQuery struct {
	Source     string
	Configured bool     // the config file names the source, and not only the image
	From, To   string   // commits; empty: only the release is wanted
	Tags       []string // that the release of the new version may have, the likeliest first
	Limit      int      // of commits
}

// Change is what a source repository says about a change.
type Change struct {
	Source     string // HOST/OWNER/NAME
	URL        string // of its web page; empty: unknown
	Comparison        // its URL is known also if its commits are not
	Removes    bool   // the commits are those that the change reverts
	Release    Release
	Unread     string // why the commits are unknown; empty: they are known, or not wanted
}
