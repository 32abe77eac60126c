package imports

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/printable"
	"promoter/internal/suggest"
	"promoter/internal/suggest/bots"
)

// suggested imports a tool that updates images which it finds in files: as for a first config, but
// only with the images and files that the tool updates.
func suggested(d *draft, all objects) (*Imported, error) {
	found := d.found.Found
	found.Bots.Resources = slices.Clone(found.Bots.Resources)
	found.Author = "promoter import " + string(d.tool.name)
	writers := slices.DeleteFunc(slices.Clone(found.Bots.Writers), func(w bots.Writer) bool {
		return !strings.HasPrefix(w.Bot, d.tool.bot)
	})
	if len(writers) == 0 {
		return nil, nothing(d.tool)
	}
	found.References = nil
	updated := map[string]bool{} // files
	var others []edit.Reference
	for _, r := range d.found.References {
		switch {
		case r.Repository.IsZero():
		case slices.ContainsFunc(writers, func(w bots.Writer) bool { return w.Updates(r.Position.File, r.Repository) }):
			found.References = append(found.References, r)
			updated[r.Position.File] = true
		default:
			others = append(others, r)
		}
	}
	for _, r := range others { // promoter would also change the same image elsewhere
		followed := slices.ContainsFunc(found.References, func(u edit.Reference) bool { return u.Repository == r.Repository })
		switch {
		case followed && updated[r.Position.File]:
			d.note(r.Position, r.Repository.Familiar()+" is not updated here by "+d.tool.title+
				"; promoter updates every reference in a file")
		case followed:
			d.note(r.Position, r.Repository.Familiar()+" is not updated here by "+d.tool.title+", so the file is excluded")
			found.Bots.Resources = union(found.Bots.Resources, r.Position.File)
		}
	}
	for _, source := range found.Bots.Unread {
		d.note(edit.Position{}, source+" cannot be read, so nothing of it is imported")
	}
	d.tool.unmatched(d, all)
	for _, n := range sortNotes(d.notes) {
		found.Notes = append(found.Notes, n.String())
	}
	suggestion, err := suggest.Config(found)
	if errors.Is(err, suggest.ErrNothing) {
		return nil, fault.Wrap(fault.NotFound,
			errors.Join(ErrNothing, errors.New(d.tool.title+" updates no image in the files of this folder")))
	}
	if err != nil {
		return nil, err
	}
	imported := &Imported{Text: suggestion.Text, Notes: d.notes}
	var frozen []string
	for _, c := range suggestion.Components {
		if c.Off == "" {
			imported.Components = append(imported.Components, c.Name)
		}
		if c.Frozen() {
			frozen = append(frozen, c.Name)
		}
	}
	if len(frozen) > 0 {
		imported.Notes = append(imported.Notes, Note{Text: fmt.Sprintf(
			"%d of %d components keep the tags of the files, because what %s selects has no equivalent, see the comments beside them: %s",
			len(frozen), len(suggestion.Components), d.tool.title, printable.First(frozen, maxListed, ", and"))})
	}
	for _, e := range suggestion.Environments {
		imported.Environments = append(imported.Environments, e.Name)
	}
	if _, problems := config.Load(config.FileName, []byte(imported.Text)); problems.Err() != nil {
		return nil, fault.New(fault.Internal, "the config does not load: %w", problems.Err())
	}
	return imported, nil
}

// maxListed is how many names a note lists.
const maxListed = 6

const (
	fluxGroup         = "image.toolkit.fluxcd.io"
	imageUpdaterGroup = "argocd-image-updater.argoproj.io"
)

