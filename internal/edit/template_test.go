package edit_test

import (
	"strings"
	"testing"

	"promoter/internal/edit"
	"promoter/internal/image"
)

func TestTemplate_readsWhatItFills(t *testing.T) {
	t.Parallel()
	version := image.Version{Tag: "v1.2.0", Version: "1.2.0", Digest: "sha256:" + strings.Repeat("a", 64), Revision: strings.Repeat("b", 40)}
	for _, template := range []string{
		"{tag}", "{component}-{tag}.tgz", "{version}@{digest}", "{digest}", "a.b({tag})", "{revision}", "{version}",
	} {
		text, err := edit.Fill(template, "web", version)
		if err != nil {
			t.Fatal(err)
		}
		want := image.Version{}
		for placeholder, part := range map[string][2]*string{
			"{tag}": {&want.Tag, &version.Tag}, "{digest}": {&want.Digest, &version.Digest},
			"{version}": {&want.Version, &version.Version}, "{revision}": {&want.Revision, &version.Revision},
		} {
			if strings.Contains(template, placeholder) {
				*part[0] = *part[1]
			}
		}
		if got := edit.ReadTemplate(template, text); got.Tag != want.Tag || got.Digest != want.Digest ||
			got.Version != want.Version || got.Revision != want.Revision {
			t.Errorf("%s: %q became %+v", template, text, got)
		}
	}
	if got := edit.ReadTemplate("release-{tag}", "v1"); got.Tag != "" || got.Digest != "" {
		t.Errorf("other text: %+v", got)
	}
	if text, err := edit.Fill("{tag}@{digest}", "web", image.Version{Tag: "v1"}); err == nil {
		t.Errorf("without a digest: %q", text)
	}
}

func TestReference_Derive_needsWhatTheTemplateNames(t *testing.T) {
	t.Parallel()
	r := edit.Reference{Component: "web", Template: "{component} {version}"}
	if text, known := r.Derive(image.Version{Tag: "v2", Version: "2"}); text != "web 2" || !known {
		t.Errorf("got %q, %t", text, known)
	}
	if text, known := r.Derive(image.Version{Tag: "v2"}); known {
		t.Errorf("without a version: %q", text)
	}
}
