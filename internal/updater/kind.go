package updater

import (
	"path"
	"strings"
)

// fileKind is the kind of a file, derived from its name.
type fileKind string

// File kinds.
const (
	kindManifest fileKind = "manifest" // YAML or JSON by its extension
	kindTemplate fileKind = "template" // a template by its extension
	kindUnknown  fileKind = "unknown"  // read, and used if it parses
	kindOther    fileKind = "other"    // contains no manifests; not read
)

// kinds lists the names and extensions of each kind, the name first. All other
// files are of unknown kind.
var kinds = map[fileKind]string{
	kindManifest: ".yaml .yml .json",
	kindTemplate: ".tpl .gotmpl .tmpl",
	kindOther: ".md .markdown .mdx .rst .adoc .txt .log .csv .tsv .html .htm .css .scss .xml .svg " +
		".sh .bash .zsh .fish .ps1 .bat .cmd .awk .sed .mk .go .mod .sum .work .py .pyi .ipynb .rb .erb .js .mjs .cjs " +
		".jsx .ts .tsx .java .kt .kts .gradle .groovy .scala .c .h .cc .cpp .hpp .cs .rs .php .pl .lua .swift .dart .ex " +
		".exs .erl .hs .clj .r .sql .proto .graphql .tf .tfvars .hcl .nomad .jsonnet .libsonnet .cue .dhall .star .bzl " +
		".bazel .rego .nix .toml .ini .cfg .conf .properties .env .lock .pem .crt .cer .key .pub .asc .sig .gpg .age " +
		".png .jpg .jpeg .gif .ico .webp .bmp .pdf .mp4 .mov .webm .mp3 .wav .woff .woff2 .ttf .otf .eot " +
		".zip .gz .tgz .tar .bz2 .xz .zst .7z .jar .war .class .so .dll .dylib .exe .bin .wasm .o .a .db .sqlite .pyc " +
		".drawio .excalidraw .patch .diff .prettierignore .helmignore .gitignore .gitattributes .gitmodules " +
		".dockerignore .editorconfig .sops .jsonl .ndjson .map .snap .tape .cast " +
		"package-lock.json npm-shrinkwrap.json pnpm-lock.yaml " +
		"dockerfile containerfile makefile gnumakefile jenkinsfile vagrantfile tiltfile earthfile justfile rakefile gemfile " +
		"procfile brewfile license licence notice copying codeowners owners authors maintainers readme changelog version",
}

// ownConfig is promoter's own file, which names repositories but contains no
// references.
const ownConfig = ".promoter.yaml"

// kindTable maps extensions and names to kinds.
type kindTable map[string]fileKind

func newKindTable() kindTable {
	table := kindTable{}
	for kind, names := range kinds {
		for name := range strings.FieldsSeq(names) {
			table[name] = kind
		}
	}
	return table
}

// of returns the kind for a file name.
func (t kindTable) of(file string) fileKind {
	name := strings.ToLower(path.Base(file))
	switch name {
	case ownConfig:
		return kindOther
	case chartLock:
		return kindManifest
	}
	if stem, _, found := strings.Cut(name, "."); found && (stem == "dockerfile" || stem == "containerfile") {
		return kindOther
	}
	if kind, found := t[name]; found {
		return kind
	}
	if kind, found := t[path.Ext(name)]; found {
		return kind
	}
	return kindUnknown
}

// isJSON reports whether the file name indicates JSON. Many tools keep settings
// as JSON with comments, which no manifest parser reads.
func isJSON(file string) bool { return strings.EqualFold(path.Ext(file), ".json") }