// fluxNotes adds notes about what the objects of Flux have and promoter does in another way.
func fluxNotes(d *draft, all objects) {
	type automation struct {
		_   without `without:"interval sourceRef suspend update policySelector gitRepositoryRef"`
		Git struct {
			Checkout struct {
				Ref struct {
					Branch string `yaml:"branch"`
				} `yaml:"ref"`
			} `yaml:"checkout"`
			Commit struct {
				_               without   `without:"author messageTemplateValues"`
				SigningKey      yaml.Node `yaml:"signingKey"`
				MessageTemplate yaml.Node `yaml:"messageTemplate"`
			} `yaml:"commit"`
			Push struct {
				_       without `without:"options"`
				Branch  string  `yaml:"branch"`
				Refspec string  `yaml:"refspec"`
			} `yaml:"push"`
		} `yaml:"git"`
	}
	for _, o := range all.of(fluxGroup, "ImageUpdateAutomation") {
		spec, ok := decode[automation](d, o)
		if !ok {
			continue
		}
		if g := spec.Git; g.Push.Branch == "" || g.Push.Branch == g.Checkout.Ref.Branch {
			d.note(o.at(nil), o.title()+
				" pushes to the branch that Flux reads; here each change is a pull request first: land: push pushes")
		}
		if message := spec.Git.Commit.MessageTemplate; !message.IsZero() {
			d.note(o.at(&message), o.title()+": messageTemplate has no match: commits of promoter have a fixed form")
		}
		if key := spec.Git.Commit.SigningKey; !key.IsZero() {
			d.note(o.at(&key), o.title()+": a signing key is set in the server file: see docs/guides/signed-commits.md")
		}
	}
	type policy struct {
		_                     without `without:"imageRepositoryRef filterTags policy interval suspend"`
		DigestReflectionPolic string  `yaml:"digestReflectionPolicy"`
	}
	for _, o := range all.of(fluxGroup, "ImagePolicy") {
		spec, ok := decode[policy](d, o)
		if ok && spec.DigestReflectionPolic == "Always" {
			d.note(o.at(nil), o.title()+
				": digestReflectionPolicy Always follows a tag whose digest changes: pin: tag+digest writes digests")
		}
	}
}

// knownAnnotations of Argo CD Image Updater are read by package bots, or are about the tool itself.
// A name before the first dot is that of an image.
var knownAnnotations = []string{
	"image-list", "update-strategy", "allow-tags", "ignore-tags", "pull-secret", "force-update", "git-repository",
	"git-branch", "write-back-target",
}

// imageUpdater is the spec of an ImageUpdater.
// https://argocd-image-updater.readthedocs.io/en/stable/configuration/applications/
type imageUpdater struct {
	_                    without         `without:"namespace"`
	CommonUpdateSettings updateSettings  `yaml:"commonUpdateSettings"`
	WriteBackConfig      writeBackConfig `yaml:"writeBackConfig"`
	ApplicationRefs      []struct {
		_                    without         `without:"labelSelectors useAnnotations"`
		NamePattern          string          `yaml:"namePattern"`
		CommonUpdateSettings updateSettings  `yaml:"commonUpdateSettings"`
		WriteBackConfig      writeBackConfig `yaml:"writeBackConfig"`
		Images               []struct {
			_                    without        `without:"alias imageName manifestTargets"`
			CommonUpdateSettings updateSettings `yaml:"commonUpdateSettings"`
		} `yaml:"images"`
	} `yaml:"applicationRefs"`
}

type updateSettings struct {
	_ without `without:"updateStrategy allowTags ignoreTags forceUpdate pullSecret"`
}

type writeBackConfig struct {
	Method    string `yaml:"method"`
	GitConfig struct {
		_ without `without:"repository branch writeBackTarget pullRequest"`
	} `yaml:"gitConfig"`
}

// noteMethod notes that a tool writes to the cluster, and promoter to files.
func noteMethod(d *draft, o object, method string) {
	if method != "" && !strings.HasPrefix(method, "git") {
		d.note(o.at(nil), o.title()+": write-back-method "+method+" changes the Application in the cluster; here the files change")
	}
}

