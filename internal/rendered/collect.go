package rendered

import (
	"bytes"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"promoter/internal/fault"
)

// kustomizationNames are the names of the file of a kustomization.
// https://github.com/kubernetes-sigs/kustomize/blob/master/api/konfig/general.go
var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

const chartName = "Chart.yaml"

// collect finds the roots that contain the changed files, and the files that these consist of.
// It returns those that must not be rendered with the reason.
func collect(before, after Tree, changed []string) (request, []Difference, error) {
	paths, err := after.Files()
	if err != nil {
		return request{}, nil, err
	}
	c := &collector{tree: after, paths: map[string]bool{}, sorted: paths, files: map[string][]byte{}}
	slices.Sort(c.sorted)
	for _, p := range paths {
		c.paths[p] = true
	}
	var wanted request
	var refused []Difference
	for _, root := range c.rootsOf(changed) {
		if len(wanted.Roots)+len(refused) == maxRoots {
			refused = append(refused,
				Difference{Root: root, Problem: fmt.Sprintf("more than %d kustomizations and charts change", maxRoots)})
			break
		}
		err := c.add(root)
		if kind := fault.KindOf(err); err != nil && kind != fault.Invalid && kind != fault.NotFound {
			return request{}, nil, err // it is no property of the files
		}
		if err != nil {
			refused = append(refused, Difference{Root: root, Problem: err.Error()})
			continue
		}
		wanted.Roots = append(wanted.Roots, root)
	}
	wanted.Before, wanted.After = c.files, map[string][]byte{}
	for _, p := range changed {
		now, used := c.files[p]
		if !used {
			continue
		}
		wanted.After[p] = now
		was, err := before.Read(p, maxFile)
		switch {
		case fault.KindOf(err) == fault.NotFound:
			delete(wanted.Before, p)
		case err != nil:
			return request{}, nil, err
		default:
			wanted.Before[p] = was
		}
	}
	return wanted, refused, nil
}

// collector collects files of one commit.
type collector struct {
	tree   Tree
	paths  map[string]bool // of all files
	sorted []string
	files  map[string][]byte
	size   int
}

// rootsOf returns for each changed file the nearest folder above it that is a kustomization or
// a chart. A chart below the folder charts of another one is a part of that.
func (c *collector) rootsOf(changed []string) []Root {
	var roots []Root
	for _, file := range changed {
		root, found := c.rootOf(file)
		if found && !slices.ContainsFunc(roots, func(r Root) bool { return r.Name() == root.Name() }) {
			roots = append(roots, root)
		}
	}
	return roots
}

func (c *collector) rootOf(file string) (Root, bool) {
	for folder := parent(file); ; folder = parent(folder) {
		if c.kustomizationIn(folder) != "" {
			return Root{Kind: Kustomize, Folder: folder}, true
		}
		if c.paths[path.Join(folder, chartName)] && !c.isSubchart(folder) {
			root := Root{Kind: Helm, Folder: folder}
			if parent(file) == folder && isValues(path.Base(file)) && path.Base(file) != "values.yaml" {
				root.Values = []string{file}
			}
			return root, true
		}
		if folder == "" {
			return Root{}, false
		}
	}
}

// isSubchart reports whether a chart is below the folder charts of another one.
func (c *collector) isSubchart(folder string) bool {
	charts := parent(folder)
	return path.Base(charts) == "charts" && c.paths[path.Join(parent(charts), chartName)]
}

