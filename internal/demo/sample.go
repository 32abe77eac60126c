package demo

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// release is one state of the two images and the chart of the sample.
type release struct {
	web, worker, chart version
	created            time.Time
}

type version struct{ tag, digest string }

func (r release) String() string {
	return "web " + r.web.tag + ", worker " + r.worker.tag + " and the chart " + r.chart.tag
}

// firstRelease is what the repository holds when the story begins.
func firstRelease() release {
	return release{
		web:     version{tag: "1.4.2"},
		worker:  version{tag: "main-3f9c2ab"},
		chart:   version{tag: "3.1.0"},
		created: time.Date(2026, time.March, 2, 9, 30, 0, 0, time.UTC),
	}
}

// secondRelease is what the pipeline pushes.
func secondRelease() release {
	return release{
		web:     version{tag: "1.5.0"},
		worker:  version{tag: "main-a81d04e"},
		chart:   version{tag: "3.2.0"},
		created: time.Date(2026, time.March, 9, 16, 5, 0, 0, time.UTC),
	}
}

// tree is the content of the repository by path.
type tree map[string]string

// tree writes the sample by hand for what dev and staging hold: what the verbs
// must arrive at, made without them.
func (r *registry) tree(dev, staging release) tree {
	t := tree{".promoter.yaml": r.fill(config, release{})}
	for environment, rel := range map[string]release{"dev": dev, "staging": staging} {
		t["apps/shop/overlays/"+environment+"/kustomization.yaml"] = r.fill(kustomization, rel)
		t["apps/shop/overlays/"+environment+"/worker.yaml"] = r.fill(manifest, rel)
		t["apps/shop/charts/"+environment+"/values.yaml"] = r.fill(values, rel)
		t["clusters/"+environment+"/shop/chart.yaml"] = r.fill(chartSource, rel)
		t["clusters/"+environment+"/shop/helmrelease.yaml"] = r.fill(helmRelease, rel)
	}
	return t
}

func (r *registry) fill(template string, rel release) string {
	return strings.NewReplacer(
		"HOST", r.host,
		"WEB_TAG", rel.web.tag, "WEB_DIGEST", rel.web.digest,
		"CHART_TAG", rel.chart.tag,
		"WORKER_TAG", rel.worker.tag, "WORKER_DIGEST", rel.worker.digest,
	).Replace(template)
}

func (t tree) names() []string { return slices.Sorted(maps.Keys(t)) }

func (t tree) write(dir string) error {
	for name, content := range t {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make the sample: %w", err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return fmt.Errorf("make the sample: %w", err)
		}
	}
	return nil
}

// compare fails unless the folder holds exactly these files and bytes.
func (t tree) compare(dir string) error {
	var found int
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		found++
		return t.compareFile(dir, path)
	})
	if err == nil && found != len(t) {
		err = fmt.Errorf("promise broken: the repository has %d files, not %d", found, len(t))
	}
	return err
}

func (t tree) compareFile(dir, path string) error {
	relative, err := filepath.Rel(dir, path)
	if err != nil {
		return fmt.Errorf("compare the sample: %w", err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("compare the sample: %w", err)
	}
	want, ok := t[filepath.ToSlash(relative)]
	if !ok {
		return fmt.Errorf("promise broken: %s was not there before", relative)
	}
	if bytes.Equal(got, []byte(want)) {
		return nil
	}
	return fmt.Errorf("promise broken: %s is not what was promised; it holds\n%s\ninstead of\n%s", relative, got, want)
}
