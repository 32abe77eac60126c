package config

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// LoadServer reads a promoter-server.yaml; file is the name that problems carry.
// PROMOTER_* variables of the environment win over the file; data nil means
// that there is no file. The Server is nil when there is a problem that is an
// error.
func LoadServer(file string, data []byte, env func(string) (string, bool)) (*Server, Problems) {
	l := &serverLoader{collector: &collector{}, server: &Server{File: file}}
	if data != nil {
		root := parse(file, data, l.collector)
		if root == nil {
			return nil, l.problems()
		}
		if !newDecoder(file, l.collector).whole(root, &l.raw) {
			return nil, l.problems()
		}
		l.version(l.raw.Version, l.raw.place)
	}
	l.environment(env)
	l.load()
	if l.failed() {
		return nil, l.problems()
	}
	return l.server, l.problems()
}

// serverLoader turns the raw file into a Server.
type serverLoader struct {
	*collector
	raw    rawServer
	server *Server
}

func (l *serverLoader) load() {
	for _, group := range []func(){
		l.basics, l.database, l.tls, l.retention, l.api, l.traces, l.networks, l.forges, l.repositories, l.onboarding, l.registries,
		l.receivers, l.permissions, l.limits, l.rateLimits, l.sizes,
	} {
		group()
	}
}

func (l *serverLoader) basics() {
	l.server.Listen = or(l.raw.Listen, DefaultListen)
	if _, _, err := net.SplitHostPort(l.server.Listen); err != nil {
		l.failf(l.raw.Listen.Position, "write HOST:PORT or :PORT", "listen is not an address")
	}
	l.server.URL = l.url(l.raw.URL, "url")
	l.server.Data = or(l.raw.Data, DefaultData)
	if l.raw.Data.ok() && l.raw.Data.Value == "" {
		l.failf(l.raw.Data.Position, "name a folder", "data is empty")
	}
	l.server.Poll = or(l.raw.Poll, DefaultPoll)
	if l.raw.Poll.ok() && l.raw.Poll.Value <= 0 {
		l.failf(l.raw.Poll.Position, "write how often to look, as in 5m", "poll is not longer than nothing")
	}
}

// url checks the address of a server. It never quotes one: people put passwords
// into them.
func (l *serverLoader) url(raw at[string], key string) string {
	if !raw.ok() {
		return ""
	}
	parsed, err := url.Parse(raw.Value)
	switch {
	case err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" && parsed.Scheme != "ssh":
		l.failf(raw.Position, "write https://HOST", "%s is not the address of a server", key)
		return ""
	case hasPassword(parsed) || parsed.User != nil && parsed.Scheme != "ssh":
		l.failf(raw.Position, "remove what stands before @; name credentials by reference", "%s holds a user or a password", key)
		return ""
	case parsed.RawQuery != "" || parsed.Fragment != "":
		l.failf(raw.Position, "remove what stands behind the path", "%s holds a query or a fragment", key)
	}
	return strings.TrimRight(raw.Value, "/")
}

func hasPassword(address *url.URL) bool {
	_, set := address.User.Password()
	return set
}

func (l *serverLoader) database() {
	raw := l.raw.Database
	if raw == nil || raw.bad {
		return
	}
	if raw.Path.set() && raw.URL.set() {
		l.failf(last(raw.Path.place, raw.URL.place), "keep path for SQLite or url for PostgreSQL", "database has both path and url")
	}
	l.server.Database = Database{Path: raw.Path.Value, URL: l.reference(raw.URL, "database.url")}
}

func (l *serverLoader) api() {
	if raw := l.raw.API; raw != nil && !raw.bad {
		l.server.API = l.reference(raw.Token, "api.token")
	}
}

// reference reads where a secret is, and says nothing about what it found there
// instead.
func (l *serverLoader) reference(raw at[string], key string) Reference {
	if !raw.ok() {
		return Reference{}
	}
	reference, err := ParseReference(raw.Value)
	if err != nil {
		l.failf(raw.Position, "write env:NAME, or file:/PATH with the secret in that file; if a secret stood here, replace it",
			"%s must be a reference: %v", key, err)
	}
	return reference
}

// networks reads the private networks. One that holds every address would switch
// the guard off.
func (l *serverLoader) networks() {
	for _, raw := range l.raw.Networks.Value {
		if !raw.ok() {
			continue
		}
		network, err := netip.ParsePrefix(raw.Value)
		switch {
		case err != nil:
			l.failf(raw.Position, "write an address and its length, as in 10.0.0.0/8", "%q is not a network", raw.Value)
			continue
		case network != network.Masked():
			l.failf(raw.Position, "write "+network.Masked().String(), "%q has an address inside of the network", raw.Value)
		case network.Bits() == 0:
			l.warnf(raw.Position, "name the networks that your registries and forges are in", "%q lets every private address be dialled", raw.Value)
		}
		l.server.Networks = append(l.server.Networks, network.Masked())
	}
}
