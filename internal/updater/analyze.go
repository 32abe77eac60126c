package updater

import (
	"bytes"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"promoter/internal/edit"
)

// analysis is the result of analyzing one file.
type analysis struct {
	stream   *stream // nil if the file was not read
	template bool    // the stream has lines but no documents
	sites    []site
	refusals []edit.Refusal
	notes    []Note
	declared []declaration
	asks     bool // needs a source that another file may declare
}

// analyze reads a file, parses it if it may contain a reference, and runs the
// shapes on it.
func (i *Inventory) analyze(file File) analysis {
	content, refusal := i.updater.read(file)
	if refusal != nil {
		return analysis{refusals: []edit.Refusal{*refusal}}
	}
	if content == nil {
		return analysis{}
	}
	kind := i.updater.kinds.of(file.Path)
	if kind == kindTemplate {
		return i.findInTemplate(file.Path, content)
	}
	parsed, err := newStream(content)
	switch {
	case err == nil:
		return i.find(file.Path, parsed)
	case bytes.Contains(content, []byte("{{")):
		return i.findInTemplate(file.Path, content)
	case kind == kindManifest && isJSON(file.Path) && !i.updater.mayHold(file.Path, content):
		return analysis{}
	case kind == kindManifest:
		return analysis{refusals: []edit.Refusal{refuseSyntax(file.Path, "not valid YAML: ", err)}}
	case len(i.updater.writes(file.Path)) > 0:
		return analysis{refusals: []edit.Refusal{refuseSyntax(file.Path, "write: the file is neither YAML nor JSON: ", err)}}
	default:
		return i.findInUnknown(file.Path, content, err)
	}
}

// find runs the shapes on a parsed file.
func (i *Inventory) find(file string, parsed *stream) analysis {
	f := i.newFinder(file, parsed)
	f.addWrites(i.updater.writes(file))
	for _, document := range parsed.documents {
		f.walk(document)
	}
	f.settle()
	return f.analysis()
}

// findInUnknown handles a file of unknown kind that does not parse. The file is
// refused only if it appears to contain a reference.
func (i *Inventory) findInUnknown(file string, content []byte, problem error) analysis {
	found := i.findInTemplate(file, content)
	refused := analysis{}
	for _, s := range found.sites {
		refused.refusals = append(refused.refusals, edit.Refusal{
			File: file, Line: s.parts()[0].scalar.position(file).Line, Component: s.followed.Component,
			Reason: "the file is not valid YAML: " + problem.Error(),
		})
	}
	return refused
}

func (i *Inventory) newFinder(file string, parsed *stream) *finder {
	return &finder{
		follower: i.updater.follower, shapes: i.updater.shapes, sources: i.sources, path: file,
		stream: parsed, claimed: map[*yaml.Node]bool{}, owners: map[*yaml.Node]string{},
	}
}

func (f *finder) analysis() analysis {
	return analysis{stream: f.stream, sites: f.sites, refusals: f.refusals, notes: f.notes, declared: f.declared, asks: f.asks}
}

// refuseSyntax refuses a file that does not parse, at the line given at the
// start of the parser's error: "line 25: could not find expected ':'".
func refuseSyntax(file, what string, err error) edit.Refusal {
	refusal := edit.Refusal{File: file, Line: 1, Reason: what + err.Error()}
	target, words, found := strings.Cut(err.Error(), ": ")
	if line, problem := strconv.Atoi(strings.TrimPrefix(target, "line ")); found && problem == nil && line > 0 {
		refusal.Line, refusal.Reason = line, what+words
	}
	return refusal
}
