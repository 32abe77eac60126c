package forgetest

import "net/http"

// WithValues returns a request with its path values, which a multiplexer otherwise
// sets only for handlers that it calls itself.
func WithValues(pattern string, r *http.Request) *http.Request {
	found := r
	mux := http.NewServeMux()
	mux.HandleFunc(pattern, func(_ http.ResponseWriter, r *http.Request) { found = r })
	mux.ServeHTTP(nil, r)
	return found
}
