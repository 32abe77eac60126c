package checkout_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/checkout"
	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/imports"
)

// TestImport imports each folder of testdata/import: TOOL-NAME has the objects of the tool and the
// files that it changes, and want.yaml beside it is the config.
func TestImport(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "testdata", "import")
	folders, err := filepath.Glob(filepath.Join(root, "*", "source"))
	if err != nil || len(folders) < len(imports.Tools()) {
		t.Fatalf("%d folders, %v", len(folders), err)
	}
	for _, folder := range folders {
		name := filepath.Base(filepath.Dir(folder))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := imports.Tool(name)
			for _, known := range imports.Tools() {
				if strings.HasPrefix(name, string(known)+"-") {
					tool = known
				}
			}
			got, err := checkout.Import(t.Context(), folder, "", tool)
			if err != nil {
				t.Fatal(err)
			}
			wanted := filepath.Join(root, name, "want.yaml")
			if *update {
				if err := os.WriteFile(wanted, []byte(got.Text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(wanted)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.Text); diff != "" {
				t.Errorf("the config (-want +got):\n%s", diff)
			}
			if _, problems := config.Load(config.FileName, []byte(got.Text)); problems.Err() != nil {
				t.Errorf("the config does not load: %v", problems.Err())
			}
		})
	}
}

func TestImport_namesWhatNothingSelects(t *testing.T) {
	t.Parallel()
	got, err := checkout.Import(t.Context(), filepath.Join("..", "..", "testdata", "import", "flux-patched", "source"), "", imports.Flux)
	if err != nil {
		t.Fatal(err)
	}
	want := "1 of 1 components keep the tags of the files, because what Flux image automation selects has no equivalent, see the comments beside them: web"
	if len(got.Notes) != 1 || got.Notes[0].String() != want {
		t.Errorf("%v, want %q", got.Notes, want)
	}
}

// Most repositories of Konflux have components, and no environments.
func TestImport_withoutEnvironments(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	component := "apiVersion: appstudio.redhat.com/v1alpha1\nkind: Component\nmetadata: {name: web}\nspec: {componentName: web, containerImage: quay.io/acme/web}\n"
	if err := os.WriteFile(filepath.Join(folder, "component.yaml"), []byte(component), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := checkout.Import(t.Context(), folder, "", imports.AppStudio)
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "no environments") || !strings.Contains(err.Error(), "quay.io/acme/web") {
		t.Errorf("%v", err)
	}
}

func TestImport_ofNothing(t *testing.T) {
	t.Parallel()
	for _, tool := range imports.Tools() {
		_, err := checkout.Import(t.Context(), t.TempDir(), "", tool)
		if !errors.Is(err, imports.ErrNothing) || fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "reads ") {
			t.Errorf("%s: %v", tool, err)
		}
	}
	if _, err := checkout.Import(t.Context(), t.TempDir(), "", "spinnaker"); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "kargo") {
		t.Errorf("an unknown tool: %v", err)
	}
}
