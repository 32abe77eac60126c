package render

import (
	"strings"
	"testing"
)

func TestPainter_leavesPlainTextAlone(t *testing.T) {
	t.Parallel()
	if got := Painter(false).Paint(ColorRed, "x") + Painter(true).Paint(ColorRed, "") + Painter(true).Paint("", "x"); got != "xx" {
		t.Errorf("%q", got)
	}
	for line, want := range map[string]string{
		"+++ b/x\n": ColorBold, "--- a/x\n": ColorBold, "@@ -1 +1 @@\n": ColorCyan,
		"-a\n": ColorRed, "+a\n": ColorGreen, " a\n": "", "": "",
	} {
		got := Painter(true).Diff(line)
		if want == "" && got != line || want != "" && got != want+strings.TrimSuffix(line, "\n")+ColorReset+"\n" {
			t.Errorf("%q: %q", line, got)
		}
	}
}