// isValues reports whether a file beside Chart.yaml has values for the chart, such as
// values-prod.yaml or prod.values.yaml.
func isValues(name string) bool {
	return strings.Contains(strings.ToLower(name), "values") && (strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml"))
}

// parent returns the folder of a path; empty: the root of the repository.
func parent(p string) string {
	if dir := path.Dir(p); dir != "." {
		return dir
	}
	return ""
}

func (c *collector) kustomizationIn(folder string) string {
	for _, name := range kustomizationNames {
		if file := path.Join(folder, name); c.paths[file] {
			return file
		}
	}
	return ""
}

// add adds the files of a root.
func (c *collector) add(root Root) error {
	if root.Kind == Kustomize {
		return c.addKustomization(root.Folder)
	}
	prefix := ""
	if root.Folder != "" {
		prefix = root.Folder + "/"
	}
	for _, file := range c.sorted {
		if strings.HasPrefix(file, prefix) {
			if err := c.addFile(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// addKustomization adds a kustomization with all files and folders that it names. Any text of
// it that is a path of the tree counts: kustomize has many fields with paths, and more files
// than needed do no harm.
func (c *collector) addKustomization(folder string) error {
	file := c.kustomizationIn(folder)
	if _, known := c.files[file]; known {
		return nil
	}
	if err := c.addFile(file); err != nil {
		return err
	}
	var document yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(c.files[file])).Decode(&document); err != nil {
		return fault.New(fault.Invalid, "%s is not valid YAML%s", file, lineOf(err)) // the message can contain values
	}
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return fault.New(fault.Invalid, "%s is no kustomization", file)
	}
	fields := document.Content[0].Content
	for i := 0; i+1 < len(fields); i += 2 {
		if err := c.addField(file, folder, fields[i].Value, fields[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// resourceFields are the fields of a kustomization whose entries kustomize loads, also from
// the network.
// https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/
var resourceFields = []string{
	"resources", "bases", "components", "crds", "configurations", "patchesStrategicMerge",
}

// programFields are the fields that run a program or a plugin, or load a chart.
var programFields = []string{"helmCharts", "helmChartInflationGenerator", "helmGlobals", "generators", "transformers", "validators"}

func (c *collector) addField(file, folder, field string, value *yaml.Node) error {
	if slices.Contains(programFields, field) && len(value.Content) > 0 {
		return fault.New(fault.Invalid, "%s:%d: %s can run programs: it is not rendered", file, value.Line, field)
	}
	for _, text := range scalars(value, nil) {
		loaded := slices.Contains(resourceFields, field)
		address := loaded || strings.Contains(text.Value, "://")
		if isRemote(text.Value) && address && !strings.Contains(text.Value, "\n") && field != "images" {
			name := "what " + field + " names" // it can be the value of a secret
			if loaded && !strings.ContainsAny(text.Value, "{ ") {
				name = shown(withoutCredentials(text.Value))
			}
			return fault.New(fault.Invalid, "%s:%d: %s is not in this repository: it is not rendered", file, text.Line, name)
		}
		candidate := text.Value
		if _, source, named := strings.Cut(candidate, "="); named { // NAME=FILE of a generator
			candidate = source
		}
		if candidate == "" || len(candidate) > 500 || path.IsAbs(candidate) {
			continue
		}
		joined := path.Join(folder, candidate)
		if joined == ".." || strings.HasPrefix(joined, "../") {
			continue
		}
		if joined == "." {
			joined = ""
		}
		var err error
		switch {
		case c.paths[joined]:
			err = c.addFile(joined)
		case c.kustomizationIn(joined) != "" && joined != folder:
			err = c.addKustomization(joined)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scalars returns all values of a node, without the keys of mappings.
func scalars(n *yaml.Node, found []*yaml.Node) []*yaml.Node {
	switch n.Kind {
	case yaml.ScalarNode:
		return append(found, n)
	case yaml.MappingNode:
		for i := 1; i < len(n.Content); i += 2 {
			found = scalars(n.Content[i], found)
		}
	case yaml.SequenceNode, yaml.DocumentNode:
		for _, child := range n.Content {
			found = scalars(child, found)
		}
	}
	return found // an alias is found at its anchor
}

// remoteHost matches the beginning of addresses that kustomize clones or downloads without a
// scheme: "github.com/acme/app?ref=v1", "git@github.com:acme/app".
// https://github.com/kubernetes-sigs/kustomize/blob/master/api/internal/git/repospec.go
var remoteHost = regexp.MustCompile(`^([\w.+-]+@)?[\w-]+(\.[\w-]+)+[/:].*|^gh:|^git::`)

// isRemote reports whether kustomize would load a resource from the network.
func isRemote(text string) bool {
	if strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") {
		return strings.Contains(text, "?ref=")
	}
	if parsed, err := url.Parse(text); err == nil && parsed.Scheme != "" && strings.Contains(text, "://") {
		return true
	}
	return strings.Contains(text, "?ref=") || strings.Contains(text, "//") ||
		remoteHost.MatchString(text) && strings.Contains(firstSegment(text), ".")
}

// withoutCredentials returns an address without its user and password, and without its query, in which a token can be.
func withoutCredentials(address string) string {
	address, _, _ = strings.Cut(address, "?")
	scheme, rest, found := strings.Cut(address, "://")
	if !found {
		return address
	}
	host, _, _ := strings.Cut(rest, "/")
	if at := strings.LastIndex(host, "@"); at >= 0 {
		rest = rest[at+1:]
	}
	return scheme + "://" + rest
}

func firstSegment(text string) string {
	first, _, _ := strings.Cut(text, "/")
	return first
}

func shown(text string) string {
	if len(text) > 120 {
		text = text[:120] + "…"
	}
	return text
}

// addFile adds a file, within the limits.
func (c *collector) addFile(file string) error {
	if _, known := c.files[file]; known {
		return nil
	}
	content, err := c.tree.Read(file, maxFile)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	c.size += len(content)
	if c.size > maxInput || len(c.files) == maxFiles {
		return fault.New(fault.Invalid, "it consists of more than %d files, or %d MiB", maxFiles, maxInput>>20)
	}
	c.files[file] = content
	return nil
}
