package wire

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	gittransport "github.com/go-git/go-git/v5/plumbing/transport"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// maxServerText is how much of a server's messages is kept, in bytes.
const maxServerText = 8 << 10

// serverText collects the messages of a server to its users.
type serverText struct{ text []byte }

// Write keeps what fits and never fails.
func (t *serverText) Write(p []byte) (int, error) {
	t.text = append(t.text, p[:min(len(p), maxServerText-len(t.text))]...)
	return len(p), nil
}

// String returns the messages in one line that is safe to display.
func (t *serverText) String() string {
	var lines []string
	for line := range strings.FieldsFuncSeq(string(t.text), func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "remote:"))
		if line != "" && strings.Trim(line, "=-* ") != "" {
			lines = append(lines, line)
		}
	}
	return outbound.Scrub(strings.Join(lines, "; "))
}

// classify gives an error of the protocol its kind. A message of the server decides;
// a response that ends early is Temporary.
func classify(err error) error {
	var line *pktline.ErrorLine
	var unexpected *packp.ErrUnexpectedData
	switch {
	case err == nil || fault.KindOf(err) != fault.Internal:
		return err
	case errors.As(err, &line):
		return serverError(line.Text)
	case errors.As(err, &unexpected):
		return fault.New(fault.Invalid, "the server does not speak the Git protocol: %s", outbound.Scrub(unexpected.Error()))
	case errors.Is(err, gittransport.ErrRepositoryNotFound):
		return fault.New(fault.NotFound, "the repository does not exist")
	case errors.Is(err, ErrNoResponse):
		return fault.Wrap(fault.Temporary, err)
	case errors.Is(err, gittransport.ErrEmptyUploadPackRequest), errors.Is(err, packp.ErrEmptyInput),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fault.Wrap(fault.Temporary, ErrNoResponse)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(fault.Temporary, err)
	}
	// go-git has no type for an error that the server sends in the sideband.
	if _, text, found := strings.Cut(err.Error(), "unexpected error: "); found {
		return serverError(text)
	}
	return fault.Wrap(fault.Temporary, outbound.Redact(err))
}

// serverError returns an error with the message of a server. Its kind is derived
// from the messages of Git and of the forges; an unknown message is Temporary.
func serverError(message string) error {
	collected := serverText{text: []byte(message)}
	text := strings.TrimPrefix(collected.String(), "ERROR: ")
	if strings.Contains(text, "no commits selected for shallow requests") {
		// All wanted commits are older than the requested time. Over HTTP the same
		// server closes the connection.
		return fault.Wrap(fault.Temporary, ErrNoResponse)
	}
	return fault.New(messageKind(strings.ToLower(text)), "the server reported: %s", text)
}

func messageKind(text string) fault.Kind {
	for _, known := range []struct {
		kind    fault.Kind
		phrases []string
	}{
		{fault.RateLimited, []string{"rate limit", "too many requests"}},
		{fault.NotFound, []string{
			"not found", "no such repository", "does not appear to be a git repository", "could not be found", "does not exist",
			"not exported",
		}},
		{fault.Unauthorized, []string{
			"denied", "not authorized", "unauthorized", "not allowed", "permission", "authentication", "read-only", "archived",
			"forbidden", "dubious ownership",
		}},
	} {
		for _, phrase := range known.phrases {
			if strings.Contains(text, phrase) {
				return known.kind
			}
		}
	}
	return fault.Temporary
}
