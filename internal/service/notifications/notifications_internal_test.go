package notifications

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/notify"
	"promoter/internal/promotion"
	"promoter/internal/queue"
	"promoter/internal/store"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const rules = `version: 1
notify: [{on: [version, waiting, proposed, landed, failed], to: chat}, {on: [failed], to: theirs}]
components:
  web: {image: quay.io/acme/web, select: {semver: "1"}}
environments:
  dev: {paths: ["dev/{application}"], notify: []}
  prod: {paths: ["prod/{application}"], after: [dev]}
`

// world is an outbox with a sender that records messages.
type world struct {
	*testing.T
	db     *database.DB
	store  *store.Store
	source Source
	mode   notify.Mode
	fails  error
	// refused are the reasons why a destination gets no messages about a repository, and unknown why
	// these are not known.
	refused map[string]string
	unknown error
	sent    []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	loaded, problems := config.Load(".promoter.yaml", []byte(rules))
	if loaded == nil {
		t.Fatal(problems.Err())
	}
	db := databasetest.Open(t, databasetest.Kinds()[0].New(t))
	return &world{T: t, db: db, store: store.New(db), source: Source{
		Repository: store.Repository{Key: "github:7", Host: "github.com", Name: "acme/gitops"}, Config: loaded,
		MayUse: func(name string) bool { return name == "chat" }, URL: "https://promoter.example.com",
	}}
}

// Mode implements notify.Sender.
func (w *world) Mode() notify.Mode { return w.mode }

// Check implements notify.Sender.
func (*world) Check(context.Context) (string, error) { return "", nil }

// Send implements notify.Sender.
func (w *world) Send(_ context.Context, m notify.Message, sent notify.Receipt) (notify.Receipt, error) {
	if w.fails != nil {
		return sent, w.fails
	}
	var states []string
	for _, event := range m.Events {
		states = append(states, string(event.State))
	}
	w.sent = append(w.sent, fmt.Sprintf("%s%s %s %s", sent.ID, m.Application, m.Snapshot[:2], strings.Join(states, "+")))
	if w.mode != notify.Updated {
		return notify.Receipt{}, nil
	}
	return notify.Receipt{ID: fmt.Sprintf("[%d] ", len(w.sent))}, nil
}

// event is an event of the history about a snapshot of the application shop in prod.
func event(action, snapshot string, at time.Time) store.Event {
	return store.Event{
		At: at, Repository: "github:7", Name: "github.com/acme/gitops", Environment: "prod", Application: "shop", Action: action, Snapshot: snapshot,
		Versions: []store.EventVersion{{Component: "web", Tag: "1.1", FromTag: "1.0"}}, Commit: "commit-" + snapshot, Number: 1, URL: "https://github.com/acme/gitops/pull/1",
	}
}

// waiting is a decision that waits by a rule, in prod or dev.
func waiting(environment string, rule promotion.Rule) promotion.Decision {
	repository, err := image.ParseRepository("quay.io/acme/web")
	if err != nil {
		panic(err)
	}
	return promotion.Decision{
		Target: promotion.Target{Environment: environment, Application: "shop"}, State: promotion.Waiting, Reason: promotion.Reason{Rule: rule, Message: "until noon"},
		Snapshot: promotion.Snapshot{"web": {Repository: repository, Version: image.Version{Tag: "1.1", Digest: "sha256:1"}}},
		Moves:    []promotion.Move{{Component: "web", From: image.Version{Tag: "1.0"}, To: image.Version{Tag: "1.1", Digest: "sha256:1"}}},
	}
}

