package adminapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"promoter/internal/api"
	"promoter/internal/atomicfile"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
	"promoter/internal/schedule"
	"promoter/internal/server"
	"promoter/internal/serverfile"
	"promoter/internal/store"
	"promoter/internal/webhook"
)

// Replay implements api.Admin: a stored delivery is decoded again by this release,
// and accepted again.
func (a *API) Replay(ctx context.Context, request api.Replay) (api.Replayed, error) {
	stored, err := a.delivery(ctx, request)
	if err != nil {
		return api.Replayed{}, err
	}
	if !slices.ContainsFunc(a.Connections.Server.File.Receivers, func(r serverconfig.Receiver) bool {
		return r.Name == stored.Receiver && r.Kind == stored.Sender
	}) {
		return api.Replayed{}, fault.New(fault.Invalid,
			"the server file has no receiver %s of the kind %s any more: its deliveries do not count", stored.Receiver, stored.Sender)
	}
	delivery, err := webhook.Decode(stored.Sender, webhook.Request{Header: stored.Header, Body: stored.Body})
	if err != nil {
		return api.Replayed{}, err
	}
	delivery.ID = stored.ID
	for i := range delivery.Reports { // what was reported since then is newer
		if at := &delivery.Reports[i].Health.At; at.IsZero() {
			*at = stored.ReceivedAt
		}
	}
	replayed := replayedOf(stored.Receiver, delivery)
	if len(delivery.Events) == 0 {
		return replayed, nil
	}
	if request.DryRun {
		replayed.Repositories, err = a.Inbox.Preview(ctx, stored.Receiver, delivery.Events)
		return replayed, err
	}
	replayed.Repositories, err = a.Inbox.Store(ctx, server.Accepted{
		Delivery: delivery, Receiver: stored.Receiver, Sender: stored.Sender, At: a.Connections.Server.Now(),
		Header: stored.Header, Body: stored.Body,
	})
	return replayed, err
}

// delivery finds a stored delivery. Two senders may use the same ID.
func (a *API) delivery(ctx context.Context, request api.Replay) (store.Delivery, error) {
	if request.Receiver != "" {
		found, err := a.Store.Deliveries.Get(ctx, request.Receiver, request.ID)
		if fault.KindOf(err) == fault.NotFound {
			err = fault.New(fault.NotFound, "the receiver %s keeps no delivery %s: %s", request.Receiver, request.ID, a.keptFor())
		}
		return found, err
	}
	receivers, err := a.Store.Deliveries.Receivers(ctx, request.ID)
	switch {
	case err != nil:
		return store.Delivery{}, err
	case len(receivers) == 0:
		return store.Delivery{}, fault.New(fault.NotFound, "there is no delivery %s: %s", request.ID, a.keptFor())
	case len(receivers) > 1:
		return store.Delivery{}, fault.New(fault.Invalid, "%s is a delivery of %s: name one with --receiver", request.ID,
			fault.List(receivers))
	}
	return a.Store.Deliveries.Get(ctx, receivers[0], request.ID)
}

// keptFor explains that a delivery may be deleted already, with whole days as the server
// file is usually written.
func (a *API) keptFor() string {
	const day = 24 * time.Hour
	kept := a.Connections.Server.File.Retention.Deliveries
	if kept%day == 0 {
		return fmt.Sprintf("deliveries are kept for %dd", kept/day)
	}
	return "deliveries are kept for " + schedule.FormatDuration(kept)
}

func replayedOf(receiver string, delivery webhook.Delivery) api.Replayed {
	replayed := api.Replayed{
		Schema: api.Schema, Receiver: receiver, ID: delivery.ID, EventType: delivery.EventType,
		Events: []string{}, Ignored: delivery.Ignored, Repositories: []string{},
	}
	for _, one := range delivery.Events {
		replayed.Events = append(replayed.Events, one.String())
	}
	return replayed
}

// SavedDelivery is the payload of a webhook in a file.
type SavedDelivery struct {
	File     string
	Receiver string   // its name in the server file
	Headers  []string // NAME: VALUE; some senders identify the event in one
}

// maxPayload is the limit of the service for a body, in bytes.
const maxPayload = 2 << 20

// ReadSaved decodes a saved payload, without a service and without requests.
func ReadSaved(options serverfile.Options, saved SavedDelivery) (api.Replayed, error) {
	s, err := serverfile.OpenFile(options)
	if err != nil {
		return api.Replayed{}, err
	}
	at := slices.IndexFunc(s.File.Receivers, func(r serverconfig.Receiver) bool { return r.Name == saved.Receiver })
	if at < 0 {
		var names []string
		for _, r := range s.File.Receivers {
			names = append(names, r.Name)
		}
		return api.Replayed{}, fault.New(fault.Invalid, "--receiver %q: %s has the receivers %s", saved.Receiver, s.File.File,
			fault.List(names))
	}
	header, err := parseHeader(saved.Headers)
	if err != nil {
		return api.Replayed{}, err
	}
	body, err := atomicfile.Read(saved.File, maxPayload) // a larger one is refused as too large
	if err != nil {
		return api.Replayed{}, fmt.Errorf("read the payload: %w", err)
	}
	delivery, err := webhook.Decode(s.File.Receivers[at].Kind, webhook.Request{Header: header, Body: body})
	return replayedOf(saved.Receiver, delivery), err
}

func parseHeader(lines []string) (http.Header, error) {
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
