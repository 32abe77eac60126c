package checkout_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"promoter/internal/checkout"
	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/unused"
)

func TestOpenCheckout_wrongInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		dir  string
		kind fault.Kind
		want string
	}{
		"no folder":   {filepath.Join(dir, "gone"), fault.NotFound, "open the folder: "},
		"a file":      {file, fault.Invalid, file + " is a file, not a folder"},
		"below one":   {file + "/x", fault.NotFound, "open the folder: "},
		"no config":   {dir, fault.NotFound, "there is no .promoter.yaml in " + dir + ": write one with 'promoter init', or name versions with --with"},
		"no name":     {"", fault.NotFound, "open the folder: "},
		"a zero byte": {dir + "\x00", fault.NotFound, "open the folder: "},
	}
	for name, test := range tests {
		_, err := checkout.Open(test.dir, nil)
		if fault.KindOf(err) != test.kind || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const minimal = "version: 1\ncomponents:\n  web: {image: quay.io/acme/web, select: {semver: \">=1\"}}\nenvironments:\n  dev: {}\n"

func TestOpenCheckout_configInOtherForms(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"Windows line ends": strings.ReplaceAll(minimal, "\n", "\r\n"),
		"a byte order mark": "\ufeff" + minimal,
		"both":              "\ufeff" + strings.ReplaceAll(minimal, "\n", "\r\n"),
		"no final newline":  strings.TrimSuffix(minimal, "\n"),
	} {
		w := newWorld(t, map[string]string{".promoter.yaml": content, "a.yaml": before})
		options := w.options()
		options.Explicit = w.given("quay.io/acme/web:2")
		if applied := w.apply(options); len(applied.Files) != 1 || w.read("a.yaml") != after {
			t.Errorf("%s: wrote %q", name, applied.Files)
		}
	}
}

// A config that leads out of the folder is not read: its error messages
// would reveal the content of other files.
func TestOpenCheckout_configIsALink(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("canary-7f3a: 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	given := image.ExplicitVersions{}
	inside := newWorld(t, map[string]string{"shared/promoter.yaml": minimal})
	symlink(t, "shared/promoter.yaml", filepath.Join(inside.dir, ".promoter.yaml"))
	if _, err := checkout.Open(inside.dir, given); err != nil {
		t.Errorf("a link that stays inside: %v", err)
	}
	for name, target := range map[string]string{"to a file outside": secret, "to a device": "/dev/zero", "to itself": ".promoter.yaml", "to the folder": "."} {
		w := newWorld(t, nil)
		symlink(t, target, filepath.Join(w.dir, ".promoter.yaml"))
		_, opening := checkout.Open(w.dir, given)
		_, _, validating := checkout.Validate(w.dir)
		for _, err := range []error{opening, validating} {
			if fault.KindOf(err) != fault.Invalid || strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestOpenCheckout_configIsNoFile(t *testing.T) {
	t.Parallel()
	folder, pipe := newWorld(t, map[string]string{".promoter.yaml/x": ""}), newWorld(t, nil)
	if err := syscall.Mkfifo(filepath.Join(pipe.dir, ".promoter.yaml"), 0o644); err != nil {
		t.Skipf("no pipes in this file system: %v", err)
	}
	for _, w := range []*world{folder, pipe} {
		if _, err := checkout.Open(w.dir, nil); fault.KindOf(err) != fault.Invalid || err.Error() != ".promoter.yaml is not a regular file" {
			t.Errorf("error: %v", err)
		}
	}
}

func TestOpenCheckout_configErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{".promoter.yaml": "version: 1\nenvironmnets: {}\n"})
	_, err := checkout.Open(w.dir, w.given("nginx:1"))
	var invalid *config.Error
	if !errors.As(err, &invalid) || fault.KindOf(err) != fault.Invalid {
		t.Fatalf("error: %v", err)
	}
	if !strings.Contains(err.Error(), filepath.Join(w.dir, ".promoter.yaml")+":2:1: unknown key") {
		t.Errorf("error: %v", err)
	}
	large := newWorld(t, map[string]string{".promoter.yaml": strings.Repeat("# x\n", 1<<20)})
	if _, err := checkout.Open(large.dir, nil); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a config of 4 MiB: %v", err)
	}
}

// A clone that cannot be read matters only to environments with branches.
func TestOpenCheckout_brokenClone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{".promoter.yaml": minimal, ".git": "nonsense", "a.yaml": before})
	options := w.options()
	options.Explicit = w.given("quay.io/acme/web:2")
	w.expect(options, "dev/default proposed: requested: web 1 -> 2")
	w.write(".promoter.yaml", branched)
	if _, err := checkout.Open(w.dir, nil); err == nil || !strings.HasPrefix(err.Error(), "open the clone: open the Git repository of ") {
		t.Errorf("error: %v", err)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{".promoter.yaml": minimal})
	_, problems, err := checkout.Validate(w.dir)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// Only what is certain is a warning: a refused file may have the reference, and a folder
// that is no checkout may have only a part of the files.
func TestKnown(t *testing.T) {
	t.Parallel()
	const other = "image: quay.io/acme/other:1\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"an unused component": {map[string]string{".git/HEAD": "", "a.yaml": other}, "no file of an environment references quay.io/acme/web, which web follows"},
		"a used one":          {map[string]string{".git/HEAD": "", "a.yaml": before}, ""},
		"a refused file":      {map[string]string{".git/HEAD": "", "a.yaml": "image: [quay.io/acme/web:1\n"}, ""},
		"no checkout":         {map[string]string{"a.yaml": other}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.files[".promoter.yaml"] = minimal
			w := newWorld(t, test.files)
			loaded, _, err := checkout.Validate(w.dir)
			if err != nil {
				t.Fatal(err)
			}
			known, err := checkout.Known(t.Context(), w.dir, loaded)
			problems := unused.Find(unused.Facts{Repositories: []unused.Repository{known}})
			if err != nil || len(problems) > 1 || problems.String() == "" != (test.want == "") || !strings.Contains(problems.String(), test.want) {
				t.Errorf("%v, %v", problems, err)
			}
		})
	}
}
