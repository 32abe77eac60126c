package app

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/server"
	"promoter/internal/webhook"
)

// SavedDelivery is the payload of a webhook in a file.
type SavedDelivery struct {
	File     string
	Receiver string   // of the server's file
	Headers  []string // NAME: VALUE, by which some senders say what it is
}

// maxPayload is what the service takes too, in bytes.
const maxPayload = 2 << 20

// ReadSaved says what the payload of a file hints at. It asks nobody.
func ReadSaved(options connect.Options, saved SavedDelivery) (server.Replayed, error) {
	s, err := connect.OpenFile(options)
	if err != nil {
		return server.Replayed{}, err
	}
	at := slices.IndexFunc(s.File.Receivers, func(r serverconfig.Receiver) bool { return r.Name == saved.Receiver })
	if at < 0 {
		var names []string
		for _, r := range s.File.Receivers {
			names = append(names, r.Name)
		}
		return server.Replayed{}, fault.New(fault.Invalid, "--receiver %q: %s has the receivers %s", saved.Receiver, s.File.File, fault.List(names))
	}
	header, err := headerOf(saved.Headers)
	if err != nil {
		return server.Replayed{}, err
	}
	body, err := readFile(saved.File, maxPayload)
	if err != nil {
		return server.Replayed{}, fmt.Errorf("read the payload: %w", err)
	}
	read, err := webhook.Decode(s.File.Receivers[at].Kind, webhook.Request{Header: header, Body: body})
	return replayedOf(saved.Receiver, read), err
}

func headerOf(lines []string) (http.Header, error) {
	header := http.Header{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fault.New(fault.Invalid, "--header %q: write NAME: VALUE", line)
		}
		header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return header, nil
}

// readFile reads at most limit bytes of a file and one more, so that the caller can
// detect that it is too large.
func readFile(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	return content, errors.Join(err, file.Close())
}
