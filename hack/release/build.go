package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// release is what one build is made from.
type release struct {
	version string // a semantic version, without v
	url     string // of the folder with its files; empty: not known
	builder string // URI
	out     string // folder

	commit string
	time   time.Time // of the commit; all files have it
	work   string    // temporary folder
}

// platform is one that promoter is built for.
type platform struct{ system, processor string }

func (p platform) String() string { return p.system + "_" + p.processor }

// program is the name of the program on a platform.
func (p platform) program() string {
	if p.system == "windows" {
		return "promoter.exe"
	}
	return "promoter"
}

func platforms() []platform {
	var all []platform
	for _, system := range []string{"linux", "darwin", "windows"} {
		all = append(all, platform{system, "amd64"}, platform{system, "arm64"})
	}
	return all
}

// build writes all files of the release to a new folder.
func (r release) build(ctx context.Context) error {
	if r.version == "" {
		version, err := versionFromGit(ctx)
		if err != nil {
			return err
		}
		r.version = version
	}
	if !tagged.MatchString("v" + r.version) {
		return fmt.Errorf("version %q is not a semantic version without v", r.version)
	}
	if !isSnapshot(r.version) {
		if err := requireCommitted(ctx); err != nil {
			return err
		}
	}
	if err := clearFolder(r.out); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "promoter-release-")
	if err != nil {
		return fmt.Errorf("create a temporary folder: %w", err)
	}
	defer os.RemoveAll(work) //nolint:errcheck // it is temporary
	r.work = work
	if r.commit, r.time, err = head(ctx); err != nil {
		return err
	}
	return r.steps(ctx)
}

// steps are in the order in which they need each other's files.
func (r release) steps(ctx context.Context) error {
	changelog, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	text, err := notes(string(changelog), r.version)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, "release-notes.md"), []byte(text), 0o644); err != nil {
		return err
	}
	for _, p := range platforms() {
		if err := r.compile(ctx, p); err != nil {
			return err
		}
	}
	shared, err := r.documents(ctx)
	if err != nil {
		return err
	}
	for _, p := range platforms() {
		if err := r.archive(p, shared); err != nil {
			return fmt.Errorf("archive for %s: %w", p, err)
		}
		if err := r.materials(p); err != nil {
			return fmt.Errorf("SBOM for %s: %w", p, err)
		}
	}
	for _, schema := range schemas() {
		if err := copyFile("config/"+schema, filepath.Join(r.out, schema)); err != nil {
			return err
		}
	}
	if err := r.packages(ctx); err != nil {
		return err
	}
	if err := r.chart(ctx); err != nil {
		return err
	}
	if err := r.formula(); err != nil {
		return err
	}
	ko, err := tool(ctx, "ko")
	if err != nil {
		return err
	}
	if err := execute(ctx, []string{"CGO_ENABLED=0"}, "go", "run", "./hack/image", "build", "-ko", ko, "-version", r.version, "-url", r.url, "-out", filepath.Join(r.out, imageFolder)); err != nil {
		return err
	}
	if err := r.provenance(); err != nil {
		return err
	}
	return writeChecksums(r.out)
}

// imageFolder is the folder of the image in that of the release, an OCI layout.
const imageFolder = "image"

// head returns the checked-out commit and its time.
func head(ctx context.Context) (string, time.Time, error) {
	text, err := output(ctx, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return "", time.Time{}, err
	}
	commit, at, _ := strings.Cut(text, " ")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("the time of the commit: %w", err)
	}
	return commit, time.Unix(seconds, 0).UTC(), nil
}

// requireCommitted returns an error if the files are not those of the commit that the provenance
// and the programs name.
func requireCommitted(ctx context.Context) error {
	changed, err := output(ctx, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("a release is built from a commit, and these files are changed:\n%s", changed)
	}
	return nil
}

// clearFolder removes an earlier release, and no other folder.
func clearFolder(folder string) error {
	entries, err := os.ReadDir(folder)
	if err == nil && len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(folder, "release-notes.md")); err != nil {
			return fmt.Errorf("%s exists and contains no release: %w", folder, err)
		}
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return os.MkdirAll(folder, 0o755) //nolint:gosec // releases are public
}

// binary is where the program of a platform is built.
func (r release) binary(p platform) string {
	return filepath.Join(r.work, p.String(), p.program())
}

// name is that of the files for a platform, without an extension.
func (r release) name(p platform) string { return "promoter_" + r.version + "_" + p.String() }

// compile builds the program as .ko.yaml does, so that the image has the same bytes.
func (r release) compile(ctx context.Context, p platform) error {
	flags := "-s -w -X promoter/internal/cli.released=" + r.version + " -X promoter/internal/cli.releaseURL=" + r.url
	env := []string{"CGO_ENABLED=0", "GOFLAGS=", "GOOS=" + p.system, "GOARCH=" + p.processor}
	return execute(ctx, env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags", flags, "-o", r.binary(p), "./cmd/promoter")
}

// documents lets the program of this machine write its manual pages and completions, and
// returns what all archives contain: names in the archive, and files.
func (r release) documents(ctx context.Context) (map[string]string, error) {
	own := platform{runtime.GOOS, runtime.GOARCH}
	manual := filepath.Join(r.work, "man1")
	if err := execute(ctx, nil, r.binary(own), "man", manual); err != nil {
		return nil, err
	}
	pages, err := os.ReadDir(manual)
	if err != nil {
		return nil, err
	}
	shared := map[string]string{"LICENSE": "LICENSE", "CHANGELOG.md": "CHANGELOG.md", "README.md": "README.md"}
	for _, page := range pages {
		shared["man/man1/"+page.Name()] = filepath.Join(manual, page.Name())
	}
	for shell, extension := range map[string]string{"bash": "bash", "zsh": "zsh", "fish": "fish", "powershell": "ps1"} {
		script, err := output(ctx, r.binary(own), "completion", shell)
		if err != nil {
			return nil, err
		}
		file := filepath.Join(r.work, "promoter."+extension)
		if err := os.WriteFile(file, []byte(script+"\n"), 0o600); err != nil {
			return nil, err
		}
		shared["completions/promoter."+extension] = file
	}
	for _, schema := range schemas() {
		shared["schemas/"+schema] = "config/" + schema
	}
	return shared, nil
}

func schemas() []string {
	return []string{"promoter.schema.json", "promoter-server.schema.json"}
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from) //nolint:gosec // files of the build
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644) //nolint:gosec // releases are public
}
