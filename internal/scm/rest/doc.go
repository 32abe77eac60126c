// Package rest holds what the adapters of REST forges share: an HTTP client that
// respects the forge's rate limits, error messages, pagination, and text truncation.
//
// The credential is sent only to the API's host and never appears in an error.
// Responses are bounded and cached with their ETags, per credential. After the forge
// requests a pause, no request is sent until it is over.
//
// The package is independent of any forge: differences are parameters.
package rest
