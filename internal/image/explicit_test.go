package image_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/image"
)

const explicitDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// asText returns the versions as TAG@DIGEST by repository.
func asText(versions image.ExplicitVersions) map[string]string {
	texts := map[string]string{}
	for repository, version := range versions {
		texts[repository.Familiar()] = version.Tag + "@" + version.Digest
	}
	return texts
}

func TestParseExplicitVersions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		texts []string
		list  string
		want  map[string]string
	}{
		"nothing":                    {nil, "", map[string]string{}},
		"a tag":                      {[]string{"quay.io/a/b:1"}, "", map[string]string{"quay.io/a/b": "1@"}},
		"a digest":                   {[]string{"quay.io/a/b@" + explicitDigest}, "", map[string]string{"quay.io/a/b": "@" + explicitDigest}},
		"both":                       {[]string{"quay.io/a/b:1@" + explicitDigest}, "", map[string]string{"quay.io/a/b": "1@" + explicitDigest}},
		"a port and Docker's names":  {[]string{"localhost:5000/x:2", "index.docker.io/library/nginx:1"}, "", map[string]string{"localhost:5000/x": "2@", "nginx": "1@"}},
		"the same twice":             {[]string{"nginx:1", "docker.io/library/nginx:1"}, "", map[string]string{"nginx": "1@"}},
		"lines":                      {[]string{"-", "quay.io/a/c:3"}, "# head\n\n  quay.io/a/b:1\t\r\nnginx:2", map[string]string{"quay.io/a/b": "1@", "quay.io/a/c": "3@", "nginx": "2@"}},
		"a list that begins oddly":   {[]string{"-"}, "\ufeffnginx:2\n", map[string]string{"nginx": "2@"}},
		"a list that is empty":       {[]string{"-"}, "", map[string]string{}},
		"the list twice is read out": {[]string{"-", "-"}, "nginx:2\n", map[string]string{"nginx": "2@"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := image.ParseExplicitVersions(test.texts, strings.NewReader(test.list))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, asText(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseExplicitVersions_refused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		texts []string
		list  io.Reader
		want  string
	}{
		"no version":       {[]string{"quay.io/a/b"}, nil, `--with "quay.io/a/b" names no version: add :TAG, @DIGEST or both`},
		"no reference":     {[]string{"Quay/A:1"}, nil, `--with "Quay/A:1": `},
		"nothing at all":   {[]string{""}, nil, `--with "": `},
		"two versions":     {[]string{"nginx:1", "docker.io/nginx:2"}, nil, "--with names two versions of nginx"},
		"a broken line":    {[]string{"-"}, strings.NewReader("nginx:1\n\n;\n"), `line 3 of the list: --with ";": `},
		"a line too long":  {[]string{"-"}, strings.NewReader("nginx:1\n" + strings.Repeat("x", 5000)), "line 2 of the list is longer than 4096 bytes"},
		"a broken pipe":    {[]string{"-"}, iotest.ErrReader(errors.New("gone")), "read the list of versions: gone"},
		"control in a tag": {[]string{"nginx:\x1b[31m"}, nil, `--with "nginx:\x1b[31m": `},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			versions, err := image.ParseExplicitVersions(test.texts, test.list)
			if versions != nil || fault.KindOf(err) != fault.Invalid || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%v, %v", versions, err)
			}
			if strings.Contains(err.Error(), "\x1b") {
				t.Errorf("raw control characters: %q", err)
			}
		})
	}
}

func TestParseExplicitVersions_tooMany(t *testing.T) {
	t.Parallel()
	list := func(n int) io.Reader {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "quay.io/a/i%d:1\n", i)
		}
		return strings.NewReader(b.String())
	}
	if versions, err := image.ParseExplicitVersions([]string{"-"}, list(100_000)); err != nil || len(versions) != 100_000 {
		t.Errorf("%d versions, %v", len(versions), err)
	}
	_, err := image.ParseExplicitVersions([]string{"-"}, list(100_001))
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "--with names more than 100000 versions") {
		t.Errorf("error: %v", err)
	}
}

func FuzzParseExplicitVersions(f *testing.F) {
	f.Add("nginx:1\n# x\nquay.io/a/b@" + explicitDigest)
	f.Add("\ufeff\r\n:@\n")
	f.Add(strings.Repeat("a", 5000))
	f.Fuzz(func(t *testing.T, list string) {
		versions, err := image.ParseExplicitVersions([]string{"-"}, strings.NewReader(list))
		if err != nil {
			if versions != nil || fault.KindOf(err) != fault.Invalid {
				t.Fatalf("%v, %v", versions, err)
			}
			return
		}
		for repository, version := range versions {
			text := repository.String()
			if version.Tag != "" {
				text += ":" + version.Tag
			}
			if version.Digest != "" {
				text += "@" + version.Digest
			}
			again, err := image.ParseExplicitVersions([]string{text}, nil)
			if err != nil || again[repository].Tag != version.Tag || again[repository].Digest != version.Digest {
				t.Fatalf("%s: %v, %v", text, again, err)
			}
		}
	})
}
