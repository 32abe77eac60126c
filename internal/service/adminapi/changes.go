package adminapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"promoter/internal/certificate"
	"promoter/internal/fault"
)

// maxStream is how long one stream of changes stays open before it is opened again.
const maxStream = time.Hour

// Changes calls changed when the service starts to report changes, and after each
// reconciliation of a repository that the token may read. It returns when the stream ends,
// which is no error if the service closed it. The service sends something every 15 seconds;
// a stream that is silent for longer ends with an error.
func (c *Client) Changes(ctx context.Context, changed func()) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/api/v1/changes", http.NoBody)
	if err != nil {
		return fault.Wrap(fault.Invalid, err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	response, err := c.stream.Do(request)
	if err != nil {
		return certificate.ExplainError(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
		return fault.New(fault.NotFound, "the service at %s reports no changes", c.base)
	}
	changed()
	return eachEvent(response.Body, changed)
}

// eachEvent calls a function for each server-sent event with data.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
func eachEvent(stream io.Reader, event func()) error {
	data := false
	lines := bufio.NewScanner(stream)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "data:"):
			data = true
		case line == "" && data:
			event()
			data = false
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.Wrap(fault.Temporary, err)
	}
	return nil
}
