package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"promoter/internal/engine"
	"promoter/internal/outbound"
	"promoter/internal/queue"
	"promoter/internal/scm"
	"promoter/internal/store"
	"promoter/internal/workspace"
)

// histories is what of the past this process has written already, by repository: what
// stands there in every look needs writing once.
type histories struct {
	mutex sync.Mutex
	known map[string][sha256.Size]byte
}

// fresh says whether events differ from those that were written last.
func (h *histories) fresh(key string, events []store.Event) (sum [sha256.Size]byte, fresh bool) {
	text, err := json.Marshal(events)
	if err != nil {
		return sum, true
	}
	sum = sha256.Sum256(text)
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return sum, h.known[key] != sum
}

func (h *histories) written(key string, sum [sha256.Size]byte) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.known == nil {
		h.known = map[string][sha256.Size]byte{}
	}
	h.known[key] = sum
}

// lookedBack is what a look learnt for the history besides its report.
type lookedBack struct {
	cause  store.DeliveryRef
	landed []engine.Landed
	heads  map[string]string // up to which branches were read, where that is new
}

// landedIn reads what came to the branches since the last look. What cannot be read
// is a trouble of the look, which is tried again.
func (s *service) landedIn(ctx context.Context, w *workspace.Workspace, report *engine.Report, into *lookedBack) {
	if report.Heads == nil || report.Config == nil {
		return
	}
	known, err := s.store.Heads(ctx, string(report.Repository))
	if err == nil {
		into.landed, err = w.Reconciler.Landed(ctx, *report, known, s.rememberedSince())
	}
	if err != nil {
		report.Errors = append(report.Errors, engine.PartialError{What: "history", Err: err})
		return
	}
	into.heads = map[string]string{}
	for _, environment := range report.Config.Environments {
		branch := cmp.Or(environment.Branch, report.Default)
		if head := report.Heads[branch]; head != "" && head != known[branch] {
			into.heads[branch] = head
		}
	}
}

// rememberedSince is how far the history goes back; the zero time: for ever.
func (s *service) rememberedSince() time.Time {
	if s.file.Retention.History == 0 {
		return time.Time{}
	}
	return s.now().Add(-s.file.Retention.History)
}

// past is what the history gets of a look: what promoter did, and what stands there by
// itself, where this process has not written that yet. The function is called when it
// is written.
func (s *service) past(lane store.Repository, report engine.Report, back lookedBack) (store.HistoryUpdate, func()) {
	book := book{key: lane.Key, name: strings.TrimPrefix(lane.Host+"/"+lane.Name, "/"), now: s.now()}
	standing, since := book.standing(report, back.landed), s.rememberedSince()
	standing = slices.DeleteFunc(standing, func(one store.Event) bool { return one.At.Before(since) })
	past := store.HistoryUpdate{Events: book.done(report, back.cause), Heads: back.heads}
	sum, fresh := s.histories.fresh(lane.Key, standing)
	if fresh {
		past.Events = append(past.Events, standing...)
	}
	return past, func() { s.histories.written(lane.Key, sum) }
}

// causeOf finds the webhook that brought a look about, if one did.
func (s *service) causeOf(ctx context.Context, item queue.Item) (store.DeliveryRef, error) {
	if item.TriggeredAt.IsZero() {
		return store.DeliveryRef{}, nil
	}
	return s.store.TriggerSince(ctx, item.Key, item.TriggeredAt)
}

// hostOfRepository is that of its pages.
func hostOfRepository(info scm.Info) string {
	return cmp.Or(outbound.Host(info.URL), outbound.Host(info.CloneURL))
}

// withHost is HOST/NAME.
func withHost(info scm.Info) string {
	return strings.TrimPrefix(hostOfRepository(info)+"/"+info.Name, "/")
}
