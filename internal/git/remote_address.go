package git

import (
	"net"
	"net/url"
	"strings"

	"promoter/internal/fault"
)

// address is a remote's URL taken apart. It holds no secret.
type address struct {
	scheme string // https, http, ssh or file
	user   string // only for ssh
	host   string // with the port, if the URL has one
	path   string // as the service wants it; for ssh it may be relative to a home folder
}

// parseAddress reads the URL of a remote and refuses what cannot be reached with
// what the Remote brings.
func parseAddress(r Remote) (address, error) {
	a, err := splitAddress(r.URL)
	if err != nil {
		return address{}, err
	}
	switch a.scheme {
	case "https", "http":
		if r.HTTP == nil {
			return address{}, fault.New(fault.Invalid, "%s needs a client for HTTP", a)
		}
	case "ssh":
		if r.Dial == nil || r.KnownHosts == "" {
			return address{}, fault.New(fault.Invalid, "%s needs a dialler and a file of known hosts", a)
		}
	case "file":
		if !r.AllowFile {
			return address{}, fault.New(fault.Invalid, "%s is refused: repositories on this machine's disk are not allowed here", a)
		}
	}
	return a, nil
}

// splitAddress takes a URL apart. Its errors do not repeat the URL, which may
// hold a password.
func splitAddress(text string) (address, error) {
	if !strings.Contains(text, "://") {
		return splitShort(text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return address{}, fault.New(fault.Invalid, "the URL of the Git repository cannot be parsed")
	}
	a := address{scheme: strings.ToLower(u.Scheme), host: strings.ToLower(u.Host), path: u.Path}
	if a.scheme == "ssh" {
		a.user = u.User.Username()
		if strings.HasPrefix(a.path, "/~") {
			a.path = a.path[1:] // a home folder, which the service's shell resolves
		}
	}
	return a, a.check(u)
}

func (a address) check(u *url.URL) error {
	_, password := u.User.Password()
	switch {
	case password:
		return fault.New(fault.Invalid, "the URL of %s holds a password, which is refused: give it as a credential", a)
	case u.RawQuery != "" || u.Fragment != "" || u.Opaque != "":
		return fault.New(fault.Invalid, "the URL of %s has a part after its path, which is refused", a)
	case strings.Trim(a.path, "/") == "" || strings.HasPrefix(a.path, "-"):
		return fault.New(fault.Invalid, "the URL of the Git repository names none on %q", a.host)
	}
	switch a.scheme {
	case "https", "http", "ssh":
		if u.Hostname() == "" {
			return fault.New(fault.Invalid, "the URL of the Git repository names no host")
		}
	case "file":
		if a.host != "" && a.host != "localhost" {
			return fault.New(fault.Invalid, "%s names another machine", a)
		}
	default:
		return fault.New(fault.Invalid, "Git is not spoken over %.20q: use https, ssh or file", a.scheme)
	}
	return nil
}

// splitShort reads the short form of ssh, user@host:path. A second @ may stand
// behind a password, which must not become part of a name that is shown.
func splitShort(text string) (address, error) {
	target, path, found := strings.Cut(text, ":")
	user, host, named := strings.Cut(target, "@")
	if !named {
		user, host = "", target
	}
	if !found || host == "" || path == "" || strings.ContainsAny(target, "/\\") || strings.ContainsRune(host+path, '@') || strings.HasPrefix(path, "-") {
		return address{}, fault.New(fault.Invalid, "the URL of the Git repository is none: it begins with https://, ssh:// or file://, or is user@host:path")
	}
	return address{scheme: "ssh", user: user, host: strings.ToLower(host), path: path}, nil
}

// String returns the URL without user.
func (a address) String() string {
	return (&url.URL{Scheme: a.scheme, Host: a.host, Path: a.path}).String()
}

// endpoint returns host and port of an ssh remote.
func (a address) endpoint() string {
	if host, port, err := net.SplitHostPort(a.host); err == nil {
		return net.JoinHostPort(host, port)
	}
	return net.JoinHostPort(strings.Trim(a.host, "[]"), "22")
}
