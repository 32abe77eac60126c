package rest

import (
	"errors"
	"net/url"
)

var errURL = errors.New("it must be https://HOST, or http:// where that is allowed, without user, query and fragment")

// WebURL parses the address of a forge or of its API.
func WebURL(raw string) (*url.URL, error) {
	parsed, err := url.Parse(raw)
	if err != nil {
		return nil, errURL // the error of net/url quotes the text, which may contain a password
	}
	web := parsed.Scheme == "https" || parsed.Scheme == "http"
	if !web || parsed.Host == "" || parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return nil, errURL
	}
	return parsed, nil
}
