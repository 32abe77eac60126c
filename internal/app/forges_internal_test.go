package app

import (
	"os"
	"testing"
)

// EveryForge reports whether the acceptance stories run on every forge and in every way.
// Without it they run on GitHub alone, with a mirror that is kept between runs.
func EveryForge() bool { return os.Getenv("PROMOTER_FORGES") == "all" }

// AnotherForge skips the story of another forge than GitHub where only one is tested.
func AnotherForge(t *testing.T) {
	t.Helper()
	if !EveryForge() {
		t.Skip("PROMOTER_FORGES=all runs the stories of the other forges too, as make check does")
	}
}
