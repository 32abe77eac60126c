package bots

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"promoter/internal/image"
)

// imageUpdaterGroup begins the annotations of Argo CD Image Updater up to v0.x, and the
// apiVersion of its resource since v1.0.
const imageUpdaterGroup = "argocd-image-updater.argoproj.io"

// updatedImage is one image that Argo CD Image Updater updates.
type updatedImage struct {
	spec     string // NAME[:CONSTRAINT]
	strategy string
	allow    string   // regexp:EXPRESSION, any, or empty
	ignore   []string // globs
}

// imageUpdater reads the annotations or the resource in a manifest.
// https://argocd-image-updater.readthedocs.io/en/v0.16.0/configuration/images/
// https://argocd-image-updater.readthedocs.io/en/stable/configuration/images/
func imageUpdater(file string, manifest *yaml.Node) (rules []Rule, writers []Writer) {
	if isImageUpdater(manifest) {
		return rulesOf(file, "remove them from the images of this ImageUpdater", imagesOfResource(manifest), nil)
	}
	folders := map[*yaml.Node][]string{} // by annotations
	mappings(manifest, func(application *yaml.Node) {
		if annotations := get(application, "metadata", "annotations"); annotations != nil {
			folders[annotations] = foldersOf(manifest, annotations, get(application, "spec"))
		}
	})
	mappings(manifest, func(annotations *yaml.Node) {
		if text(annotations, imageUpdaterGroup+"/image-list") != "" {
			one, writer := rulesOf(file, "remove them from the annotation "+imageUpdaterGroup+"/image-list",
				imagesOfAnnotations(annotations), folders[annotations])
			rules, writers = append(rules, one...), append(writers, writer...)
		}
	})
	return rules, writers
}

// foldersOf returns the folders, or beginnings of paths, with the files of an Application, which is
// in a manifest or is the template of one. None: they are not known.
func foldersOf(manifest, annotations, spec *yaml.Node) (folders []string) {
	var sources []string
	for _, source := range append(items(spec, "sources"), get(spec, "source")) {
		if folder := text(source, "path"); folder != "" {
			sources = append(sources, folder)
		}
	}
	_, target, _ := strings.Cut(text(annotations, imageUpdaterGroup+"/write-back-target"), ":")
	switch {
	case strings.HasPrefix(target, "/"):
		sources = append(sources, target)
	case target != "":
		for _, folder := range slices.Clone(sources) {
			sources = append(sources, folder+"/"+target)
		}
	}
	for _, source := range sources {
		if begin, templated := beginning(source, "{{"); begin != "" {
			folders = append(folders, begin)
		} else if templated {
			folders = append(folders, generated(manifest)...)
		} else {
			return nil // the root of the repository
		}
	}
	return folders
}

// generated returns where the folders and files of the Git generators of an ApplicationSet are.
func generated(manifest *yaml.Node) (folders []string) {
	mappings(get(manifest, "spec"), func(generator *yaml.Node) {
		for _, one := range append(items(generator, "directories"), items(generator, "files")...) {
			if begin, _ := beginning(text(one, "path"), "*"); begin != "" && text(one, "exclude") != "true" {
				folders = append(folders, begin)
			}
		}
	})
	return folders
}

// beginning returns the part of a path before a mark, with the slash there, and whether it has the
// mark.
func beginning(name, mark string) (begin string, cut bool) {
	begin, _, cut = strings.Cut(name, mark)
	isFolder := strings.HasSuffix(begin, "/")
	begin = strings.TrimPrefix(path.Clean("/"+begin), "/")
	if cut && isFolder && begin != "" {
		begin += "/"
	}
	return begin, cut
}

// below reports whether a file is one of some paths, or below one.
func below(file string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		return file == folder || strings.HasPrefix(file, strings.TrimSuffix(folder, "/")+"/")
	})
}

// isImageUpdater reports whether a manifest is the resource of Argo CD Image Updater.
func isImageUpdater(manifest *yaml.Node) bool {
	return text(manifest, "kind") == "ImageUpdater" && strings.HasPrefix(text(manifest, "apiVersion"), imageUpdaterGroup+"/")
}

