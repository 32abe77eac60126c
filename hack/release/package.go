package main

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"
)

//go:embed package/nfpm.yaml
var packageTemplate string

const systemdUnit = "config/systemd/promoter.service"

// packages builds the Debian and RPM packages with nfpm.
func (r release) packages(ctx context.Context) error {
	nfpm, err := tool(ctx, "nfpm")
	if err != nil {
		return err
	}
	manual := filepath.Join(r.work, "man1.gz")
	if err := compress(filepath.Join(r.work, "man1"), manual); err != nil {
		return fmt.Errorf("compress the manual pages: %w", err)
	}
	form, err := template.New("nfpm.yaml").Parse(packageTemplate)
	if err != nil {
		return err
	}
	for _, p := range platforms() {
		if p.system != "linux" {
			continue
		}
		var text bytes.Buffer
		err := form.Execute(&text, map[string]string{
			"Version": r.version, "Processor": p.processor, "Time": r.time.Format(time.RFC3339),
			"Binary": r.binary(p), "Work": r.work, "Manual": manual, "Unit": systemdUnit,
		})
		if err != nil {
			return err
		}
		config := filepath.Join(r.work, p.String()+".yaml")
		if err := os.WriteFile(config, text.Bytes(), 0o600); err != nil {
			return err
		}
		for _, kind := range []string{"deb", "rpm"} {
			target := filepath.Join(r.out, r.name(p)+"."+kind)
			if err := execute(ctx, []string{fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix())}, nfpm, "package", "--config", config, "--packager", kind, "--target", target); err != nil {
				return err
			}
		}
	}
	return nil
}

// compress packs each manual page as packages of distributions do, without a time.
func compress(from, to string) error {
	pages, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, page := range pages {
		content, err := os.ReadFile(filepath.Join(from, page.Name()))
		if err != nil {
			return err
		}
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		_, err = writer.Write(content)
		if err := errors.Join(err, writer.Close()); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, page.Name()+".gz"), packed.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}

//go:embed package/promoter.rb
var formulaTemplate string

// formula writes a Homebrew formula. It needs an address to download from.
func (r release) formula() error {
	if r.url == "" {
		fmt.Fprintln(os.Stderr, "release: no Homebrew formula, because -url is empty")
		return nil
	}
	form, err := template.New("promoter.rb").Parse(formulaTemplate)
	if err != nil {
		return err
	}
	sums := map[string]string{}
	urls := map[string]string{}
	for _, p := range platforms() {
		name := r.archiveName(p)
		if sums[p.String()], err = checksum(filepath.Join(r.out, name)); err != nil {
			return err
		}
		urls[p.String()] = strings.TrimSuffix(r.url, "/") + "/" + name
	}
	var text bytes.Buffer
	if err := form.Execute(&text, map[string]any{"Version": r.version, "Home": r.url, "URL": urls, "Sum": sums}); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "promoter.rb"), text.Bytes(), 0o644) //nolint:gosec // releases are public
}
