package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// api is the emulator's API as one user sees it.
type api struct {
	client        *http.Client
	url           string // without a trailing slash
	authorization string // header
}

// object is a JSON object.
type object map[string]any

// maxBody limits a request or response, in bytes.
const maxBody = 16 << 20

// call sends a request and decodes the response into the value, if it is not nil.
func (a api) call(ctx context.Context, method, path string, body, into any) error {
	var text bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&text).Encode(body); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, a.url+path, &text)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Authorization", a.authorization)
	request.Header.Set("Content-Type", "application/json")
	response, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	data, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("the emulator answers %s %s with %d: %.200q", method, path, response.StatusCode, data)
	}
	if into == nil || len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("the answer to %s %s is not one of GitHub's API: %w", method, path, err)
	}
	return nil
}

// reply sends a response.
func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have disconnected
}
