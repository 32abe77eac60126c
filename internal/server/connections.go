package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/api"
)

// Limits of connections. Each costs some tens of KiB, whatever its client sends.
const (
	maxConnections           = 2048
	maxConnectionsPerAddress = 256 // of an address that is not that of a trusted proxy

	// maxRequests and maxRequestsPerAddress limit the requests of HTTP/2 that have no response yet. A
	// trusted proxy names the address of each.
	maxRequests           = maxConnections
	maxRequestsPerAddress = maxConnectionsPerAddress

	// Limits of one connection with HTTP/2: the requests at once, and what the server buffers of
	// bodies that no handler reads yet, in bytes.
	maxStreams        = 100
	maxReceivedStream = 64 << 10
	maxReceived       = 128 << 10
)

// http2 has the limits of HTTP/2.
func http2() *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerConnection: maxReceived, MaxReceiveBufferPerStream: maxReceivedStream,
	}
}

// boundedListener limits the connections that are open. A connection that waits for a request, for the
// rest of one, or for a client that does not read its response makes room for another one.
type boundedListener struct {
	net.Listener
	open    *bounds
	proxies []netip.Prefix
}

// Accept implements net.Listener.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		address, proxy := l.origin(conn)
		if admitted := l.open.add(address, proxy, func() { _ = conn.Close() }); admitted != nil {
			return &boundedConn{Conn: conn, held: admitted}, nil
		}
		_ = conn.Close()
	}
}

// origin returns the address that a connection counts for, and whether it is a trusted proxy.
func (l *boundedListener) origin(conn net.Conn) (address netip.Addr, proxy bool) {
	from, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}, false
	}
	proxy = slices.ContainsFunc(l.proxies, func(p netip.Prefix) bool { return p.Contains(from.Addr().Unmap()) })
	return api.SourceOf(from.Addr().String()), proxy
}

// boundedConn is one connection of a boundedListener.
type boundedConn struct {
	net.Conn
	held *held
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	c.held.release()
	return c.Conn.Close()
}

// Write implements net.Conn. It takes as long as the client does not read.
func (c *boundedConn) Write(content []byte) (int, error) {
	c.held.setWriting(true)
	defer c.held.setWriting(false)
	return c.Conn.Write(content)
}

// CloseWrite lets the client read the response before a connection with an unread body is closed.
// Package net/http looks for it.
func (c *boundedConn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// heldBy returns the place of a connection; nil: it is not of a boundedListener.
func heldBy(conn net.Conn) *held {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if bounded, ok := conn.(*boundedConn); ok {
		return bounded.held
	}
	return nil
}

// observeConnection follows the state of a connection: it is active from the end of the header of
// a request until the end of the response. While a body arrives, it waits for the client: limitBody.
func observeConnection(conn net.Conn, state http.ConnState) {
	one := heldBy(conn)
	switch {
	case one == nil:
	case state == http.StateActive:
		one.setIdle(false)
	case state == http.StateIdle:
		one.setIdle(true)
	}
}

// connectionKey is the key of the place of a connection in the context of its requests.
type connectionKey struct{}

func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, heldBy(conn))
}

// connectionOf returns the place of the connection that a request has for itself; nil: it shares
// the connection, as with HTTP/2.
func connectionOf(r *http.Request) *held {
	if r.ProtoMajor != 1 {
		return nil
	}
	one, _ := r.Context().Value(connectionKey{}).(*held)
	return one
}

// serveStream answers a request of HTTP/2. It shares its connection, and counts like a connection with
// one request: otherwise one address could hold maxStreams in each of its connections.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	one := s.requests.add(api.SourceOf(s.echo.IPExtractor(r)), false, func() { _ = control.SetWriteDeadline(time.Unix(1, 0)) })
	if one == nil {
		w.Header().Set(echo.HeaderRetryAfter, "1")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	defer one.release()
	one.setIdle(false)
	stream := streamWriter{w, one}
	s.echo.ServeHTTP(stream, r)
	_ = stream.FlushError() // net/http would wait for the client when the request does not count any more
}

// streamWriter writes the response of a request of HTTP/2. It takes as long as the client does not read.
type streamWriter struct {
	http.ResponseWriter
	held *held
}

// Write implements http.ResponseWriter.
func (w streamWriter) Write(content []byte) (int, error) {
	w.held.setWriting(true)
	defer w.held.setWriting(false)
	return w.ResponseWriter.Write(content)
}

// FlushError sends what was written. http.ResponseController looks for it.
func (w streamWriter) FlushError() error {
	w.held.setWriting(true)
	defer w.held.setWriting(false)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap is for http.ResponseController.
func (w streamWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
