package git

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"promoter/internal/fault"
	"promoter/internal/outbound"
)

// maxWords is how much of a server's words is kept, in bytes.
const maxWords = 8 << 10

// words collects what a server says to a person, up to maxWords.
type words struct{ text []byte }

// Write keeps what there is room for.
func (w *words) Write(p []byte) (int, error) {
	w.text = append(w.text, p[:min(len(p), maxWords-len(w.text))]...)
	return len(p), nil
}

// String returns the words in one line, safe to show.
func (w *words) String() string {
	var lines []string
	for line := range strings.FieldsFuncSeq(string(w.text), func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "remote:"))
		if line != "" && strings.Trim(line, "=-* ") != "" {
			lines = append(lines, line)
		}
	}
	return outbound.Scrub(strings.Join(lines, "; "))
}

// demultiplexed takes an answer out of the sideband, if it is in one. What the
// server says beside it goes to progress.
func demultiplexed(answer io.Reader, agreed *capability.List, progress sideband.Progress) io.Reader {
	kind := sideband.Sideband64k
	switch {
	case agreed.Supports(capability.Sideband64k):
	case agreed.Supports(capability.Sideband):
		kind = sideband.Sideband
	default:
		return answer
	}
	demuxer := sideband.NewDemuxer(kind, answer)
	demuxer.Progress = progress
	return demuxer
}

// fatalMark is how the library begins an error that the server sent in the
// sideband.
const fatalMark = "unexpected error: "

// said gives an error of the protocol its kind. What the server said decides; an
// answer that just ends is Temporary.
func said(err error) error {
	var line *pktline.ErrorLine
	var odd *packp.ErrUnexpectedData
	switch {
	case err == nil || fault.KindOf(err) != fault.Internal:
		return err
	case errors.As(err, &line):
		return fromServer(line.Text)
	case errors.As(err, &odd):
		return fault.New(fault.Invalid, "the server does not speak Git: %s", outbound.Scrub(odd.Error()))
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return fault.New(fault.NotFound, "there is no such repository")
	case errors.Is(err, transport.ErrEmptyUploadPackRequest), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, packp.ErrEmptyInput):
		return fault.Wrap(fault.Temporary, errNoAnswer)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(fault.Temporary, err)
	}
	if _, text, found := strings.Cut(err.Error(), fatalMark); found {
		return fromServer(text)
	}
	return fault.Wrap(fault.Temporary, outbound.Redact(err))
}

// fromServer makes an error of a server's words.
func fromServer(text string) error {
	w := words{text: []byte(text)}
	said := strings.TrimPrefix(w.String(), "ERROR: ")
	return fault.New(kindOfWords(said), "the server says: %s", said)
}

// kindOfWords guesses the kind of an error from a server's words: Git's own, and
// those of the forges. What nobody knows may pass.
func kindOfWords(text string) fault.Kind {
	text = strings.ToLower(text)
	for _, known := range []struct {
		kind  fault.Kind
		words []string
	}{
		{fault.RateLimited, []string{"rate limit", "too many requests"}},
		{fault.NotFound, []string{"not found", "no such repository", "does not appear to be a git repository", "could not be found", "does not exist", "not exported"}},
		{fault.Unauthorized, []string{"denied", "not authorized", "unauthorized", "not allowed", "permission", "authentication", "read-only", "archived", "forbidden", "dubious ownership"}},
	} {
		for _, word := range known.words {
			if strings.Contains(text, word) {
				return known.kind
			}
		}
	}
	return fault.Temporary
}
