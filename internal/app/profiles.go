package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/telemetry"
)

// listenProfiles opens the address for profiles; an empty one opens none. They show
// what is in memory, secrets too, and so stay on this machine unless a person says
// otherwise.
func (s *service) listenProfiles(ctx context.Context) (net.Listener, error) {
	if s.Profiles == "" {
		return nil, nil //nolint:nilnil // no listener is no error
	}
	host, _, err := net.SplitHostPort(s.Profiles)
	if err != nil {
		return nil, fault.New(fault.Invalid, "--pprof %s: write 127.0.0.1:PORT", s.Profiles)
	}
	if !s.ProfilesOpen && !outbound.IsLoopback(host) {
		return nil, fault.New(fault.Invalid, "--pprof %s: profiles show what is in memory, secrets too: write 127.0.0.1:PORT, or add --pprof-open if nobody else reaches that address", s.Profiles)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Profiles)
	if err != nil {
		return nil, fault.New(fault.Invalid, "--pprof: listen: %w", err)
	}
	return listener, nil
}

// profilesHeader is how long a client may take with its header. An answer takes as
// long as the profile that was asked for.
const profilesHeader = 10 * time.Second

// serveProfiles answers until the context ends; what is under way ends with it.
func (s *service) serveProfiles(ctx context.Context, listener net.Listener) error {
	server := &http.Server{Handler: telemetry.Profiles(), ReadHeaderTimeout: profilesHeader}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	err := server.Serve(listener)
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("profiles: %w", err)
}
