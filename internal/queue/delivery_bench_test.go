package queue_test

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

// The load of the benchmark: so many deliveries per second, from so many senders.
const (
	senders       = 64
	deliveryRate  = 500
	deliveryCount = 2 * deliveryRate // of one iteration: two seconds
)

// BenchmarkDelivery measures what promoter does before it answers a webhook: verify the
// signature, and store a row and the trigger of a repository in one transaction. It
// reports how long a delivery takes from the moment when it is due.
func BenchmarkDelivery(b *testing.B) {
	for _, kind := range databasetest.Kinds() {
		for _, repositories := range []int{1, 100} {
			b.Run(fmt.Sprintf("%s/%d repositories", kind.Name, repositories), func(b *testing.B) {
				deliver := prepare(b, kind, repositories)
				var took []time.Duration
				for round := range b.N {
					took = append(took, pace(b, round, deliver)...)
				}
				slices.Sort(took)
				at := func(part float64) float64 { return took[int(part*float64(len(took)-1))].Seconds() * 1000 }
				b.ReportMetric(at(0.5), "ms-median")
				b.ReportMetric(at(0.99), "ms-p99")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// pace makes the deliveries of one iteration when they are due, whether or not
// the earlier ones have ended, and returns how long each took.
func pace(b *testing.B, round int, deliver func(n int, id string) error) []time.Duration {
	b.Helper()
	type due struct {
		n  int
		at time.Time
	}
	queued := make(chan due, deliveryCount)
	took := make([]time.Duration, deliveryCount)
	var all sync.WaitGroup
	for range senders {
		all.Go(func() {
			signed := newSignedBody()
			for one := range queued {
				if !signed.verify() {
					b.Error("the signature is wrong")
				}
				if err := deliver(one.n, fmt.Sprintf("%d-%d", round, one.n)); err != nil {
					b.Error(err)
				}
				took[one.n] = time.Since(one.at)
			}
		})
	}
	begin := time.Now()
	for n := range deliveryCount {
		at := begin.Add(time.Duration(n) * time.Second / deliveryRate)
		if wait := time.Until(at); wait > 0 {
			<-time.After(wait)
		}
		queued <- due{n, at}
	}
	close(queued)
	all.Wait()
	return took
}

// signedBody is a webhook body with its signature.
type signedBody struct{ key, body, sum []byte }

func newSignedBody() signedBody {
	s := signedBody{key: []byte(rand.Text()), body: make([]byte, 10<<10)}
	s.sum = s.sign()
	return s
}

func (s signedBody) sign() []byte {
	mac := hmac.New(sha256.New, s.key)
	_, _ = mac.Write(s.body)
	return mac.Sum(nil)
}

func (s signedBody) verify() bool { return hmac.Equal(s.sign(), s.sum) }

func prepare(b *testing.B, kind databasetest.Kind, repositories int) func(n int, id string) error {
	b.Helper()
	db := databasetest.Open(b, kind.New(b))
	q, err := queue.New(b.Context(), db, "bench")
	if err != nil {
		b.Fatal(err)
	}
	err = db.Update(b.Context(), func(ctx context.Context, tx *database.Tx) error {
		_, err := tx.Exec(ctx, "create table benched (id text primary key, receiver text not null, received_at bigint not null)")
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return func(n int, id string) error {
		trigger := queue.Trigger{
			Kind: "repository", Key: fmt.Sprint("github.com/", n%repositories),
			Debounce: 5 * time.Second, MaxDebounce: 30 * time.Second,
		}
		return db.Update(context.Background(), func(ctx context.Context, tx *database.Tx) error {
			if _, err := tx.Exec(ctx, "insert into benched (id, receiver, received_at) values (?, ?, @now)", id, "registry"); err != nil {
				return err
			}
			return q.TriggerIn(ctx, tx, trigger)
		})
	}
}
