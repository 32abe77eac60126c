package queue_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"time"

	"promoter/internal/database"
	"promoter/internal/queue"
	"promoter/internal/secret"
)

// victimVariable marks a process of this test binary that will be killed.
const victimVariable = "PROMOTER_TEST_VICTIM"

// orders configure the process.
type orders struct {
	Path, URL string
	Prefix    string // of its keys
	Point     point  // where it kills itself; empty if it is killed from outside
}

// point is a stage of a trigger.
type point string

// The points, in order.
const (
	inTransaction point = "in the transaction"
	beforeCommit  point = "just before the commit"
	afterCommit   point = "just after the commit"
	acknowledged  point = "acknowledged"
	claimed       point = "claimed"
	worked        point = "worked"
)

// victim is the main function of the process. Its standard output is still
// readable after it dies.
func victim() {
	var o orders
	if err := json.Unmarshal([]byte(os.Getenv(victimVariable)), &o); err != nil {
		panic(err)
	}
	db, err := database.Open(context.Background(), o.database())
	if err != nil {
		panic(err)
	}
	q, err := queue.New(context.Background(), db, "victim")
	if err != nil {
		panic(err)
	}
	go o.work(q)
	for hand := range 8 {
		go o.trigger(db, q, hand)
	}
	select {}
}

func (o orders) database() database.Options {
	options := database.Options{Path: o.Path, URL: secret.New(o.URL)}
	if o.Path != "" {
		options.Now = time.Now
	}
	return options
}

// reach kills the process at the configured point.
func (o orders) reach(here point) {
	if here != o.Point {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// trigger stores triggers, each with a row of the test, and prints which are stored.
func (o orders) trigger(db *database.DB, q *queue.Queue, hand int) {
	for i := 0; ; i++ {
		key := fmt.Sprintf("%s-%d-%d", o.Prefix, hand, i)
		err := db.Update(context.Background(), func(ctx context.Context, tx *database.Tx) error {
			if _, err := tx.Exec(ctx, "insert into evidence (name) values (?)", key); err != nil {
				return err
			}
			o.reach(inTransaction)
			if err := q.TriggerIn(ctx, tx, queue.Trigger{Kind: "repository", Key: key}); err != nil {
				return err
			}
			o.reach(beforeCommit)
			tx.AfterCommit(func() { o.reach(afterCommit) })
			return nil
		})
		if err != nil {
			panic(err)
		}
		fmt.Println("stored", key) //nolint:forbidigo // to the parent
		o.reach(acknowledged)
	}
}

// work processes every second key.
func (o orders) work(q *queue.Queue) {
	err := q.Run(context.Background(), queue.Options{
		Kinds:  map[string]queue.Worker{"repository": {Handler: o.handle, Concurrency: 2}},
		Log:    slog.New(slog.DiscardHandler),
		Random: func() float64 { return 0 },
		Lease:  victimLease, Renew: victimLease / 2, Poll: 20 * time.Millisecond,
	})
	if err != nil {
		panic(err)
	}
}

// victimLease is how long a replica waits for the work of a dead one. A claim
// gives up after half of it.
const victimLease = 2 * time.Second

func (o orders) handle(_ context.Context, item queue.Item) (queue.Result, error) {
	o.reach(claimed)
	fmt.Println("ran", item.Key) //nolint:forbidigo // to the parent
	o.reach(worked)
	return queue.Result{}, nil
}
