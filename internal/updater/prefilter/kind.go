package prefilter

import (
	"path"
	"strings"
)

// Kind is the kind of a file, derived from its name.
type Kind string

// The kinds of files.
const (
	Manifest Kind = "manifest" // YAML or JSON by its extension
	Template Kind = "template" // a template by its extension
	Env      Kind = "env"      // lines of KEY=VALUE
	Marked   Kind = "marked"   // text of other languages; read for markers
	Unknown  Kind = "unknown"  // read, and used if it parses
	Other    Kind = "other"    // text that contains no manifests; read only to find mentions
	Skipped  Kind = "skipped"  // never read
)

// kinds lists the extensions and full names of each kind, in lower case. All other
// files are of unknown kind. Chart.lock is a manifest without the extension; promoter's
// own file names repositories but contains no references.
var kinds = map[Kind]string{
	Manifest: ".yaml .yml .json chart.lock",
	Template: ".tpl .gotmpl .tmpl",
	Env:      ".env .properties .envrc",
	Marked:   ".tf .tfvars .hcl .nomad .jsonnet .libsonnet .cue .dhall .star .bzl .nix .toml .ini .cfg .conf .pkl .k",
	Other: prose + " .css .scss .xml .svg " +
		".sh .bash .zsh .fish .ps1 .bat .cmd .awk .sed .mk .go .mod .sum .work .py .pyi .ipynb .rb .erb .js .mjs .cjs " +
		".jsx .ts .tsx .java .kt .kts .gradle .groovy .scala .c .h .cc .cpp .hpp .cs .rs .php .pl .lua .swift .dart .ex " +
		".exs .erl .hs .clj .r .sql .proto .graphql " +
		".bazel .rego .lock " +
		".drawio .excalidraw .patch .diff .prettierignore .helmignore .gitignore .gitattributes .gitmodules " +
		".dockerignore .editorconfig .sops .jsonl .ndjson .map .snap .tape .cast " +
		"dockerfile containerfile makefile gnumakefile jenkinsfile vagrantfile tiltfile earthfile justfile rakefile gemfile " +
		"procfile brewfile version",
	Skipped: ".pem .crt .cer .key .pub .asc .sig .gpg .age " +
		".png .jpg .jpeg .gif .ico .webp .bmp .pdf .mp4 .mov .webm .mp3 .wav .woff .woff2 .ttf .otf .eot " +
		".zip .gz .tgz .tar .bz2 .xz .zst .7z .jar .war .class .so .dll .dylib .exe .bin .wasm .o .a .db .sqlite .pyc " +
		"package-lock.json npm-shrinkwrap.json pnpm-lock.yaml .promoter.yaml",
}

// prose lists what users read.
const prose = ".md .markdown .mdx .rst .adoc .txt .log .csv .tsv .html .htm " +
	"license licence notice copying codeowners owners authors maintainers readme changelog"

// IsProse reports whether a file is a document, by its path.
func IsProse(file string) bool {
	name := strings.ToLower(path.Base(file))
	if inner, extension := strings.TrimSuffix(name, path.Ext(name)), path.Ext(name); strings.Contains(kinds[Template]+" ", extension+" ") {
		name = inner
	}
	for entry := range strings.FieldsSeq(prose) {
		if entry == name || entry == path.Ext(name) {
			return true
		}
	}
	return false
}

// byName maps the extensions and names of all kinds to them.
func byName() map[string]Kind {
	table := map[string]Kind{}
	for kind, list := range kinds {
		for name := range strings.FieldsSeq(list) {
			table[name] = kind
		}
	}
	return table
}

// Kind returns the kind of a file by its path.
func (f *Filter) Kind(file string) Kind {
	name := strings.ToLower(path.Base(file))
	if stem, _, found := strings.Cut(name, "."); found && (stem == "dockerfile" || stem == "containerfile") {
		return Other
	}
	if kind, found := f.byName[name]; found {
		return kind
	}
	if rest, found := strings.CutPrefix(name, ".env."); found {
		return envOf(rest)
	}
	kind, found := f.byName[path.Ext(name)]
	switch {
	case kind == Template && isText(f.byName[path.Ext(strings.TrimSuffix(name, path.Ext(name)))]):
		return Other // the template of a document or a script, such as README.md.gotmpl
	case found:
		return kind
	}
	return Unknown
}

// isText reports whether a kind is neither YAML nor JSON.
func isText(kind Kind) bool { return kind == Other || kind == Env || kind == Marked }

// envOf returns the kind of the file .env.NAME. An example is copied by users, and never deployed.
func envOf(name string) Kind {
	switch name {
	case "example", "sample", "template", "tmpl", "dist":
		return Other
	default:
		return Env
	}
}
