// Package wire speaks the Git protocol, version 0, over HTTP, SSH, and the pipes of
// a local process. A Session gets the references of a remote and then makes one
// request: it fetches a pack or pushes one.
//
// Responses of servers are untrusted input: all are limited in size, and errors
// contain neither credentials nor control characters. Errors are of the kind
// (package fault) that tells the caller what to do next.
package wire

import (
	"context"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/secret"
)

// Remote is a Git repository and the means to connect to it.
type Remote struct {
	// URL is https://, http://, ssh://, user@host:path, or file://. It must not
	// contain a password.
	URL string
	// Credential is called once for each session. Nil: anonymous.
	Credential func(ctx context.Context) (Credential, error)
	// HTTP makes all HTTP requests. Required for https and http.
	HTTP *http.Client
	// Dial makes all SSH connections. Required for ssh.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// KnownHosts is the path of a known_hosts file. Required for ssh.
	KnownHosts string
	// AllowFile allows file://, which runs the program git.
	AllowFile bool
	// Now is the clock. It is needed for relative times of rate limits.
	Now func() time.Time
}

// Credential authenticates to a remote: over https with Bearer, or User and
// Password; over ssh with Key, or User and Password. The zero value is anonymous.
type Credential struct {
	// User is the user name for basic authentication and for ssh. Empty: that of an
	// ssh URL, else "git"; for basic authentication "x-access-token", which all
	// forges accept with a token.
	User string
	// Password is a password, or a token used as one.
	Password secret.String
	// Bearer is a token for the Authorization header.
	Bearer secret.String
	// Key is a private key in PEM format for ssh.
	Key secret.String
	// Passphrase decrypts Key, if it is encrypted.
	Passphrase secret.String
}

// redact removes the credential from an error, in all forms in which a server may
// have repeated it.
func (c Credential) redact(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, part := range []secret.String{c.Password, c.Bearer, c.Passphrase} {
		if value := part.Reveal(); value != "" {
			text = strings.ReplaceAll(text, value, secret.Redacted)
			text = strings.ReplaceAll(text, url.QueryEscape(value), secret.Redacted)
		}
	}
	if password := c.Password.Reveal(); password != "" {
		for _, user := range []string{c.User, tokenUser} {
			text = strings.ReplaceAll(text, base64.StdEncoding.EncodeToString([]byte(user+":"+password)), secret.Redacted)
		}
	}
	return outbound.Reworded(err, text)
}

// Endpoint is a Remote with a valid URL. It contains no secret.
type Endpoint struct {
	remote Remote
	scheme string // https, http, ssh, or file
	user   string // for ssh
	host   string // with the port, if the URL has one
	path   string // as the server expects it; for ssh it may be relative to a home directory
}

// Parse validates the URL of a remote, and that the remote has what its scheme
// requires.
func Parse(r Remote) (Endpoint, error) {
	e, err := parseURL(r.URL)
	if err != nil {
		return Endpoint{}, err
	}
	e.remote = r
	switch e.scheme {
	case "https", "http":
		if r.HTTP == nil {
			return Endpoint{}, fault.New(fault.Invalid, "%s requires an HTTP client", e)
		}
	case "ssh":
		if r.Dial == nil || r.KnownHosts == "" {
			return Endpoint{}, fault.New(fault.Invalid, "%s requires a dialer and a known_hosts file", e)
		}
	case "file":
		if !r.AllowFile {
			return Endpoint{}, fault.New(fault.Invalid, "%s is refused: repositories on the local disk are not allowed here", e)
		}
	}
	return e, nil
}

// parseURL parses a URL. Its errors do not repeat the URL, which may contain a
// password.
func parseURL(text string) (Endpoint, error) {
	if !strings.Contains(text, "://") {
		return parseShort(text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return Endpoint{}, fault.New(fault.Invalid, "the URL of the Git repository cannot be parsed")
	}
	e := Endpoint{scheme: strings.ToLower(u.Scheme), host: strings.ToLower(u.Host), path: u.Path}
	if e.scheme == "ssh" {
		e.user = u.User.Username()
		if strings.HasPrefix(e.path, "/~") {
			e.path = e.path[1:] // a home directory, which the remote shell resolves
		}
	}
	_, password := u.User.Password()
	switch {
	case password:
		return e, fault.New(fault.Invalid, "the URL of %s contains a password, which is refused: configure a credential", e)
	case u.RawQuery != "" || u.Fragment != "" || u.Opaque != "":
		return e, fault.New(fault.Invalid, "the URL of %s has a query or a fragment, which is refused", e)
	case strings.Trim(e.path, "/") == "" || strings.HasPrefix(e.path, "-"):
		return e, fault.New(fault.Invalid, "the URL of the Git repository has no path on %q", e.host)
	}
	switch e.scheme {
	case "https", "http", "ssh":
		if u.Hostname() == "" {
			return e, fault.New(fault.Invalid, "the URL of the Git repository has no host")
		}
	case "file":
		if e.host != "" && e.host != "localhost" {
			return e, fault.New(fault.Invalid, "%s is on another host", e)
		}
	default:
		return e, fault.New(fault.Invalid, "the scheme %.20q is not supported for Git repositories: use https, ssh, or file", e.scheme)
	}
	return e, nil
}

// parseShort parses the short form of ssh, user@host:path. A second @ could follow a
// password, which must not become part of a name that is displayed.
func parseShort(text string) (Endpoint, error) {
	target, path, found := strings.Cut(text, ":")
	user, host, hasUser := strings.Cut(target, "@")
	if !hasUser {
		user, host = "", target
	}
	if !found || host == "" || path == "" || strings.ContainsAny(target, "/\\") ||
		strings.ContainsRune(host+path, '@') || strings.HasPrefix(path, "-") {
		return Endpoint{}, fault.New(fault.Invalid,
			"the URL of the Git repository is invalid: it must begin with https://, ssh://, or file://, or be user@host:path")
	}
	return Endpoint{scheme: "ssh", user: user, host: strings.ToLower(host), path: path}, nil
}

// String returns the URL without the user.
func (e Endpoint) String() string {
	return (&url.URL{Scheme: e.scheme, Host: e.host, Path: e.path}).String()
}

// address returns host and port of an ssh remote.
func (e Endpoint) address() string {
	if host, port, err := net.SplitHostPort(e.host); err == nil {
		return net.JoinHostPort(host, port)
	}
	return net.JoinHostPort(strings.Trim(e.host, "[]"), "22")
}
