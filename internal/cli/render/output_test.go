package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestWriteJSON_nothingThatATerminalObeys(t *testing.T) {
	t.Parallel()
	text := "a\x1b[2J \u009b2J \u007f \u202e \u200b \U000e0001 <b> ü 漢 \u2028 end"
	var out bytes.Buffer
	if err := writeJSON(&out, []string{text}); err != nil {
		t.Fatal(err)
	}
	var back []string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back[0] != text {
		t.Errorf("read back %q, %v", back, err)
	}
	if strings.ContainsAny(out.String(), "\x1b\u009b\u007f\u202e\u200b\U000e0001\u2028") {
		t.Errorf("got %q", out.String())
	}
	if !strings.Contains(out.String(), "<b> ü 漢") {
		t.Errorf("got %q", out.String())
	}
}

func FuzzNumbered(f *testing.F) {
	f.Add("\u009b")
	f.Fuzz(func(t *testing.T, text string) {
		want, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err) // every text can be written
		}
		var a, b string
		if json.Unmarshal(want, &a) != nil || json.Unmarshal([]byte(escapeJSON(string(want))), &b) != nil || a != b {
			t.Errorf("%q becomes %q", a, b)
		}
	})
}

func TestPrintError(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	PrintError(&out, errors.Join(errors.New("one"), fmt.Errorf("two%s", "\n")))
	if want := "promoter: one\npromoter: two\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
}
