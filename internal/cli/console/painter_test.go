package console_test

import (
	"testing"

	"promoter/internal/cli/console"
	"promoter/internal/cli/console/consoletest"
	"promoter/internal/cli/render"
)

func TestNewPainter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		when     string
		terminal bool
		env      string
		want     render.Painter
	}{
		{"auto", true, "", true},
		{"auto", false, "", false},
		{"auto", true, "NO_COLOR=1", false},
		{"auto", true, "NO_COLOR=", true}, // no-color.org: set and not empty
		{"always", false, "", true},
		{"always", false, "NO_COLOR=1", true},
		{"never", true, "", false},
	}
	for _, test := range tests {
		system := consoletest.New(test.env).System
		system.OutTerminal = test.terminal
		got, err := console.NewPainter(test.when, system)
		if err != nil || got != test.want {
			t.Errorf("%+v: got %v, %v", test, got, err)
		}
	}
	if _, err := console.NewPainter("red", consoletest.New().System); err == nil {
		t.Error("--color red is taken")
	}
}
