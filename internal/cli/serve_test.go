package cli

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// Lines of the log say the same to people and to programs.
func TestNewLog(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{"json": `"took":"1.234s"`, "text": "took=1.234s"} {
		var out bytes.Buffer
		log, err := newLog(&out, format, "info")
		if err != nil {
			t.Fatal(err)
		}
		log.Info("looked", slog.Duration("took", 1234*time.Millisecond+time.Microsecond))
		log.Debug("not written")
		if !strings.Contains(out.String(), want) || strings.Count(out.String(), "\n") != 1 {
			t.Errorf("%s: %s", format, out.String())
		}
	}
	for _, wrong := range [][2]string{{"xml", "info"}, {"json", "loud"}} {
		if _, err := newLog(nil, wrong[0], wrong[1]); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}
