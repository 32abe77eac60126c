package queue_test

import (
	"os"
	"testing"

	"promoter/internal/database/databasetest"
)

func TestMain(m *testing.M) {
	if os.Getenv(victimVariable) != "" {
		victim()
		return
	}
	databasetest.Main(m)
}
