package site

import (
	"strings"
	"testing"

	"promoter/internal/image"
)

func TestTemplate_readsWhatItFills(t *testing.T) {
	t.Parallel()
	version := image.Version{Tag: "v1.2.0", Version: "1.2.0", Digest: "sha256:" + strings.Repeat("a", 64), Revision: strings.Repeat("b", 40)}
	for _, template := range []string{"{tag}", "{component}-{tag}.tgz", "{version}@{digest}", "{digest}", "a.b({tag})", "{revision}"} {
		text, err := fillTemplate(template, "web", version)
		if err != nil {
			t.Fatal(err)
		}
		want := [2]string{}
		if strings.Contains(template, "{tag}") {
			want[0] = version.Tag
		}
		if strings.Contains(template, "{digest}") {
			want[1] = version.Digest
		}
		if tag, digest := readTemplate(template, text); tag != want[0] || digest != want[1] {
			t.Errorf("%s: %q became %q and %q", template, text, tag, digest)
		}
	}
	if tag, digest := readTemplate("release-{tag}", "v1"); tag != "" || digest != "" {
		t.Errorf("other text: %q, %q", tag, digest)
	}
	if text, err := fillTemplate("{tag}@{digest}", "web", image.Version{Tag: "v1"}); err == nil {
		t.Errorf("without a digest: %q", text)
	}
}
