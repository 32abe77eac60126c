package updater

import (
	"go.yaml.in/yaml/v3"

	"promoter/internal/edit"
)

// analysis is one file with all that the shapes found in it.
type analysis struct {
	stream   *stream // nil: the file was not parsed
	sites    []site
	refusals []edit.Refusal
	notes    []Note
	waiting  bool // for a source in another file
}

// analyse reads and parses a file, if it may hold a reference, and asks the
// shapes.
func (i *Inventory) analyse(file File) analysis {
	content, refusal := i.updater.read(file)
	if refusal != nil {
		return analysis{refusals: []edit.Refusal{*refusal}}
	}
	if content == nil {
		return analysis{}
	}
	parsed, err := newStream(content)
	if err != nil {
		return analysis{refusals: []edit.Refusal{{File: file.Path, Reason: "not valid YAML: " + err.Error()}}}
	}
	return i.find(file.Path, parsed)
}

// find asks the shapes about a parsed file.
func (i *Inventory) find(file string, parsed *stream) analysis {
	f := &finder{
		follower: i.updater.follower, shapes: i.updater.shapes, sources: i.sources, path: file,
		stream: parsed, markers: findMarkers(&parsed.text), claimed: map[*yaml.Node]bool{},
	}
	for _, document := range parsed.documents {
		f.walk(document)
	}
	return analysis{stream: parsed, sites: f.sites, refusals: f.refusals, notes: f.notes, waiting: f.waiting}
}
