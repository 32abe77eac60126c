// Package webhook verifies what senders post and decodes it into hints. Each
// sender has a file, named after it, with what it sends and how it proves itself.
//
// A payload is a hint and never data: nothing that it says is believed but where
// to look. Receivers know nothing of HTTP's routes: the server reads the body once,
// bounded, and hands it over.
package webhook
