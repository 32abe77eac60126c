package demo

import (
	"errors"
	"net/http"
	"sync/atomic"
)

// standIn answers what a counterpart lacks.
type standIn struct{ needed atomic.Bool }

// learn takes the answer to a question about what may be lacking: the counterpart knows
// no such page then.
func (s *standIn) learn(err error) error {
	var refused *statusError
	if errors.As(err, &refused) && refused.status == http.StatusNotFound {
		s.needed.Store(true)
		return nil
	}
	return err
}

// before answers by routes where the counterpart lacks them, else by the next one.
func (s *standIn) before(routes *http.ServeMux, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, route := routes.Handler(r); route != "" && s.needed.Load() {
			routes.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
