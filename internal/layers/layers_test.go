package layers

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func ours() rules { return rules{table: table, owners: owners, free: freeOfOwners} }

func TestPackagesImportOnlyLowerLayers(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatalf("the root of the module is not where this test looks: %v", err)
	}
	sources, err := readSources(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) < 3 {
		t.Fatalf("only %d Go files found", len(sources))
	}
	for _, broken := range ours().check(sources) {
		t.Error(broken)
	}
}

func TestOwnersAreInTheTable(t *testing.T) {
	t.Parallel()
	for imported, packages := range owners {
		for _, pkg := range packages {
			if _, ok := table[pkg]; !ok && pkg != anyPackage {
				t.Errorf("module %s belongs to %s, which has no layer", imported, pkg)
			}
		}
	}
}

// TestCheckFinds runs the checker on trees that break one rule each.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, source string
		want               []string
	}{
		{
			"a lower layer is allowed", "internal/rendered/x.go",
			`package rendered; import ("fmt"; _ "promoter/internal/edit")`, nil,
		},
		{
			"sideways", "internal/rendered/x.go",
			`package rendered; import _ "promoter/internal/queue"`,
			[]string{notBelow("internal/rendered/x.go", "internal/rendered", "internal/queue", "sideways")},
		},
		{
			"upward", "internal/promotion/x.go",
			`package promotion; import _ "promoter/internal/registry"`,
			[]string{notBelow("internal/promotion/x.go", "internal/promotion", "internal/registry", "upward")},
		},
		{
			"upward from a test", "internal/promotion/x_test.go",
			`package promotion_test; import _ "promoter/internal/app"`,
			[]string{notBelow("internal/promotion/x_test.go", "internal/promotion", "internal/app", "upward")},
		},
		{
			"behind a build constraint", "internal/edit/x_plan9.go",
			"//go:build ignore\n\npackage edit\nimport _ \"promoter/internal/config\"",
			[]string{notBelow("internal/edit/x_plan9.go", "internal/edit", "internal/config", "upward")},
		},
		{
			"a package without a layer", "internal/util/x.go",
			`package util`,
			[]string{"internal/util/x.go: package internal/util has no layer"},
		},
		{
			"an import without a layer", "internal/app/x.go",
			`package app; import _ "promoter/internal/util"`,
			[]string{"internal/app/x.go: imports internal/util, which has no layer"},
		},
		{
			"an external test meets its own package", "internal/edit/x_test.go",
			`package edit_test; import _ "promoter/internal/edit"`, nil,
		},
		{
			"shipped code does not import itself", "internal/edit/x.go",
			`package edit; import _ "promoter/internal/edit"`,
			[]string{notBelow("internal/edit/x.go", "internal/edit", "internal/edit", "sideways")},
		},
		{
			"a support package meets what it supports", "internal/registry/registrytest/x.go",
			`package registrytest; import _ "promoter/internal/registry"`, nil,
		},
		{
			"a support package stays on its layer", "internal/registry/registrytest/x.go",
			`package registrytest; import _ "promoter/internal/store"`,
			[]string{notBelow("internal/registry/registrytest/x.go", "internal/registry", "internal/store", "sideways")},
		},
		{
			"a test imports support code", "internal/reconcile/x_test.go",
			`package reconcile; import _ "promoter/internal/registry/registrytest"`, nil,
		},
		{
			"shipped code imports no support code", "internal/cli/x.go",
			`package cli; import _ "promoter/internal/registry/registrytest"`,
			[]string{"internal/cli/x.go: shipped code imports internal/registry/registrytest, which is support code for tests"},
		},
		{
			"a module in its package", "internal/registry/x.go",
			`package registry; import _ "github.com/google/go-containerregistry/pkg/v1/remote"`, nil,
		},
		{
			"a module in another package", "internal/cli/x.go",
			`package cli; import _ "github.com/google/go-containerregistry/pkg/v1/remote"`,
			[]string{"internal/cli/x.go: imports github.com/google/go-containerregistry, which belongs to internal/registry"},
		},
		{
			"a module in the demo", "internal/demo/x.go",
			`package demo; import _ "github.com/google/go-containerregistry/pkg/registry"`, nil,
		},
		{
			"a module in a test file", "internal/cli/x_test.go",
			`package cli; import _ "github.com/google/go-containerregistry/pkg/registry"`, nil,
		},
		{
			"a test module in shipped code", "internal/cli/x.go",
			`package cli; import _ "github.com/google/go-cmp/cmp"`,
			[]string{"internal/cli/x.go: imports github.com/google/go-cmp, which only tests may import"},
		},
		{
			"a module for every package", "internal/rendered/x.go",
			`package rendered; import _ "golang.org/x/sync/errgroup"`, nil,
		},
		{
			"an unknown module, even in a test", "internal/cli/x_test.go",
			`package cli; import _ "github.com/stretchr/testify/require"`,
			[]string{"internal/cli/x_test.go: imports github.com/stretchr/testify/require, a module without an owner"},
		},
		{
			"a module whose name begins like an owned one", "internal/cli/x.go",
			`package cli; import _ "github.com/spf13/cobra-cli"`,
			[]string{"internal/cli/x.go: imports github.com/spf13/cobra-cli, a module without an owner"},
		},
		{
			"cgo", "internal/cli/x.go",
			`package cli; import "C"`,
			[]string{"internal/cli/x.go: imports C: the binary is built without cgo"},
		},
		{
			"test data is not read", "internal/cli/testdata/x.go",
			`package util; import _ "promoter/internal/app"`, nil,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tree := fstest.MapFS{test.file: {Data: []byte(test.source)}}
			sources, err := readSources(tree)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, ours().check(sources)); diff != "" {
				t.Errorf("objections (-want +got):\n%s", diff)
			}
		})
	}
}

// notBelow is the objection to a file of one package that imports another which is not below.
func notBelow(file, from, to, how string) string {
	return fmt.Sprintf("%s: layer %d imports %s on layer %d: %s", file, table[from].layer, to, table[to].layer, how)
}

func TestReadSourcesNamesTheFileThatDoesNotParse(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{"internal/cli/x.go": {Data: []byte("package")}}
	if _, err := readSources(tree); err == nil || !strings.Contains(err.Error(), "internal/cli/x.go") {
		t.Errorf("error %v does not name the file", err)
	}
}
