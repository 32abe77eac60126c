package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"promoter/internal/outbound"
	"promoter/internal/secret"
)

// account is a user of a forge's API.
type account struct {
	client *http.Client
	api    string // URL without a trailing slash
	token  secret.String
	login  string
}

// maxAnswer limits a response of the API, in bytes.
const maxAnswer = 16 << 20

// statusError is a response with an error status.
type statusError struct {
	method, path string
	status       int
	said         string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the forge answers %s %s with %d: %s", e.method, e.path, e.status, e.said)
}

// ask sends a request to the API and decodes the response into the value, if it
// is not nil.
func (a account) ask(ctx context.Context, method, path string, body, into any) error {
	var text bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&text).Encode(body); err != nil {
			return fmt.Errorf("write %s %s: %w", method, path, err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, a.api+path, &text)
	if err != nil {
		return fmt.Errorf("write %s %s: %w", method, path, err)
	}
	request.Header.Set("Authorization", "Bearer "+a.token.Reveal())
	request.Header.Set("Content-Type", "application/json")
	response, err := a.client.Do(request)
	if err != nil {
		return fmt.Errorf("ask the forge: %w", outbound.Redact(err))
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	data, err := outbound.ReadAll(response.Body, maxAnswer)
	if err != nil {
		return fmt.Errorf("read the answer to %s %s: %w", method, path, err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return &statusError{method, path, response.StatusCode, wordsOf(data)}
	}
	if into == nil || len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("the answer to %s %s is none of GitHub's API: %w", method, path, err)
	}
	return nil
}

// wordsOf returns the message of an API error.
func wordsOf(data []byte) string {
	var said struct{ Message string }
	if err := json.Unmarshal(data, &said); err != nil || said.Message == "" {
		return "without a word"
	}
	return fmt.Sprintf("%.200q", said.Message)
}
