package queuetest

import (
	"testing"

	"promoter/internal/database/databasetest"
)

var loops = map[string]func(*testing.T, databasetest.Kind){}
