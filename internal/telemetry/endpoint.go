package telemetry

import (
	"net/http"
	"net/http/pprof"
	"net/netip"
)

// Profiles is who may read the profiles of the process. They contain its memory, with
// the secrets in it.
type Profiles int

// Who may read profiles.
const (
	NoProfiles    Profiles = iota // they are not served
	LocalProfiles                 // clients on this machine, such as kubectl port-forward
	OpenProfiles                  // every client
)

// Endpoint answers /metrics, and /debug/pprof/ to clients who may read profiles.
func Endpoint(metrics http.Handler, profiles Profiles) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	if profiles == NoProfiles {
		return mux
	}
	for path, handle := range map[string]http.HandlerFunc{
		"":        pprof.Index,
		"cmdline": pprof.Cmdline,
		"profile": pprof.Profile,
		"symbol":  pprof.Symbol,
		"trace":   pprof.Trace,
	} {
		if profiles == LocalProfiles {
			handle = localOnly(handle)
		}
		mux.HandleFunc("GET /debug/pprof/"+path, handle)
	}
	return mux
}

// localOnly refuses clients on other machines. Behind a proxy on this machine, each client
// is one of this machine.
func localOnly(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		client, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !client.Addr().Unmap().IsLoopback() {
			http.Error(w, "profiles contain secrets, and are served to this machine only: use kubectl port-forward or SSH, or --pprof-open",
				http.StatusForbidden)
			return
		}
		handle(w, r)
	}
}
