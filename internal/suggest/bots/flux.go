package bots

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"promoter/internal/image"
)

// flux are the settings of Flux image automation. Those of one image may be in several
// files: an ImageRepository, an ImagePolicy, an ImageUpdateAutomation, and markers.
// https://fluxcd.io/flux/components/image/imagepolicies/
type flux struct {
	repositories map[string]image.Repository // by namespace and name
	policies     []fluxPolicy
	automations  []fluxAutomation
	marks        map[string][]string // the policies of markers, by file
}

type fluxPolicy struct {
	key        string // namespace and name
	repository string // namespace and name
	source     string
	selection  image.Selection
	problem    string
	isBare     bool // it has no policy: a patch of a kustomization adds it
}

// name returns the name after a colon. Its namespace may only be set by a kustomization.
func (p fluxPolicy) name() string { return p.key[strings.Index(p.key, ":"):] }

type fluxAutomation struct{ name, file, path string }

// fluxMark is in the comment behind a value that Flux updates.
const fluxMark = `{"$imagepolicy":`

// mark matches the comment; the group is the policy.
var mark = regexp.MustCompile(`\{"\$imagepolicy":\s*"([^":]+:[^":]+)(?::\w+)?"\}`)

// readMarks records the markers of a file.
func (f *flux) readMarks(file string, content []byte) {
	for _, found := range mark.FindAllSubmatch(content, -1) {
		if f.marks == nil {
			f.marks = map[string][]string{}
		}
		f.marks[file] = append(f.marks[file], string(found[1]))
	}
}

// read reads one manifest.
func (f *flux) read(file string, manifest *yaml.Node) {
	if !strings.HasPrefix(text(manifest, "apiVersion"), "image.toolkit.fluxcd.io/") {
		return
	}
	kind := text(manifest, "kind")
	name := text(manifest, "metadata", "name")
	namespace := text(manifest, "metadata", "namespace")
	where := source("Flux's "+kind+" "+name, file)
	switch kind {
	case "ImageRepository":
		if repository, err := image.ParseRepository(text(manifest, "spec", "image")); err == nil {
			if f.repositories == nil {
				f.repositories = map[string]image.Repository{}
			}
			f.repositories[namespace+":"+name] = repository
		}
	case "ImagePolicy":
		reference := get(manifest, "spec", "imageRepositoryRef")
		p := fluxPolicy{key: namespace + ":" + name, source: where}
		p.repository = cmp.Or(text(reference, "namespace"), namespace) + ":" + text(reference, "name")
		p.selection, p.problem = fluxSelection(get(manifest, "spec"))
		p.isBare = get(manifest, "spec", "policy") == nil
		f.policies = append(f.policies, p)
	case "ImageUpdateAutomation":
		if text(manifest, "spec", "suspend") != "true" {
			f.automations = append(f.automations, fluxAutomation{
				name, file, strings.Trim(strings.TrimPrefix(text(manifest, "spec", "update", "path"), "."), "/"),
			})
		}
	}
}

// fluxSelection translates a policy.
func fluxSelection(spec *yaml.Node) (s image.Selection, problem string) {
	filter, ok := withVersion(text(spec, "filterTags", "pattern"), text(spec, "filterTags", "extract"))
	if !ok {
		return s, "it compares a part of the tag that is not one group of its pattern"
	}
	policy := get(spec, "policy")
	switch {
	case get(policy, "semver") != nil:
		return image.Selection{Semver: text(policy, "semver", "range"), Filter: filter}, ""
	case text(policy, "numerical", "order") == "desc" || text(policy, "alphabetical", "order") == "desc":
		return s, "it selects the lowest tag"
	case get(policy, "numerical") != nil:
		return image.Selection{Numeric: cmp.Or(filter, ".*")}, ""
	case get(policy, "alphabetical") != nil:
		return image.Selection{Alphabetical: cmp.Or(filter, ".*")}, ""
	case policy == nil:
		return s, "it has no policy in this file, a patch of a kustomization may add it"
	}
	return s, "its policy is unknown"
}

// extracted is one group of a pattern, by name or number.
var extracted = regexp.MustCompile(`^\$\{?(\w+)\}?$`)

// withVersion names the group that Flux compares version, as selections do. Without such
// a group, the whole tag is compared.
func withVersion(pattern, extract string) (string, bool) {
	if extract == "" || extract == "$0" || extract == "${0}" {
		return strings.NewReplacer("(?P<version>", "(?:", "(?<version>", "(?:").Replace(pattern), true
	}
	wanted := extracted.FindStringSubmatch(extract)
	expression, err := regexp.Compile(pattern)
	if wanted == nil || err != nil {
		return "", false
	}
	group := slices.Index(expression.SubexpNames(), wanted[1])
	if group < 0 && len(wanted[1]) == 1 {
		group = int(wanted[1][0] - '0')
	}
	starts := groups(pattern)
	if group < 1 || group > len(starts) {
		return "", false
	}
	at := starts[group-1]
	end := at + 1
	if strings.HasPrefix(pattern[end:], "?") { // a name
		end += strings.Index(pattern[end:], ">") + 1
	}
	return pattern[:at] + "(?P<version>" + pattern[end:], true
}

// groups returns where the capturing groups of a regular expression begin.
func groups(pattern string) (starts []int) {
	inClass := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case inClass:
			inClass = c != ']'
		case c == '[':
			inClass = true
		case c == '(' && (!strings.HasPrefix(pattern[i+1:], "?") || strings.HasPrefix(pattern[i+1:], "?P<") ||
			strings.HasPrefix(pattern[i+1:], "?<")):
			starts = append(starts, i)
		}
	}
	return starts
}

// setup joins what the manifests define.
func (f *flux) setup() (rules []Rule, writers []Writer) {
	slices.SortFunc(f.policies, func(a, b fluxPolicy) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.source, b.source)) })
	all := f.policies
	f.policies = slices.DeleteFunc(slices.Clone(all), func(p fluxPolicy) bool { // what kustomize builds from it is here too
		return p.isBare && slices.ContainsFunc(all, func(built fluxPolicy) bool { return !built.isBare && built.name() == p.name() })
	})
	for _, p := range f.policies {
		if repository, known := f.repositories[p.repository]; known {
			rules = append(rules, Rule{Source: p.source, Applies: only(repository), Selection: p.selection, Problem: p.problem})
		}
	}
	marked := map[string]map[image.Repository]bool{} // by file
	for _, p := range f.policies {
		for file, keys := range f.marks {
			repository, known := f.repositories[p.repository]
			if !known || !slices.ContainsFunc(keys, func(key string) bool { return strings.HasSuffix(key, p.name()) }) {
				continue
			}
			if marked[file] == nil {
				marked[file] = map[image.Repository]bool{}
			}
			marked[file][repository] = true
		}
	}
	slices.SortFunc(f.automations, func(a, b fluxAutomation) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.name, b.name))
	})
	for _, a := range f.automations {
		writers = append(writers, Writer{
			Bot:  "Flux's ImageUpdateAutomation " + a.name,
			File: a.file,
			Updates: func(file string, r image.Repository) bool {
				return marked[file][r] && (a.path == "" || strings.HasPrefix(file, a.path+"/"))
			},
			Off: func([]image.Repository) string {
				return "set spec.suspend: true there, or remove the $imagepolicy markers of these images"
			},
		})
	}
	return rules, writers
}
