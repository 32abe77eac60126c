package queue_test

import (
	"testing"

	"promoter/internal/database/databasetest"
	"promoter/internal/queue/queuetest"
)

func TestQueue(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, queuetest.Run)
}
