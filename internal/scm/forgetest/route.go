package forgetest

import "net/http"

// WithValues is a request with the values of its path, which a multiplexer gives
// only to what it calls itself.
func WithValues(pattern string, r *http.Request) *http.Request {
	found := r
	mux := http.NewServeMux()
	mux.HandleFunc(pattern, func(_ http.ResponseWriter, r *http.Request) { found = r })
	mux.ServeHTTP(nil, r)
	return found
}
