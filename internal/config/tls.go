package config

import "strings"

// TLS is a certificate with its key, both in files. Its zero value is none: TLS is
// spoken by a proxy.
type TLS struct {
	Position
	Certificate, Key Reference
}

// On says whether the server speaks TLS itself.
func (t TLS) On() bool { return !t.Certificate.IsZero() }

// File is the path of a reference to a file; empty for another one.
func (r Reference) File() string {
	path, _ := strings.CutPrefix(r.text, "file:")
	if path == r.text {
		return ""
	}
	return path
}

// tls wants files: they are looked at again when a certificate is renewed.
func (l *serverLoader) tls() {
	raw := l.raw.TLS
	if raw == nil || raw.bad {
		return
	}
	if !raw.Certificate.set() || !raw.Key.set() {
		missing := "certificate"
		if raw.Certificate.set() {
			missing = "key"
		}
		l.failf(raw.Position, "write certificate and key, or no tls and let a proxy speak it", "tls has no %s", missing)
		return
	}
	l.server.TLS = TLS{
		Position:    raw.Position,
		Certificate: l.fileReference(raw.Certificate, "tls.certificate"),
		Key:         l.fileReference(raw.Key, "tls.key"),
	}
}

func (l *serverLoader) fileReference(raw at[string], key string) Reference {
	reference := l.reference(raw, key)
	if !reference.IsZero() && reference.File() == "" {
		l.failf(raw.Position, "write file:/PATH", "%s is not in a file, which is read again when it is renewed", key)
		return Reference{}
	}
	return reference
}
