package updater_test

import (
	"testing"

	"promoter/internal/image"
	"promoter/internal/updater"
)

// TestMayReference finds every spelling in the text of a file that was refused.
func TestMayReference(t *testing.T) {
	t.Parallel()
	repository, err := image.ParseRepository("quay.io/acme/web")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"image: quay.io/acme/web:1":                                 true,
		"repository: acme/web\nregistry: [":                         true,
		"hub: quay.io/acme\nimage: web":                             true,
		"name: website":                                             true, // rather too much than too little
		"tag: 1 # promoter: frontend.tag":                           true,
		"tag: 1 # {\"$imagepolicy\": \"flux-system:frontend:tag\"}": true,
		"kind: HelmRepository\nurl: oci://quay.io/acme":             true,
		`image: "quay.io/acme/w\u0065b:1"`:                          true,
		"\xff\xfew\x00e\x00b\x00":                                   true,
		"image: quay.io/acme/api:1":                                 false,
		"name: frontend":                                            false,
		"tag: 1 # promoter: api.tag":                                false,
		"":                                                          false,
	} {
		if got := updater.MayReference([]byte(text), "frontend", repository); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
