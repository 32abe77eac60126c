package workspace

import (
	"testing"

	"promoter/internal/database/databasetest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }
