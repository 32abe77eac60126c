package image

import (
	"errors"
	"fmt"
	"strings"
)

// Artifact is the kind of artifact in a component's repository.
type Artifact string

// The kinds of artifacts.
const (
	ArtifactImage Artifact = "image"    // a container image
	ArtifactChart Artifact = "chart"    // a Helm chart
	ArtifactOther Artifact = "artifact" // any other OCI artifact
)

// DockerHub is the host of Docker Hub in normalized names.
const DockerHub = "docker.io"

const (
	// officialPrefix is the namespace of official images, which is usually omitted.
	officialPrefix = "library/"
)

// syntaxError is a constant error, so that rejecting a text allocates nothing.
type syntaxError string

// Error returns the text.
func (e syntaxError) Error() string { return string(e) }

const (
	errEmpty      = syntaxError("the name is empty")
	errTooLong    = syntaxError("the name is too long")
	errName       = syntaxError("not a repository name: want HOST/PATH in lower case, like quay.io/acme/web")
	errHost       = syntaxError("the host is not a domain name or address with an optional port")
	errIdentifier = syntaxError("a digest or ID alone is not a repository name")
	errTag        = syntaxError("the tag is not valid: want up to 128 letters, digits, '_', '.' and '-', not starting with '.' or '-'")
	errDigest     = syntaxError("the digest is not valid: want sha256 or sha512, a colon and lower-case hex digits of the right length")
	errScheme     = syntaxError("leave out the scheme before the host, like https:// or oci://")
	errVersioned  = syntaxError("the name has a tag or digest: want the repository alone")
)

// Repository is a repository in a registry. Values are comparable, and all spellings of
// one repository are equal. The zero value is no repository.
type Repository struct {
	host string
	path string // on Docker Hub without library/, so that parsing allocates nothing
}

// ParseRepository parses a repository name without tag and digest. As in Docker, the
// first component is a host if it contains a dot, a colon or an upper-case letter, or is
// localhost; otherwise the repository is on Docker Hub.
func ParseRepository(s string) (Repository, error) {
	reference, err := Parse(s)
	switch {
	case strings.Contains(s, "://"):
		err = errScheme
	case err == nil && (reference.Tag != "" || reference.Digest != ""):
		err = errVersioned
	}
	if err != nil {
		return Repository{}, fmt.Errorf("image repository %s: %w", quote(s), err)
	}
	return reference.Repository, nil
}

// quote quotes untrusted text for an error, cut to a line.
func quote(s string) string {
	const most = 120
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q…", s[:most])
}

// parseName parses and normalizes a name.
func parseName(s string) (Repository, error) {
	first, rest, found := strings.Cut(s, "/")
	if !found || !namesHost(first) {
		return hubRepository(s)
	}
	if !validHost(first) {
		return Repository{}, errHost
	}
	host := normalizeHost(first)
	if host == DockerHub {
		return hubRepository(rest)
	}
	if len(rest) > maxPath {
		return Repository{}, errTooLong
	}
	if !validPath(rest) {
		return Repository{}, errName
	}
	return Repository{host: host, path: rest}, nil
}

// hubRepository makes a repository of Docker Hub.
func hubRepository(path string) (Repository, error) {
	full := len(path)
	if short, found := strings.CutPrefix(path, officialPrefix); found && !strings.Contains(short, "/") {
		path = short
	} else if !strings.Contains(path, "/") {
		full += len(officialPrefix)
	}
	switch {
	case full > maxPath:
		return Repository{}, errTooLong
	case !validPath(path):
		return Repository{}, errName
	default:
		return Repository{host: DockerHub, path: path}, nil
	}
}

// namesHost reports whether the first component of a name is a host, by the rule of
// Docker and the distribution project.
func namesHost(first string) bool {
	if first == "localhost" {
		return true
	}
	for i := range len(first) {
		if c := first[i]; c == '.' || c == ':' || is(c, classUpper) {
			return true
		}
	}
	return false
}

// normalizeHost returns a host in lower case, with one name for Docker Hub. A host that
// is one only because of its upper-case letters keeps them, or its normalized name would
// be one of Docker Hub.
func normalizeHost(host string) string {
	if lower := strings.ToLower(host); namesHost(lower) {
		host = lower
	}
	switch host {
	case "index.docker.io", "registry-1.docker.io", "registry.hub.docker.com":
		return DockerHub
	default:
		return host
	}
}

// official reports whether the repository is an official image of Docker Hub.
func (r Repository) official() bool {
	return r.host == DockerHub && !strings.Contains(r.path, "/")
}

// Host returns the registry's host, with the port if the name has one. That of Docker
// Hub is docker.io.
func (r Repository) Host() string { return r.host }

// Path returns the full path in the registry, as its API requires it.
func (r Repository) Path() string {
	if r.official() {
		return officialPrefix + r.path
	}
	return r.path
}

// Name returns the last component of the path.
func (r Repository) Name() string {
	return r.path[strings.LastIndexByte(r.path, '/')+1:]
}

// String returns the normalized full name, or "" for the zero value.
func (r Repository) String() string {
	if r.IsZero() {
		return ""
	}
	return r.host + "/" + r.Path()
}

// Familiar returns the usual short form: on Docker Hub without the host and without
// library/.
func (r Repository) Familiar() string {
	if r.host == DockerHub {
		return r.path
	}
	return r.String()
}

// IsZero reports whether there is no repository.
func (r Repository) IsZero() bool { return r == Repository{} }

// MarshalText encodes the repository for a file that only the same version of promoter reads.
func (r Repository) MarshalText() ([]byte, error) {
	if r.IsZero() {
		return nil, nil
	}
	return []byte(r.host + "/" + r.path), nil
}

// UnmarshalText decodes what MarshalText encoded.
func (r *Repository) UnmarshalText(text []byte) error {
	host, path, found := strings.Cut(string(text), "/")
	if !found && len(text) > 0 {
		return errors.New("not an encoded repository")
	}
	r.host, r.path = host, path
	return nil
}

// MarshalBinary encodes the repository in the same way: gob does not use MarshalText.
func (r Repository) MarshalBinary() ([]byte, error) { return r.MarshalText() }

// UnmarshalBinary decodes what MarshalBinary encoded.
func (r *Repository) UnmarshalBinary(data []byte) error { return r.UnmarshalText(data) }

// HasDomain reports whether the repository is below the domain of a registry other than
// Docker Hub. IP addresses are mostly those of services.
func (r Repository) HasDomain() bool {
	name, _, _ := strings.Cut(r.host, ":")
	isAddress := strings.Trim(name, "0123456789.") == "" || strings.HasPrefix(r.host, "[")
	return r.host != DockerHub && strings.Contains(r.host, ".") && !isAddress
}
