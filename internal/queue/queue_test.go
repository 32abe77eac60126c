package queue_test

import (
	"testing"
	"time"

	"promoter/internal/database/databasetest"
	"promoter/internal/queue/queuetest"
)

func TestQueue_suite(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, queuetest.Run)
}

// `make model` runs longer.
func TestModel_agreesWithTheQueue(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, kind databasetest.Kind) { queuetest.Play(t, kind, 2*time.Second) })
}