// imageUpdaterNotes adds notes about annotations without a match.
func imageUpdaterNotes(d *draft, all objects) {
	for _, o := range all.of(imageUpdaterGroup, "ImageUpdater") {
		if spec, ok := decode[imageUpdater](d, o); ok {
			noteMethod(d, o, spec.WriteBackConfig.Method)
			var patterns []string
			for _, a := range spec.ApplicationRefs {
				noteMethod(d, o, a.WriteBackConfig.Method)
				patterns = union(patterns, a.NamePattern)
			}
			d.note(o.at(nil), o.title()+": which files the Applications "+strings.Join(patterns, ", ")+
				" have is not read, so every file with one of the images counts: check paths")
		}
	}
	for _, o := range all {
		for _, key := range sortedKeys(o.annotations) {
			name, is := strings.CutPrefix(key, imageUpdaterGroup+"/")
			if !is {
				continue
			}
			setting := name[strings.LastIndex(name, ".")+1:]
			switch {
			case name == "write-back-method":
				noteMethod(d, o, o.annotations[key])
			case strings.Contains(name, ".helm.image-"), strings.Contains(name, ".kustomize.image-name"):
				// promoter finds these values in the files
			case !slices.Contains(knownAnnotations, setting):
				d.note(o.at(nil), o.title()+": the annotation "+name+" has no match")
			}
		}
	}
}

// knownRenovate are settings of Renovate that package bots reads, or that are about Renovate alone.
var knownRenovate = map[string]string{
	"$schema": "", "description": "", "enabledManagers": "", "packageRules": "", "ignoreDeps": "", "enabled": "",
	"branchPrefix": "", "commitMessagePrefix": "",
	"dependencyDashboard": "", "kubernetes": "", "helm-values": "", "kustomize": "", "flux": "", "argocd": "", "helmv3": "",
	"extends":           "presets are not read: look for rules about Docker images there",
	"schedule":          "gates.windows can replace it",
	"timezone":          "it is timeZone of a window",
	"automerge":         "land: automerge merges pull requests",
	"prConcurrentLimit": "pullRequest.limit limits the open pull requests of an environment",
	"minimumReleaseAge": "select.minAge is the same, for each component",
	"labels":            "pullRequest.labels is the same",
	"reviewers":         "pullRequest.reviewers is the same",
	"pinDigests":        "pin: tag+digest writes digests",
}

// renovateNotes adds notes about settings without a match.
func renovateNotes(d *draft, _ objects) {
	for _, file := range sortedKeys(d.found.Settings) {
		top, rules := bots.RenovateSettings(file, d.found.Settings[file])
		for _, setting := range top {
			text, known := knownRenovate[setting.Name]
			at := edit.Position{File: file, Line: setting.Line, Column: setting.Column}
			switch {
			case !known:
				d.note(at, setting.Name+" has no match")
			case text != "":
				d.note(at, setting.Name+": "+text)
			}
		}
		noted := map[string]bool{}
		for _, setting := range rules {
			text, known := ruleSettings[setting.Name]
			text = cmp.Or(text, knownRenovate[setting.Name])
			if noted[setting.Name] || known && text == "" {
				continue
			}
			noted[setting.Name] = true
			text = cmp.Or(text, "no match")
			d.note(edit.Position{File: file, Line: setting.Line, Column: setting.Column}, "packageRules with "+setting.Name+": "+text)
		}
	}
}

// ruleSettings are settings in package rules that are about Renovate alone, or mean something else
// than for all packages.
var ruleSettings = map[string]string{
	"description": "", "commitMessageTopic": "", "commitMessageExtra": "", "commitMessagePrefix": "",
	"additionalBranchPrefix": "", "branchPrefix": "", "group": "", "groupSlug": "",
	"ignoreTests":      "gates.checks names the checks that must pass",
	"automergeType":    "land: automerge merges pull requests, land: push pushes",
	"groupName":        "pullRequest.group joins the applications of an environment; the images of one application are promoted together",
	"addLabels":        "pullRequest.labels is for all versions",
	"labels":           "pullRequest.labels is for all versions",
	"minimumGroupSize": "no match",
}
