package server

import (
	"context"
	"net/http"
)

// traceHeader is how a sender says which trace its request is of.
// https://www.w3.org/TR/trace-context/#traceparent-header
const traceHeader = "Traceparent"

// keep hands a delivery that means work to the inbox, and tells who follows it.
func (s *Server) keep(r *http.Request, taken Accepted) (err error) {
	ctx, end := s.follow(r, taken)
	defer func() {
		if err != nil {
			end(statusOf(err), err)
			return
		}
		end(http.StatusAccepted, nil)
	}()
	if len(taken.Events) == 0 {
		s.ignored(r.WithContext(ctx), taken)
		return nil
	}
	return s.Inbox.Accept(ctx, taken)
}

func (s *Server) follow(r *http.Request, taken Accepted) (context.Context, func(int, error)) {
	if s.Trace == nil {
		return r.Context(), func(int, error) {}
	}
	return s.Trace(r.Context(), taken, r.Header.Get(traceHeader))
}
