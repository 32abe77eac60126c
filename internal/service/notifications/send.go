package notifications

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"promoter/internal/fault"
	"promoter/internal/notify"
	"promoter/internal/queue"
	"promoter/internal/store"
)

// maxAttempts is how often a message is sent at most. With the delays of the queue, the last
// attempt is about an hour after the first.
const maxAttempts = 12

// maxRefusals is how often a message is tried that may not be sent, within some minutes. While
// replicas are replaced, one with the earlier server file may get what only the new one permits.
const maxRefusals = 5

// Worker sends messages of the outbox.
type Worker struct {
	Store  *store.Store
	Sender func(destination string) (notify.Sender, error)
	// Refuse returns why a destination gets no messages about a repository, by its key, now; empty:
	// it does. An error means that this is not known yet.
	Refuse func(ctx context.Context, repository, destination string) (string, error)
	Log    *slog.Logger
}

// Handle sends one message. It does the work of the queue.
func (w Worker) Handle(ctx context.Context, item queue.Item) (queue.Result, error) {
	row, err := w.Store.Notifications.One(ctx, item.Key)
	if fault.KindOf(err) == fault.NotFound {
		return queue.Result{Forget: true}, nil
	}
	if err != nil {
		return queue.Result{}, err
	}
	var message notify.Message
	if err := json.Unmarshal([]byte(row.Message), &message); err != nil {
		return queue.Result{}, fmt.Errorf("read notification %s: %w", row.ID, err)
	}
	attempts, err := w.trySend(ctx, row, message)
	if err == nil {
		return queue.Result{Forget: true}, nil
	}
	if ctx.Err() != nil {
		return queue.Result{}, err
	}
	err = fmt.Errorf("notify %s about %s in %s of %s: %w", row.Destination,
		message.Application, message.Environment, message.Repository, err)
	if item.Attempt < attempts {
		return queue.Result{}, joined(err, w.Store.Notifications.RecordFailure(ctx, row.ID, err.Error()))
	}
	w.Log.ErrorContext(ctx, "notification not sent", slog.Int("attempts", item.Attempt), slog.Any("error", err))
	return queue.Result{Forget: true}, w.Store.Notifications.Omit(ctx, row.ID, len(message.Events), err.Error())
}

// trySend sends what was not sent yet of a message, if the server file permits it now. With an error, it
// returns how often to try.
func (w Worker) trySend(ctx context.Context, row store.Notification, message notify.Message) (attempts int, err error) {
	if row.Sent >= len(message.Events) {
		return maxAttempts, nil
	}
	refused, err := w.Refuse(ctx, row.Repository, row.Destination)
	switch {
	case err != nil:
		return maxAttempts, fmt.Errorf("find out whether it may be sent: %w", err)
	case refused != "":
		return maxRefusals, fault.New(fault.Unauthorized, "not sent: %s", refused)
	}
	return maxAttempts, w.send(ctx, row, message)
}

// joined returns an error, with that of recording it.
func joined(err, recording error) error {
	if recording != nil {
		return fmt.Errorf("%w (and recording it: %w)", err, recording)
	}
	return err
}

// send sends what was not sent yet of a message. What was sent is recorded even if the process is
// about to end. If it dies in between, the message is sent again.
func (w Worker) send(ctx context.Context, row store.Notification, message notify.Message) error {
	sender, err := w.Sender(row.Destination)
	if err != nil {
		return err
	}
	var receipt notify.Receipt
	if row.Receipt != "" {
		if err := json.Unmarshal([]byte(row.Receipt), &receipt); err != nil {
			return fmt.Errorf("read the receipt of %s: %w", row.ID, err)
		}
	}
	return deliver(ctx, sender, message, row.Sent, receipt, func(sent int, receipt notify.Receipt) error {
		text, err := json.Marshal(receipt)
		if err != nil {
			return fmt.Errorf("write the receipt of %s: %w", row.ID, err)
		}
		return w.Store.Notifications.RecordSent(context.WithoutCancel(ctx), row.ID, sent, string(text))
	})
}

// deliver sends the events of a message from the given one on, in the mode of its destination.
// It calls recorded after each request with the number of events that are done.
func deliver(
	ctx context.Context, sender notify.Sender, message notify.Message, sent int, receipt notify.Receipt,
	recorded func(sent int, receipt notify.Receipt) error,
) error {
	if sent >= len(message.Events) {
		return nil
	}
	switch sender.Mode() {
	case notify.Streamed:
		for i, event := range message.Events[sent:] {
			if _, err := sender.Send(ctx, message.Only(event), receipt); err != nil {
				return err
			}
			if err := recorded(sent+i+1, receipt); err != nil {
				return err
			}
		}
		return nil
	case notify.Announced:
		final := func(event notify.Event) bool { return event.State.IsFinal() }
		if sent > 0 && !slices.ContainsFunc(message.Events[sent:], final) {
			return recorded(len(message.Events), receipt)
		}
	}
	receipt, err := sender.Send(ctx, message, receipt)
	if err != nil {
		return err
	}
	return recorded(len(message.Events), receipt)
}

// Direct sends messages about what a run did, without a database: there are no retries and no
// updates. It returns the errors.
func Direct(
	ctx context.Context, source Source, events []store.Event, sender func(destination string) (notify.Sender, error),
) (failed []error) {
	if err := source.Unusable(); err != nil {
		failed = append(failed, err)
	}
	for _, d := range source.drafts(sorted(fromHistory(events, time.Time{}))) {
		if err := d.send(ctx, sender); err != nil {
			failed = append(failed, fmt.Errorf("notify %s about %s in %s of %s: %w", d.destination,
				d.message.Application, d.message.Environment, d.message.Repository, err))
		}
	}
	return failed
}

// send sends a message that nothing records.
func (d draft) send(ctx context.Context, sender func(destination string) (notify.Sender, error)) error {
	to, err := sender(d.destination)
	if err != nil {
		return err
	}
	return deliver(ctx, to, d.message, 0, notify.Receipt{}, func(int, notify.Receipt) error { return nil })
}
