package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/secret"
	"promoter/internal/server"
)

// Running is a service that runs, as a command asks it.
type Running struct {
	base  string
	token secret.String
	http  *http.Client
	hint  string // what to do when nobody answers
}

// askWithin and maxAnswer bound an answer: that of a service with many repositories.
const (
	askWithin = 30 * time.Second
	maxAnswer = 32 << 20
)

// Asking says where the service is, and whom to trust there.
type Asking struct {
	URL string // empty: where the server's file says that it listens, on this machine
	CA  string // a PEM file with authorities, besides those of the system; empty: none
}

// OpenRunning finds the service of a server's file: where it listens on this machine,
// or at an address.
func OpenRunning(options connect.Options, asking Asking) (*Running, error) {
	s, err := connect.OpenFile(options)
	if err != nil {
		return nil, err
	}
	token, err := s.APIToken()
	if err != nil {
		return nil, err
	}
	if token.IsZero() {
		return nil, fault.New(fault.Invalid, "%s has no api.token, so the service answers no command: write api: {token: env:NAME} and start it anew", s.File.File)
	}
	r := &Running{base: strings.TrimRight(asking.URL, "/"), token: token, hint: "is promoter serve running there?"}
	way := outbound.Options{Networks: s.File.Networks, AllowLoopback: true, Timeout: askWithin, Attempts: 1, Now: s.Now}
	if way.TLS, err = s.ClientTLS(asking.URL, asking.CA); err != nil {
		return nil, err
	}
	if asking.URL == "" {
		r.base, way.Networks = localAddress(s.File, way.Networks)
		r.hint = "is promoter serve running on this machine? --url asks another one"
	} else if err := checkAddress(asking.URL); err != nil {
		return nil, err
	}
	client, err := outbound.New(way)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err)
	}
	r.http = &http.Client{Transport: client}
	return r, nil
}

// here is where the service listens on this machine, and what may be dialed for it.
func localAddress(file *serverconfig.Config, networks []netip.Prefix) (string, []netip.Prefix) {
	host, scheme := local(file.Listen), "http://"
	if file.TLS.On() {
		scheme = "https://"
	}
	if own, err := netip.ParseAddr(outbound.Hostname(host)); err == nil {
		networks = append(slices.Clone(networks), netip.PrefixFrom(own, own.BitLen()))
	}
	return scheme + host, networks
}

// local is the address at which this machine reaches what listens.
func local(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// checkAddress wants TLS where the token would leave the machine.
func checkAddress(address string) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.User != nil || parsed.RawQuery != "" {
		return fault.New(fault.Invalid, "--url is not the address of a service: write https://HOST")
	}
	if parsed.Scheme == "https" || parsed.Scheme == "http" && outbound.IsLoopback(parsed.Hostname()) {
		return nil
	}
	return fault.New(fault.Invalid, "--url %s: the token is sent over https, and without it only on this machine", parsed.Host)
}

// Status asks what the service knows of its work.
func (r *Running) Status(ctx context.Context) (status server.Status, err error) {
	return status, r.ask(ctx, http.MethodGet, "/api/v1/status", nil, &status)
}

// History asks for a page of what promoter did and saw.
func (r *Running) History(ctx context.Context, past server.HistoryQuery) (history server.History, err error) {
	query := url.Values{"limit": {strconv.Itoa(past.Limit)}}
	for name, value := range map[string]string{
		"repository": past.Repository, "environment": past.Environment, "application": past.Application,
		"component": past.Component, "after": past.After,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if !past.Since.IsZero() {
		query.Set("since", past.Since.UTC().Format(time.RFC3339))
	}
	return history, r.ask(ctx, http.MethodGet, "/api/v1/history?"+query.Encode(), nil, &history)
}

// Replay has a delivery played again.
func (r *Running) Replay(ctx context.Context, what server.Replay) (replayed server.Replayed, err error) {
	return replayed, r.ask(ctx, http.MethodPost, "/api/v1/replay", what, &replayed)
}

func (r *Running) ask(ctx context.Context, method, path string, body, into any) error {
	question, err := json.Marshal(body)
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	request, err := http.NewRequestWithContext(ctx, method, r.base+path, bytes.NewReader(question))
	if err != nil {
		return fault.Wrap(fault.Invalid, err)
	}
	request.Header.Set("Authorization", "Bearer "+r.token.Reveal())
	request.Header.Set("Content-Type", "application/json")
	response, err := r.http.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fault.New(fault.Temporary, "nobody answers at %s: %s", r.base, r.hint)
	}
	if err != nil {
		return connect.ExplainTLSError(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	data, err := outbound.ReadAll(response.Body, maxAnswer)
	if err != nil {
		return err
	}
	return r.understand(response.StatusCode, data, into)
}

// understand reads an answer. Words of an error are the service's own.
func (r *Running) understand(status int, data []byte, into any) error {
	if status == http.StatusOK {
		if err := json.Unmarshal(data, into); err != nil {
			return fault.New(fault.Invalid, "what answers at %s is no promoter", r.base)
		}
		return nil
	}
	var said struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(data, &said) // a proxy's page has other words
	switch {
	case status == http.StatusUnauthorized:
		return fault.New(fault.Unauthorized, "the service at %s wants another api.token", r.base)
	case status == http.StatusNotFound && (said.Error == "" || said.Error == "Not Found"):
		return fault.New(fault.NotFound, "the service at %s has no API: write api.token into its file and start it anew", r.base)
	case said.Error != "" && status < http.StatusInternalServerError:
		return fault.New(fault.Invalid, "%s", said.Error)
	case status < http.StatusInternalServerError:
		return fault.New(fault.Invalid, "what answers at %s with %d is no promoter, or it wants https:// in --url", r.base, status)
	}
	return fault.New(fault.Temporary, "the service at %s answered %d; its log says why", r.base, status)
}
