package webhook_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/event"
	"promoter/internal/evidence"
	"promoter/internal/fault"
	"promoter/internal/receiver"
)

var update = flag.Bool("update", false, "write the decoded payloads as the expected ones")

// payload is one request of testdata/payloads: NAME.json, with NAME.headers and
// NAME.want.json beside it.
type payload struct {
	kind, name string
	header     http.Header
	body       []byte
	want       string // the file
}

// payloads lists all of them, by the kind of their folder.
func payloads(t testing.TB) []payload {
	t.Helper()
	root := filepath.Join("..", "..", "testdata", "payloads")
	files, err := filepath.Glob(filepath.Join(root, "*", "*.headers"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no payloads below %s: %v", root, err)
	}
	var all []payload
	for _, file := range files {
		base := strings.TrimSuffix(file, ".headers")
		body, err := os.ReadFile(base + ".json")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, payload{
			kind: filepath.Base(filepath.Dir(file)), name: filepath.Base(base),
			header: readHeaders(t, file), body: body, want: base + ".want.json",
		})
	}
	return all
}

// decoded is what a payload is read as.
type decoded struct {
	ID      string            `json:"id,omitempty"`
	Event   string            `json:"eventType,omitempty"`
	Events  []event.Event     `json:"events,omitempty"`
	Reports []evidence.Report `json:"reports,omitempty"`
	Ignored string            `json:"ignored,omitempty"`
	Error   string            `json:"error,omitempty"`
}

// Each payload decodes to the content of its file.
func TestPayloads_decode(t *testing.T) {
	t.Parallel()
	for _, p := range payloads(t) {
		t.Run(p.kind+"/"+p.name, func(t *testing.T) {
			t.Parallel()
			got := p.decoded(t)
			if *update {
				data, err := json.MarshalIndent(got, "", "  ")
				if err == nil {
					err = os.WriteFile(p.want, append(data, '\n'), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			data, err := os.ReadFile(p.want)
			if err != nil {
				t.Fatal(err)
			}
			var want decoded
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("decoded (-want +got):\n%s", diff)
			}
		})
	}
}

// decoded receives the payload with the credential of its sender.
func (p payload) decoded(t *testing.T) decoded {
	t.Helper()
	c := credentialOf(p.kind)
	d, err := c.receiver(t).Receive(t.Context(), c.sign(p.header, p.body))
	if err != nil {
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("the error is not an Invalid fault: %v", err)
		}
		return decoded{Error: err.Error()}
	}
	if (len(d.Events) == 0) != (d.Ignored != "") {
		t.Errorf("%d events, ignored for %q", len(d.Events), d.Ignored)
	}
	return decoded{ID: d.ID, Event: d.EventType, Events: d.Events, Reports: d.Reports, Ignored: d.Ignored}
}

// Every sender has payloads with events, and one that is malformed.
func TestPayloads_existForEveryKind(t *testing.T) {
	t.Parallel()
	hints, errors := map[string]int{}, map[string]int{}
	for _, p := range payloads(t) {
		got := p.decoded(t)
		hints[p.kind] += len(got.Events)
		if got.Error != "" {
			errors[p.kind]++
		}
	}
	for _, kind := range receiver.Names() {
		if hints[kind] == 0 || errors[kind] == 0 {
			t.Errorf("%s: the payloads have %d hints and %d errors", kind, hints[kind], errors[kind])
		}
		delete(hints, kind)
	}
	for kind := range hints {
		t.Errorf("no sender has the payloads of %s", kind)
	}
}
