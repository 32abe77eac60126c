package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSnapshot_isBetweenTheReleases(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		tags []string
		want string
	}{
		{"no release", nil, "0.0.0-snapshot.7.gabc"},
		{"after a release", []string{"v0.2.9", "v0.1.0"}, "0.2.10-snapshot.7.gabc"},
		{"after a prerelease", []string{"v1.0.0-rc.1"}, "1.0.0-snapshot.7.gabc"},
		{"other tags", []string{"demo", "v1", "v0.1.0"}, "0.1.1-snapshot.7.gabc"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := snapshot(test.tags, "7", "abc")
			if err != nil || got != test.want {
				t.Errorf("got %s, %v, want %s", got, err, test.want)
			}
		})
	}
}

// Not parallel: the version is of the repository in the working directory.
func TestVersion_isThatOfTheNewestTag(t *testing.T) {
	t.Chdir(t.TempDir())
	git := func(args ...string) {
		t.Helper()
		if err := execute(t.Context(), nil, "git", append([]string{"-c", "user.name=ann", "-c", "user.email=ann@example.com"}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "--quiet")
	git("commit", "--quiet", "--allow-empty", "--message", "one")
	for _, tag := range []string{"v0.1.0-rc.1", "v0.1.0", "v0.0.9"} {
		git("tag", "--no-sign", tag)
	}
	if version, err := versionFromGit(t.Context()); err != nil || version != "0.1.0" {
		t.Errorf("of the tagged commit: %s, %v", version, err)
	}
	git("commit", "--quiet", "--allow-empty", "--message", "two")
	if version, err := versionFromGit(t.Context()); err != nil || !strings.HasPrefix(version, "0.1.1-snapshot.2.g") {
		t.Errorf("of the next commit: %s, %v", version, err)
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	const changelog = "# Changelog\n\n## Unreleased\n\n- new\n\n### Fixed\n\n- a bug\n\n## 0.1.0 (2026-01-01)\n\n- first\n\n## 0.0.9\n"
	tests := []struct{ name, version, want, err string }{
		{"a release", "0.1.0", "# promoter 0.1.0\n\n- first\n", ""},
		{"a snapshot", "0.1.1-snapshot.7.gabc", "# promoter 0.1.1-snapshot.7.gabc\n\n- new\n\n### Fixed\n\n- a bug\n", ""},
		{"no section", "0.2.0", "", "CHANGELOG.md has no section '## 0.2.0'"},
		{"an empty section", "0.0.9", "", "CHANGELOG.md has no section '## 0.0.9'"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := notes(changelog, test.version)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if text := errorText(err); text != test.err {
				t.Errorf("error %q, want %q", text, test.err)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestBuild_refusesAVersionThatIsNone(t *testing.T) {
	t.Parallel()
	err := release{version: "v1", out: t.TempDir()}.build(t.Context())
	if err == nil || !strings.Contains(err.Error(), `version "v1" is not a semantic version without v`) {
		t.Errorf("error %v", err)
	}
}

// Not parallel: a build is of the repository in the working directory.
func TestBuild_refusesChangesThatAreNotCommitted(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	if err := execute(t.Context(), nil, "git", "init", "--quiet"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("main.go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := release{version: "0.1.0", out: filepath.Join(folder, "out")}.build(t.Context())
	if err == nil || !strings.Contains(err.Error(), "these files are changed:\n?? main.go") {
		t.Errorf("error %v", err)
	}
}

func TestClearFolder_removesOnlyReleases(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "thesis.txt")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := clearFolder(folder); err == nil {
		t.Error("another folder was removed")
	}
	if err := os.WriteFile(filepath.Join(folder, "release-notes.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := clearFolder(folder); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// The modes and times of files on the disk do not reach the archives.
func TestArchives_areTheSameEachTime(t *testing.T) {
	t.Parallel()
	at := time.Unix(1700000000, 0).UTC()
	formats := map[string]func(io.Writer, string, map[string]string, string, time.Time) error{"tar": writeTar, "zip": writeZip}
	for name, write := range formats {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var packed [2]bytes.Buffer
			for i, permissions := range []os.FileMode{0o600, 0o755} {
				folder := t.TempDir()
				files := map[string]string{"promoter": filepath.Join(folder, "a"), "LICENSE": filepath.Join(folder, "b")}
				for _, file := range files {
					if err := os.WriteFile(file, []byte("text"), permissions); err != nil {
						t.Fatal(err)
					}
				}
				if err := write(&packed[i], "promoter_1", files, "promoter", at); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(packed[0].Bytes(), packed[1].Bytes()) {
				t.Error("the archives differ")
			}
		})
	}
}

func TestWithTime_keepsFilesAndReplacesTimes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte("a: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var from bytes.Buffer
	if err := writeTar(&from, "promoter", map[string]string{"values.yaml": file}, "", time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1700000000, 0)
	content, err := withTime(&from, at)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	reader := tar.NewReader(unpacked)
	header, err := reader.Next()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil || string(text) != "a: 1\n" || header.Name != "promoter/values.yaml" || !header.ModTime.Equal(at) {
		t.Errorf("%s %s %q, %v", header.Name, header.ModTime, text, err)
	}
	if _, err := reader.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("another file, or %v", err)
	}
}

func TestSPDX_listsTheModulesOfTheProgram(t *testing.T) {
	t.Parallel()
	info := &buildinfo.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "github.com/BurntSushi/toml", Version: "v1.2.0"},
		{Path: "example.com/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/new", Version: "v2.0.0"}},
		{Path: "example.com/ours", Version: "v1.0.0", Replace: &debug.Module{Path: "./internal/ours"}},
	}}
	document := release{version: "0.1.0", time: time.Unix(0, 0).UTC()}.spdx(platform{"linux", "amd64"}, info, "0123")
	var got []string
	for _, one := range document.Packages {
		got = append(got, one.ID+" "+one.Version)
		for _, reference := range one.References {
			got = append(got, reference.Locator)
		}
	}
	want := []string{
		"SPDXRef-promoter 0.1.0",
		"SPDXRef-stdlib-1.26.8 1.26.8", "pkg:golang/stdlib@1.26.8",
		"SPDXRef-github.com-BurntSushi-toml-v1.2.0 v1.2.0", "pkg:golang/github.com/burntsushi/toml@v1.2.0",
		"SPDXRef-example.com-new-v2.0.0 v2.0.0", "pkg:golang/example.com/new@v2.0.0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("packages (-want +got):\n%s", diff)
	}
	if len(document.Relationships) != len(document.Packages) {
		t.Errorf("%d relationships of %d packages", len(document.Relationships), len(document.Packages))
	}
}

// The program of this test has debugging information, or is for another platform than named.
func TestInspect_finds(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []string{"plan9/amd64", "darwin/arm64", "windows/arm64", "linux/s390x"} {
		if err := inspect(program, wanted); err == nil {
			t.Errorf("it passes as %s", wanted)
		}
	}
}
