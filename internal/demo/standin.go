package demo

import (
	"errors"
	"net/http"
	"sync/atomic"
)

// standIn handles requests that a server does not support.
type standIn struct{ needed atomic.Bool }

// learn takes the response to a probe. A server without the feature responds
// with not found.
func (s *standIn) learn(err error) error {
	var refused *statusError
	if errors.As(err, &refused) && refused.status == http.StatusNotFound {
		s.needed.Store(true)
		return nil
	}
	return err
}

// before uses routes if the server lacks them, and next otherwise.
func (s *standIn) before(routes *http.ServeMux, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, route := routes.Handler(r); route != "" && s.needed.Load() {
			routes.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
