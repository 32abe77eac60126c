package app_test

import (
	"fmt"
	"strings"
	"testing"
)

// Many webhooks within the hour between two runs of the retention do not fill the disk.
func TestServe_manyWebhooksTriggerTheRetention(t *testing.T) {
	t.Parallel()
	w := serveAs(t, newStory(t, "github", reviewed), serving{quiet: -1, poll: "1h", receivers: "retention: {deliveriesSize: 1MiB}"})
	for i := range 33 { // of 2 MiB each
		body := fmt.Sprintf(`{"id": "%d", "image": "quay.io/acme/other:1"}`, i)
		w.send("images", body+strings.Repeat(" ", 2<<20-len(body)))
	}
	w.until("deleted rows past their retention period")
	w.stop()
}
