package connect

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/serverfile"
)

// refuses requests an address and checks whether the client refuses it, within a minute. No
// server needs to respond to a request that is not refused.
func refuses(t *testing.T, way *outbound.Client, address string, want bool) bool {
	t.Helper()
	limit := 100 * time.Millisecond
	if want {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := way.RoundTrip(req)
	if err == nil {
		_ = resp.Body.Close()
		return false
	}
	return fault.KindOf(err) == fault.Invalid && (strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "not dialed"))
}

func TestHTTPClients_metadataServicesOnlyForLogins(t *testing.T) {
	t.Parallel()
	s := &serverfile.Server{File: &serverconfig.Config{}, Now: time.Now, Env: func(name string) (string, bool) {
		return "http://127.0.0.1:1/msi/token", name == "IDENTITY_ENDPOINT"
	}}
	made, err := New(s, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	for address, machine := range map[string]bool{
		"http://169.254.169.254/latest/api/token": true,
		"http://169.254.170.2/v2/credentials":     true,
		"http://169.254.170.23/v1/credentials":    true,
		"http://127.0.0.1:1/msi/token":            true,
		"http://127.0.0.1:2/":                     false,
		"http://169.254.169.253/":                 false,
		"http://168.63.129.16/machine":            false,
		"http://10.0.0.1/":                        false,
		"http://192.0.2.1/":                       false,
		"https://10.0.0.1/":                       false,
	} {
		if got := refuses(t, made.HTTP.machine, address, !machine); got == machine {
			t.Errorf("the way of the machine refuses %s: %v", address, got)
		}
		for name, other := range map[string]*outbound.Client{"registries": made.HTTP.Registries, "forges": made.HTTP.Forges, "git": made.HTTP.Git} {
			if !refuses(t, other, address, true) {
				t.Errorf("the way of %s asks %s", name, address)
			}
		}
	}
}
