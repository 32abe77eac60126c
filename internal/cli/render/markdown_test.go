package render

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/checkout"
	"promoter/internal/fault"
	"promoter/internal/promotion"
)

// A pull request decides names, reasons, and files, and none of them is markup in the comment.
func TestRenderMarkdown_hostileNames(t *testing.T) {
	t.Parallel()
	target := change(placeOf("dev/@ann|<b>", promotion.Proposed, "newer: [web](https://evil.example) #12\n| x |"), "a.yaml",
		"image: a:1\n", "image: a:2 # ````\n````\n</details>\n")
	target.OnDisk = true
	preview := &checkout.Preview{
		Targets: []checkout.TargetPreview{target},
		Errors:  []checkout.ComponentError{{Component: "web", Err: fault.New(fault.Temporary, "<img src=x> @ann")}},
	}
	var b strings.Builder
	if err := renderMarkdown(&b, preview); err != nil {
		t.Fatal(err)
	}
	text, diff, _ := strings.Cut(b.String(), "<details>")
	for _, markup := range []string{"@ann", "|<b>", "[web]", "https://", "#12", "<img", "\n| x |"} {
		if strings.Contains(text, markup) {
			t.Errorf("%q is in the comment:\n%s", markup, text)
		}
	}
	if !strings.Contains(diff, "\n`````diff\n") || !strings.HasSuffix(diff, "\n`````\n\n</details>\n") {
		t.Errorf("the file ends the code block:\n%s", diff)
	}
}

// GitHub refuses comments of more than 65,536 characters.
func TestRenderMarkdown_manyTargets(t *testing.T) {
	t.Parallel()
	preview := &checkout.Preview{}
	for i := range 2000 {
		target := change(placeOf(fmt.Sprintf("dev/shop-%d", i), promotion.Proposed, strings.Repeat("long ", 200)), fmt.Sprintf("%d.yaml", i),
			"image: a:1\n", "image: a:2"+strings.Repeat("-", 100)+"\n")
		target.OnDisk = true
		preview.Targets = append(preview.Targets, target)
	}
	var b strings.Builder
	if err := renderMarkdown(&b, preview); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if len(got) > 65_536-100 { // less the marker of the comment
		t.Errorf("the comment has %d bytes", len(got))
	}
	for _, want := range []string{"And 1950 more.", "too long: `promoter plan -o diff` prints it."} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
