// Package imports writes a .promoter.yaml that does what another tool was configured to do. It
// reads the tool's objects, annotations, or settings from the files of a folder.
//
// The config is never wider than its source: it accepts no tag, writes no file, and starts no
// promotion that the tool would not. What has no match, and what promoter does in a narrower way,
// is a note with its position, which is also a comment in the config. A field that this package
// does not know is such a note too, so that nothing is dropped silently.
package imports

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/scan"
	"promoter/internal/suggest"
	"promoter/internal/suggest/bots"
	"promoter/internal/updater"
)

// Tool is a tool whose configuration can be imported.
type Tool string

// The tools, by the names that the command takes.
const (
	Flux           Tool = "flux"
	ImageUpdater   Tool = "argocd-image-updater"
	Renovate       Tool = "renovate"
	Kargo          Tool = "kargo"
	AppStudio      Tool = "appstudio"
	GitOpsPromoter Tool = "gitops-promoter"
)

// tool is how one tool is imported.
type tool struct {
	name  Tool
	title string
	// build fills a draft from objects; nil: the tool updates images that it finds in files, so
	// that they are found like for a first config.
	build func(d *draft, all objects)
	// bot is how package bots names the tool, if build is nil.
	bot string
	// unmatched adds notes about settings of a tool with bot.
	unmatched func(d *draft, all objects)
	wanted    string // what is read, for a folder without it
}

// tools are all tools. To add one, add a row here with its own file.
func tools() []tool {
	return []tool{
		{
			name: Flux, title: "Flux image automation", bot: "Flux's", unmatched: fluxNotes,
			wanted: "ImagePolicy, ImageRepository, and ImageUpdateAutomation objects, and $imagepolicy markers",
		},
		{
			name: ImageUpdater, title: "Argo CD Image Updater", bot: "Argo CD Image Updater", unmatched: imageUpdaterNotes,
			wanted: "Applications with annotations argocd-image-updater.argoproj.io/, or ImageUpdater objects",
		},
		{name: Renovate, title: "Renovate", bot: "Renovate", unmatched: renovateNotes, wanted: "renovate.json, .renovaterc, or the like"},
		{name: Kargo, title: "Kargo", build: kargo, wanted: "Warehouse and Stage objects"},
		{name: AppStudio, title: "AppStudio", build: appStudio, wanted: "Component and Environment objects of appstudio.redhat.com"},
		{
			name: GitOpsPromoter, title: "GitOps Promoter", build: gitOpsPromoter,
			wanted: "a PromotionStrategy object, and the manifests with images",
		},
	}
}

// Tools returns the names of all tools.
func Tools() []Tool {
	var names []Tool
	for _, t := range tools() {
		names = append(names, t.name)
	}
	return names
}

// Note is something in the source that the config does not have, or has in a narrower way.
type Note struct {
	Position edit.Position // where it is in the source; zero: it is about all of it
	Text     string
}

// String returns the note as a line: "FILE:LINE:COLUMN: TEXT".
func (n Note) String() string {
	if n.Position.File == "" {
		return n.Text
	}
	return n.Position.String() + ": " + n.Text
}

// Imported is a config file and what it does not have.
type Imported struct {
	Text         string // the file, with comments
	Components   []string
	Environments []string
	Notes        []Note // in the order of the files
}

// ErrNothing reports that a folder has nothing of the tool.
var ErrNothing = errors.New("nothing to import was found")

// Found is the content of a folder.
type Found struct {
	suggest.Found
	// Settings are the files that may configure tools, by path.
	Settings map[string][]byte
}

// Config writes a config for what a tool is configured to do. The result always loads. ErrNothing
// is a NotFound fault; an unknown tool, or a source whose config does not load, is an Invalid one.
func Config(name Tool, found Found) (*Imported, error) {
	i := slices.IndexFunc(tools(), func(t tool) bool { return t.name == name })
	if i < 0 {
		return nil, fault.New(fault.Invalid, "%.100q cannot be imported: name one of %s", string(name), fault.List(Tools()))
	}
	t := tools()[i]
	d := &draft{tool: t, found: found}
	all := d.objectsOf(found.Settings)
	if t.build == nil {
		return suggested(d, all)
	}
	t.build(d, all)
	switch {
	case len(d.environments) == 0 && len(d.components)+len(d.notes) == 0:
		return nil, nothing(t)
	case len(d.environments) == 0:
		const advice = "so nothing shows where versions go: promoter init suggests a config from the manifests"
		return nil, fault.New(fault.Invalid, "%s has no environments in these files, %s (%s)", t.title, advice, withoutEnvironments(d))
	}
	if !slices.ContainsFunc(d.components, func(c component) bool { return c.off == "" }) {
		return nil, fault.New(fault.Invalid, "%s promotes nothing here that promoter can follow: %s", t.title, firstNote(d.notes))
	}
	text, err := d.render()
	if err != nil {
		return nil, err
	}
	if _, problems := config.Load(config.FileName, []byte(text)); problems.Err() != nil {
		return nil, fault.New(fault.Invalid, "the objects have no equivalent that is valid: %w", problems.Err())
	}
	imported := &Imported{Text: text, Notes: sortNotes(d.notes)}
	for _, c := range d.components {
		if c.off == "" {
			imported.Components = append(imported.Components, c.name)
		}
	}
	for _, e := range d.environments {
		imported.Environments = append(imported.Environments, e.name)
	}
	return imported, nil
}

func nothing(t tool) error {
	return fault.Wrap(fault.NotFound, fmt.Errorf("%w: import %s reads %s", ErrNothing, t.name, t.wanted))
}

// withoutEnvironments returns what there is of a tool without environments.
func withoutEnvironments(d *draft) string {
	if len(d.components) > 0 {
		return fmt.Sprintf("found %d components, such as %s", len(d.components), d.components[0].repository)
	}
	return firstNote(d.notes)
}

func firstNote(notes []Note) string {
	if len(notes) == 0 {
		return "it has no images"
	}
	return notes[0].String()
}

// maxSettings is the size in bytes of the largest file that configures a tool.
const maxSettings = 1 << 20

// Find reads image references and the configuration of other tools from files, of those up to a
// size in bytes; 0: the default.
func Find(ctx context.Context, files iter.Seq2[updater.File, error], maxFileSize int64) (found Found, err error) {
	found.Settings = map[string][]byte{}
	var mutex sync.Mutex // files are read at the same time
	watched := scan.Watch(files, bots.IsSettings, func(file string, content []byte) {
		if len(content) > maxSettings || !bots.MayConfigure(file, content) && !hasObjects(file, content) {
			return
		}
		mutex.Lock()
		defer mutex.Unlock()
		found.Settings[file] = bytes.Clone(content)
	})
	if found.References, found.Files, err = scan.All(ctx, watched, maxFileSize); err != nil {
		return found, err
	}
	found.Bots = bots.Read(found.Settings)
	return found, nil
}
