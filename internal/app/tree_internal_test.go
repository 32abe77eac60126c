package app

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"promoter/internal/promotion"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/engine"
	"promoter/internal/image"
)

// Environments that share files, one that wants a file written, and sources that
// lie outside of all of them.
const sharedEnvironments = `version: 1
components:
  web: {image: r.example.com/acme/web, select: {semver: ">=1"}, only: {environments: [dev, prod]}}
  worker: {image: r.example.com/acme/worker, select: {semver: ">=1"}, only: {environments: [prod, other]}}
  shop: {chart: "oci://r.example.com/acme/charts/shop", select: {semver: ">=1"}, only: {environments: [dev, prod]}}
environments:
  dev: {paths: ["apps/{application}/dev", "apps/{application}/shared"]}
  prod:
    paths: ["apps/{application}/prod"]
    write: [{file: "apps/{application}/prod/version.yaml", path: version, component: web, value: "{tag}"}]
  other: {paths: ["apps/{application}/shared"]}
`

func randomContent(r *rand.Rand) string {
	version, name := fmt.Sprintf("1.%d.0", r.IntN(3)), []string{"acme", "else"}[r.IntN(2)]
	switch r.IntN(7) {
	case 0:
		return "image: r.example.com/acme/web:" + version + "\n"
	case 1:
		return "image: r.example.com/acme/worker:" + version + " # x\n"
	case 2:
		return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: " + name + ", namespace: flux}\nspec: {type: oci, url: \"oci://r.example.com/acme/" + []string{"charts", "old"}[r.IntN(2)] + "\"}\n"
	case 3, 4:
		return "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: shop, namespace: flux}\nspec: {chart: {spec: {chart: shop, version: " + version + ", sourceRef: {kind: HelmRepository, name: " + name + "}}}}\n"
	case 5:
		return "<<<<<<< a\nimage: r.example.com/acme/web:1.0.0\n=======\n>>>>>>> b\n"
	default:
		return "version: " + version + "\n"
	}
}

// editRandomly changes, moves and removes some files of a clone.
func editRandomly(t *testing.T, r *rand.Rand, clone string) {
	t.Helper()
	for range 1 + r.IntN(5) {
		folder := []string{"apps/a/dev", "apps/a/prod", "apps/a/shared", "apps/b/prod", "apps/b/shared", "sources", "."}[r.IntN(7)]
		name := filepath.Join(clone, folder, []string{"a.yaml", "b.yaml", "version.yaml"}[r.IntN(3)])
		_, err := os.Stat(name)
		switch {
		case err == nil && r.IntN(3) == 0:
			err = os.Remove(name)
		case err == nil && r.IntN(3) == 0:
			err = os.Rename(name, filepath.Join(filepath.Dir(name), "moved.yaml"))
		default:
			err = errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(randomContent(r)), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A lane that saw the commit before, and one that another process left it to, see
// what a lane sees that knows nothing.
func TestFiles_randomEdits(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // no secret
	loaded, problems := config.Load(ConfigFile, []byte(sharedEnvironments))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	url, clone := gitRepository(t, map[string]string{ConfigFile: sharedEnvironments})
	l := openLane(t, url)
	l.known.build, l.known.dir = "test", t.TempDir()
	for step := range 40 {
		editRandomly(t, r, clone)
		runGit(t, clone, "add", "-A")
		runGit(t, clone, "commit", "-qm", "edit", "--allow-empty")
		runGit(t, clone, "push", "-q", "origin", "main")
		head := fetchMain(t, l)
		for _, environments := range [][]string{loaded.Order(), {"dev"}} {
			knowing := treeAt(t, l, loaded, head, environments)
			want := treeAt(t, ignorant(l), loaded, head, environments)
			if diff := cmp.Diff(rewrites(t, want), rewrites(t, knowing), laneOptions()...); diff != "" {
				t.Fatalf("seed %d, step %d, %v: (-all files +differences)\n%s", seed, step, environments, diff)
			}
		}
		if r.IntN(4) == 0 { // go on as another process
			if err := l.known.save(); err != nil {
				t.Fatal(err)
			}
			l = withSurveys(l, &surveys{dir: l.known.dir, build: "test", open: map[string]*surveyor{}})
		}
	}
}

func laneOptions() []cmp.Option {
	return []cmp.Option{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b image.Repository) bool { return a == b })}
}

func withSurveys(l *lane, known *surveys) *lane {
	other := *l
	files := l.Files.(gitFiles) //nolint:forcetypeassert // it is ours
	files.known = known
	other.Files, other.known = files, known
	return &other
}

// ignorant is the lane without what it saw before.
func ignorant(l *lane) *lane { return withSurveys(l, &surveys{open: map[string]*surveyor{}}) }

func treeAt(t *testing.T, l *lane, c *config.Config, commit string, environments []string) engine.Tree {
	t.Helper()
	tree, err := l.Files.At(t.Context(), c, commit, environments)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// rewritten is what a place says, and what is made of it.
type rewritten struct {
	Present promotion.Current
	Made    engine.Rewritten
}

func rewrites(t *testing.T, tree engine.Tree) map[promotion.Target]rewritten {
	t.Helper()
	all := map[promotion.Target]rewritten{}
	moves := []promotion.Move{
		{Component: "shop", To: image.Version{Tag: "3.0.0"}}, {Component: "web", To: image.Version{Tag: "3.0.0"}},
	}
	for target, present := range tree.Targets() {
		made, err := tree.Rewrite(t.Context(), target, moves)
		if err != nil {
			t.Fatal(err)
		}
		all[target] = rewritten{present, made}
	}
	return all
}

// What the last commit did not touch is not read again.
func TestFiles_readsWhatDiffersAlone(t *testing.T) {
	t.Parallel()
	url, clone := gitRepository(t, twoApplications())
	l := openLane(t, url)
	loaded, _ := config.Load(ConfigFile, []byte(twoEnvironments))
	before := treeAt(t, l, loaded, fetchMain(t, l), loaded.Order())
	if again := treeAt(t, l, loaded, fetchMain(t, l), loaded.Order()); again != before {
		t.Error("the same commit was looked at twice")
	}
	commitFiles(t, clone, map[string]string{"apps/shop/dev/web.yaml": "image: r.example.com/acme/web:1.9.0\n"}, "edit")
	runGit(t, clone, "push", "-q", "origin", "main")
	after := treeAt(t, l, loaded, fetchMain(t, l), loaded.Order())
	var changed []promotion.Target
	for target, present := range after.Targets() {
		if was := before.Targets()[target]; !slices.EqualFunc(was.References, present.References, sameReference) {
			changed = append(changed, target)
		}
	}
	want := []promotion.Target{{Environment: "dev", Application: "shop"}}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Error(diff)
	}
}

func sameReference(a, b edit.Reference) bool { return a == b }
