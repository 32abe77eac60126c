package queue_test

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

// senders and deliveries of one round.
const (
	senders    = 64
	deliveries = 1024
)

// BenchmarkDelivery compares what promoter does before it answers a webhook, proof,
// a row and the hints of a lane, with the least that could be done: proof and a row,
// in transactions that everybody who waits shares, written by hand for this table.
// Both take turns; what is reported is deliveries per second, and how many times as
// long ours take.
func BenchmarkDelivery(b *testing.B) {
	for _, kind := range databasetest.Kinds() {
		for _, lanes := range []int{1, 100} {
			b.Run(fmt.Sprintf("%s/%d lanes", kind.Name, lanes), func(b *testing.B) {
				ours, bare := prepareOurs(b, kind, lanes), prepareBare(b, kind)
				var spent [2]time.Duration
				for round := range b.N {
					for i, deliver := range []func(string) error{ours, bare} {
						spent[i] += volley(b, round, deliver)
					}
				}
				all := float64(deliveries * b.N)
				b.ReportMetric(all/spent[0].Seconds(), "own/s")
				b.ReportMetric(all/spent[1].Seconds(), "bare/s")
				b.ReportMetric(spent[0].Seconds()/spent[1].Seconds(), "x-bare-own")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// volley has all deliveries of a round made, and returns how long it took.
func volley(b *testing.B, round int, deliver func(id string) error) time.Duration {
	b.Helper()
	begin := time.Now()
	var all sync.WaitGroup
	for sender := range senders {
		all.Go(func() {
			proof := newProof()
			for i := range deliveries / senders {
				if !proof.holds() {
					b.Error("the proof does not hold")
				}
				if err := deliver(fmt.Sprintf("%d-%d-%d", round, sender, i)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	return time.Since(begin)
}

// proof is a delivery with its signature.
type proof struct{ key, body, sum []byte }

func newProof() proof {
	p := proof{key: []byte(rand.Text()), body: make([]byte, 10<<10)}
	p.sum = p.sign()
	return p
}

func (p proof) sign() []byte {
	mac := hmac.New(sha256.New, p.key)
	_, _ = mac.Write(p.body)
	return mac.Sum(nil)
}

func (p proof) holds() bool { return hmac.Equal(p.sign(), p.sum) }

const (
	makeDeliveries = "create table benched (id text primary key, receiver text not null, received_at bigint not null)"
	addDelivery    = "insert into benched (id, receiver, received_at) values (?, ?, @now)"
)

func prepareOurs(b *testing.B, kind databasetest.Kind, lanes int) func(string) error {
	b.Helper()
	db := databasetest.Open(b, kind.New(b))
	q, err := queue.New(b.Context(), db, "bench")
	if err != nil {
		b.Fatal(err)
	}
	err = db.Update(b.Context(), func(ctx context.Context, tx *database.Tx) error {
		_, err := tx.Exec(ctx, makeDeliveries)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	var count atomic.Int64
	return func(id string) error {
		hint := queue.Trigger{Kind: "lane", Key: fmt.Sprint("github.com/", int(count.Add(1))%lanes), Debounce: 5 * time.Second, MaxDebounce: 30 * time.Second}
		return db.Batch(context.Background(), func(ctx context.Context, tx *database.Tx) error {
			if _, err := tx.Exec(ctx, addDelivery, id, "registry"); err != nil {
				return err
			}
			return q.TriggerIn(tx, hint)
		})
	}
}

// prepareBare is the loop that ours is compared with.
func prepareBare(b *testing.B, kind databasetest.Kind) func(string) error {
	b.Helper()
	bare, err := databasetest.OpenBare(b.Context(), kind.New(b))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := bare.Close(); err != nil {
			b.Error(err)
		}
	})
	return func(id string) error { return bare.Keep(id, []byte{}) }
}