func imagesOfAnnotations(annotations *yaml.Node) (all []updatedImage) {
	for spec := range strings.SplitSeq(text(annotations, imageUpdaterGroup+"/image-list"), ",") {
		one, alias := updatedImage{spec: strings.TrimSpace(spec)}, ""
		if i := strings.IndexAny(one.spec, "=:/"); i >= 0 && one.spec[i] == '=' {
			alias, one.spec = one.spec[:i], one.spec[i+1:]
		}
		setting := func(name string) string {
			own, common := imageUpdaterGroup+"/"+alias+"."+name, imageUpdaterGroup+"/"+name
			if setting := text(annotations, own); setting != "" {
				return setting
			}
			return text(annotations, common)
		}
		one.strategy, one.allow = setting("update-strategy"), setting("allow-tags")
		one.ignore = strings.Split(setting("ignore-tags"), ",")
		all = append(all, one)
	}
	return all
}

// imagesOfResource reads an ImageUpdater. Settings of an image take precedence over those
// of its applications, and those over the ones of the resource.
func imagesOfResource(manifest *yaml.Node) (all []updatedImage) {
	spec := get(manifest, "spec")
	for _, applications := range items(spec, "applicationRefs") {
		for _, listed := range items(applications, "images") {
			one := updatedImage{spec: text(listed, "imageName")}
			for _, level := range []*yaml.Node{listed, applications, spec} {
				settings := get(level, "commonUpdateSettings")
				one.strategy = cmp.Or(one.strategy, text(settings, "updateStrategy"))
				one.allow = cmp.Or(one.allow, text(settings, "allowTags"))
				if len(one.ignore) == 0 {
					one.ignore = texts(settings, "ignoreTags")
				}
			}
			all = append(all, one)
		}
	}
	return all
}

// rulesOf returns what the tool selects of images, and that it writes them below folders; none: in
// every file.
func rulesOf(file, off string, images []updatedImage, folders []string) (rules []Rule, writers []Writer) {
	where := source("Argo CD Image Updater", file)
	var updated []image.Repository
	for _, one := range images {
		name, constraint := one.spec, ""
		if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
			name, constraint = name[:i], name[i+1:]
		}
		repository, err := image.ParseRepository(name)
		if err != nil || slices.Contains(one.ignore, "*") { // ignores all tags, so it is turned off
			continue
		}
		updated = append(updated, repository)
		rule := one.rule(constraint)
		rule.Source, rule.Applies = where, only(repository)
		rules = append(rules, rule)
	}
	if len(updated) > 0 {
		writers = append(writers, Writer{
			Bot:  "Argo CD Image Updater",
			File: file,
			Updates: func(name string, r image.Repository) bool {
				return slices.Contains(updated, r) && (len(folders) == 0 || below(name, folders))
			},
			Off: func([]image.Repository) string { return off },
		})
	}
	return rules, writers
}

// rule translates the settings of an image.
func (u updatedImage) rule(constraint string) (rule Rule) {
	filter, exact := strings.CutPrefix(u.allow, "regexp:")
	switch {
	case exact:
	case u.allow == "" || u.allow == "any":
		filter = ""
	default:
		return Rule{Problem: "allow-tags is no regular expression"}
	}
	for _, pattern := range u.ignore {
		if pattern = strings.TrimSpace(pattern); pattern != "" {
			if _, err := path.Match(pattern, ""); err != nil || strings.ContainsAny(pattern, `[\`) {
				return Rule{Problem: "ignore-tags is no plain glob"}
			}
			rule.Exclude = append(rule.Exclude, fromGlob(pattern))
		}
	}
	slices.Sort(rule.Exclude)
	s := image.Selection{Exclude: rule.Exclude}
	switch u.strategy {
	case "newest-build", "latest":
		s.Newest = cmp.Or(filter, ".*")
	case "alphabetical", "name":
		s.Alphabetical = cmp.Or(filter, ".*")
	case "digest":
		s = image.Selection{Tag: cmp.Or(constraint, "latest")}
	default: // semver, also for unknown names
		if constraint == "" { // any version: what is selected otherwise is less
			rule.Filter = filter
			return rule
		}
		s.Semver, s.Filter = constraint, filter
	}
	return Rule{Selection: s}
}

// fromGlob returns the regular expression of a glob with * and ?.
func fromGlob(pattern string) string {
	return "^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern)) + "$"
}