// records stores events as a reconciliation does, and returns the messages to send.
func (w *world) records(first bool, decisions []promotion.Decision, events ...store.Event) (ids []string) {
	w.Helper()
	err := w.db.Update(w.Context(), func(ctx context.Context, tx *database.Tx) (err error) {
		if _, err := w.store.AddEvents(ctx, tx, events); err != nil {
			return err
		}
		ids, err = Add(ctx, tx, w.store, w.source, decisions, first, noon, noon.Add(time.Minute))
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return ids
}

// handles sends messages as the queue does.
func (w *world) handles(attempt int, ids ...string) (failed error) {
	w.Helper()
	worker := Worker{
		Store: w.store, Sender: func(string) (notify.Sender, error) { return w, nil }, Log: slog.New(slog.DiscardHandler),
		Refuse: func(_ context.Context, repository, destination string) (string, error) {
			return w.refused[repository+" "+destination], w.unknown
		},
	}
	for _, id := range ids {
		result, err := worker.Handle(w.Context(), queue.Item{Key: id, Attempt: attempt})
		if err == nil && !result.Forget {
			w.Errorf("the work is kept: %+v", result)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

func (w *world) hasSent(want ...string) {
	w.Helper()
	if diff := cmp.Diff(want, w.sent); diff != "" {
		w.Errorf("sent (-want +got):\n%s", diff)
	}
}

// A config file can name every state, and each counts for the messages.
func TestSource_knowsTheStatesOfTheConfigFile(t *testing.T) {
	t.Parallel()
	var names []string
	for _, state := range notify.States() {
		names = append(names, string(state))
	}
	loaded, problems := config.Load(".promoter.yaml", []byte(strings.Replace(rules, "version, waiting, proposed, landed, failed", strings.Join(names, ", "), 1)))
	if loaded == nil {
		t.Fatal(problems.Err())
	}
	source := newWorld(t).source
	source.Config = loaded
	for _, state := range notify.States() {
		one := entry{Target: promotion.Target{Environment: "prod", Application: "shop"}, snapshot: "1", event: notify.Event{State: state}}
		if drafts := source.drafts([]entry{one}); len(drafts) != 1 {
			t.Errorf("%s: %d messages, want 1", state, len(drafts))
		}
	}
}

// What is sent of a promotion, in each mode, when the same is observed again and again.
func TestAdd_sendsEachEventOnce(t *testing.T) {
	t.Parallel()
	for mode, want := range map[notify.Mode][]string{
		notify.Updated:   {"shop aa proposed", "[1] shop aa proposed+landed", "[2] shop aa proposed+landed+failed", "shop bb proposed"},
		notify.Announced: {"shop aa proposed", "shop aa proposed+landed", "shop aa proposed+landed+failed", "shop bb proposed"},
		notify.Streamed:  {"shop aa proposed", "shop aa landed", "shop aa failed", "shop bb proposed"},
	} {
		w := newWorld(t)
		w.mode = mode
		steps := []store.Event{
			event(store.EventOpened, "aa", noon), event(store.EventLanded, "aa", noon.Add(time.Second)),
			event(store.EventFailed, "aa", noon.Add(2*time.Second)), event(store.EventRefreshed, "bb", noon.Add(3*time.Second)),
		}
		for i := range steps {
			for range 2 {
				ids := w.records(false, nil, steps[:i+1]...)
				if err := w.handles(1, ids...); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.hasSent(want...)
	}
}

// What is stuck is announced once for each cause and head, however often it is observed, and where messages are not updated too.
func TestAdd_sendsOnceWhatIsStuck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mode = notify.Announced
	loaded, problems := config.Load(".promoter.yaml", []byte(strings.Replace(rules, "version, waiting", "stuck", 1)))
	if loaded == nil {
		t.Fatal(problems.Err())
	}
	w.source.Config = loaded
	obstacles := []promotion.Obstacle{
		{Cause: promotion.CauseCheck, About: "ci/1"}, {Cause: promotion.CauseCheck, About: "ci/2"}, {Cause: promotion.CausePush, About: "2"},
	}
	for _, obstacle := range obstacles {
		d := waiting("prod", promotion.RuleStuck)
		d.State, d.Obstacle = promotion.Stuck, &obstacle
		for range 3 {
			if err := w.handles(1, w.records(false, []promotion.Decision{d})...); err != nil {
				t.Fatal(err)
			}
		}
	}
	id := waiting("prod", "").Snapshot.ID()[:2]
	w.hasSent("shop "+id+" stuck", "shop "+id+" stuck+stuck", "shop "+id+" stuck+stuck+stuck")
}

// A wait is announced once for each rule, and not where notify is empty.
func TestAdd_sendsOfDecisionsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, rule := range []promotion.Rule{promotion.RuleCondition, promotion.RuleCondition, promotion.RuleHeld} {
		ids := w.records(false, []promotion.Decision{waiting("prod", rule), waiting("dev", rule)})
		if err := w.handles(1, ids...); err != nil {
			t.Fatal(err)
		}
	}
	snapshot := waiting("prod", "").Snapshot.ID()[:2]
	w.hasSent("shop "+snapshot+" version+waiting", "[1] shop "+snapshot+" version+waiting+waiting")
}

// A new repository, or a lost database, causes no flood: only what happens from then on is sent.
func TestAdd_takesTheFirstReconciliationAsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.records(true, []promotion.Decision{waiting("prod", promotion.RuleCondition)}, event(store.EventLanded, "aa", noon.Add(-time.Hour)), event(store.EventOpened, "bb", noon))
	if err := w.handles(1, ids...); err != nil {
		t.Fatal(err)
	}
	w.hasSent("shop bb proposed")
	ids = w.records(false, []promotion.Decision{waiting("prod", promotion.RuleCondition)},
		event(store.EventLanded, "cc", noon.Add(-maxAge)), event(store.EventLanded, "dd", noon))
	if err := w.handles(1, ids...); err != nil {
		t.Fatal(err)
	}
	w.hasSent("shop bb proposed", "shop dd landed")
}

// A message is tried again, and given up in the end with its error. A later event is a new try.
func TestWorker_givesUpInTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fails = fault.New(fault.Temporary, "down")
	ids := w.records(false, nil, event(store.EventOpened, "aa", noon))
	for attempt := 1; attempt < maxAttempts; attempt++ {
		if err := w.handles(attempt, ids...); err == nil || fault.KindOf(err) != fault.Temporary || !strings.Contains(err.Error(), "notify chat about shop in prod of github.com/acme/gitops: down") {
			t.Fatalf("attempt %d: %v", attempt, err)
		}
	}
	counts := func(want store.NotificationCounts) {
		t.Helper()
		got, err := w.store.Notifications.Counts(t.Context())
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		want.Destination, want.SentAt, want.FailedAt = "chat", got[0].SentAt, got[0].FailedAt
		if diff := cmp.Diff(want, got[0]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	counts(store.NotificationCounts{Waiting: 1, Failed: 1, Error: "notify chat about shop in prod of github.com/acme/gitops: down"})
	if err := w.handles(maxAttempts, ids...); err != nil {
		t.Fatal(err)
	}
	counts(store.NotificationCounts{Failed: 1, Error: "notify chat about shop in prod of github.com/acme/gitops: down"})
	w.fails = nil
	if err := w.handles(1, ids...); err != nil {
		t.Fatal(err)
	}
	w.hasSent()
	ids = w.records(false, nil, event(store.EventLanded, "aa", noon))
	if err := w.handles(1, ids...); err != nil {
		t.Fatal(err)
	}
	w.hasSent("shop aa proposed+landed")
	counts(store.NotificationCounts{})
}

// What may not be sent when it is sent is tried some times, because another replica may have another server
// file, and then given up with its reason. Nothing of it is sent later.
func TestWorker_sendsNothingThatMayNotBeSentNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const about = "notify chat about shop in prod of github.com/acme/gitops: "
	ids := w.records(false, nil, event(store.EventOpened, "aa", noon))
	attempts := func(from, to int, want string) {
		t.Helper()
		for attempt := from; attempt < to; attempt++ {
			if err := w.handles(attempt, ids...); err == nil || err.Error() != about+want {
				t.Fatalf("attempt %d: %v", attempt, err)
			}
		}
		if err := w.handles(to, ids...); err != nil {
			t.Fatal(err)
		}
		row, err := w.store.Notifications.One(t.Context(), ids[0])
		if err != nil || row.Error != about+want || row.Sent != row.Events {
			t.Errorf("%+v, %v", row, err)
		}
	}
	w.refused = map[string]string{"github:7 chat": "the repository is not followed any more"}
	attempts(1, maxRefusals, "not sent: the repository is not followed any more")
	w.refused = nil
	if err := w.handles(1, ids...); err != nil {
		t.Fatal(err)
	}
	w.hasSent()
	w.records(false, nil, event(store.EventLanded, "aa", noon))
	w.unknown = fault.New(fault.Temporary, "the forge is down")
	attempts(1, maxAttempts, "find out whether it may be sent: the forge is down")
	w.hasSent()
}

// If promoter dies between sending and recording, the message is sent again with the same IDs.
func TestWorker_sendsAgainAfterACrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mode = notify.Streamed
	ids := w.records(false, nil, event(store.EventOpened, "aa", noon))
	row, err := w.store.Notifications.One(t.Context(), ids[0])
	if err != nil {
		t.Fatal(err)
	}
	var message notify.Message
	if err := json.Unmarshal([]byte(row.Message), &message); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Send(t.Context(), message, notify.Receipt{}); err != nil { // and it dies
		t.Fatal(err)
	}
	if err := w.handles(1, ids...); err != nil {
		t.Fatal(err)
	}
	w.hasSent("shop aa proposed", "shop aa proposed")
	if message.Page != "https://promoter.example.com/applications/shop?repository=github.com%2Facme%2Fgitops" {
		t.Errorf("page %s", message.Page)
	}
}

// Without a database, what was done is sent at once, and errors are only returned.
func TestDirect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sender := func(string) (notify.Sender, error) { return w, nil }
	errs := Direct(t.Context(), w.source, []store.Event{event(store.EventOpened, "aa", noon), event(store.EventLanded, "aa", noon), event(store.EventClosed, "bb", noon)}, sender)
	if len(errs) != 1 || errs[0].Error() != `notify: there is no destination "theirs" that this repository may use` {
		t.Errorf("errors: %v", errs)
	}
	w.hasSent("shop aa proposed+landed")
	w.fails = errors.New("down")
	if errs = Direct(t.Context(), w.source, []store.Event{event(store.EventOpened, "aa", noon)}, sender); len(errs) != 2 {
		t.Errorf("errors: %v", errs)
	}
}
