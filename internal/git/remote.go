package git

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Remote says where a repository lies and how it is reached.
type Remote struct {
	// URL is https://, http://, ssh://, user@host:path or file://. A password in it
	// is refused.
	URL string
	// Credential is asked once for each session. Nil: anonymous.
	Credential func(ctx context.Context) (Credential, error)
	// HTTP is the one way over HTTP. Required for https and http.
	HTTP *http.Client
	// Dial is the one way over ssh. Required for ssh.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// KnownHosts is the path of a file of ssh host keys. Required for ssh.
	KnownHosts string
	// AllowFile lets file:// through, which starts Git's own programs.
	AllowFile bool
	// Now is the clock; needed for the time of a rate limit.
	Now func() time.Time
}

// Refs are the branches of a remote.
type Refs struct {
	// Branches maps the name of each branch to its commit.
	Branches map[string]ID
	// Default is the name of the default branch; empty when the remote names none,
	// as an empty repository does.
	Default string
}
