package imports

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"promoter/internal/config/field"
	"promoter/internal/edit"
	"promoter/internal/glob"
	"promoter/internal/image"
)

// kargoGroup is the API group of Kargo.
const kargoGroup = "kargo.akuity.io"

// warehouse is the spec of a Warehouse.
// https://docs.kargo.io/user-guide/how-to-guides/working-with-warehouses
type warehouse struct {
	_                       without        `without:"shard interval"`
	FreightCreationPolicy   string         `yaml:"freightCreationPolicy"`
	FreightCreationCriteria yaml.Node      `yaml:"freightCreationCriteria"`
	Subscriptions           []subscription `yaml:"subscriptions"`
}

type subscription struct {
	Image *imageSubscription `yaml:"image"`
	Chart *chartSubscription `yaml:"chart"`
	Git   yaml.Node          `yaml:"git"`
}

type imageSubscription struct {
	_                      without  `without:"gitRepoURL discoveryLimit cacheByTag insecureSkipTLSVerify"`
	RepoURL                string   `yaml:"repoURL"`
	ImageSelectionStrategy string   `yaml:"imageSelectionStrategy"`
	Constraint             string   `yaml:"constraint"`
	SemverConstraint       string   `yaml:"semverConstraint"`
	StrictSemvers          *bool    `yaml:"strictSemvers"`
	AllowTags              string   `yaml:"allowTags"`
	AllowTagsRegexes       []string `yaml:"allowTagsRegexes"`
	IgnoreTags             []string `yaml:"ignoreTags"`
	IgnoreTagsRegexes      []string `yaml:"ignoreTagsRegexes"`
	Platform               string   `yaml:"platform"`
}

type chartSubscription struct {
	_                without `without:"discoveryLimit"`
	RepoURL          string  `yaml:"repoURL"`
	Name             string  `yaml:"name"`
	SemverConstraint string  `yaml:"semverConstraint"`
}

// stage is the spec of a Stage.
// https://docs.kargo.io/user-guide/how-to-guides/working-with-stages
type stage struct {
	_                 without          `without:"shard"`
	Vars              []variable       `yaml:"vars"`
	RequestedFreight  []freightRequest `yaml:"requestedFreight"`
	PromotionTemplate struct {
		Spec struct {
			Vars  []variable `yaml:"vars"`
			Steps []step     `yaml:"steps"`
		} `yaml:"spec"`
	} `yaml:"promotionTemplate"`
	Verification yaml.Node `yaml:"verification"`
}

type freightRequest struct {
	Origin struct {
		Kind string `yaml:"kind"`
		Name string `yaml:"name"`
	} `yaml:"origin"`
	Sources struct {
		Direct               bool      `yaml:"direct"`
		Stages               []string  `yaml:"stages"`
		RequiredSoakTime     string    `yaml:"requiredSoakTime"`
		VerifiedFor          string    `yaml:"verifiedFor"`
		AvailabilityStrategy string    `yaml:"availabilityStrategy"`
		AutoPromotionOptions yaml.Node `yaml:"autoPromotionOptions"`
	} `yaml:"sources"`
}

// promotionPolicies are in the specs of ProjectConfig and, before Kargo 1.5, of Project.
type promotionPolicies struct {
	_                 without           `without:"receivers webhookReceivers"`
	PromotionPolicies []promotionPolicy `yaml:"promotionPolicies"`
}

type promotionPolicy struct {
	Stage         string `yaml:"stage"`
	StageSelector struct {
		Name             string    `yaml:"name"`
		MatchLabels      yaml.Node `yaml:"matchLabels"`
		MatchExpressions yaml.Node `yaml:"matchExpressions"`
	} `yaml:"stageSelector"`
	AutoPromotionEnabled bool `yaml:"autoPromotionEnabled"`
}

// readStage is a stage with what is known about it.
type readStage struct {
	object
	stage
	isWritten bool // it has steps; otherwise it only passes freight on
	verified  bool // it is verified before its freight goes on
}

// kargo imports the warehouses and stages of all projects.
func kargo(d *draft, all objects) {
	warehouses := map[string]warehouse{} // by project and name
	for _, o := range all.of(kargoGroup, "Warehouse") {
		if spec, ok := decode[warehouse](d, o); ok {
			warehouses[o.namespace+"/"+o.name] = spec
		}
	}
	stages := map[string]readStage{}
	var order []string
	projects := map[string]bool{}
	for _, o := range all.of(kargoGroup, "Stage") {
		spec, ok := decode[stage](d, o)
		if key := o.namespace + "/" + o.name; ok {
			stages[key] = readStage{o, spec, len(spec.PromotionTemplate.Spec.Steps) > 0, !spec.Verification.IsZero()}
			order = append(order, key)
			projects[o.namespace] = true
		}
	}
	k := &kargoImport{draft: d, warehouses: warehouses, stages: stages, tasks: tasksOf(d, all), several: len(projects) > 1}
	k.automatic = automaticStages(d, all)
	for _, key := range order {
		if stages[key].isWritten {
			k.addEnvironment(key)
		}
	}
	for _, o := range all.of(kargoGroup, "Warehouse") {
		if spec, ok := warehouses[o.namespace+"/"+o.name]; ok {
			k.addWarehouse(o, spec)
		}
	}
	k.resolveWrites()
	k.separateBranches()
}

// resolveWrites sets the components of values that steps write. promoter finds most values by
// itself: those are left out.
func (k *kargoImport) resolveWrites() {
	for i := range k.environments {
		e := &k.environments[i]
		e.unknown = slices.DeleteFunc(e.unknown, func(w write) bool {
			return slices.ContainsFunc(k.found.References, func(r edit.Reference) bool {
				return r.Position.File == w.File && (r.Repository.Familiar() == w.repository || r.Repository.String() == w.repository)
			})
		})
		e.unknown = slices.DeleteFunc(e.unknown, func(w write) bool {
			_, err := field.ParseYAMLPath(w.Path)
			c := slices.IndexFunc(k.components, func(c component) bool { return c.repository == w.repository && c.off == "" })
			if !w.known || c < 0 || err != nil {
				return false
			}
			w.Component = k.components[c].name
			e.Write = append(e.Write, w)
			return true
		})
	}
}

// kargoImport is what is read of Kargo.
type kargoImport struct {
	*draft
	warehouses map[string]warehouse // by project and name
	stages     map[string]readStage // the same
	tasks      map[string]readTask
	automatic  func(stage object) bool
	several    bool // projects, whose stages may have the same names
}

// environmentName returns the name of the environment of a stage.
func (k *kargoImport) environmentName(key string) string {
	project, name, _ := strings.Cut(key, "/")
	if k.several {
		name = project + "-" + name
	}
	return nameOf(name, func(string) bool { return false })
}

// users returns the environments of the stages that get freight from a warehouse, and how many
// have another origin.
func (k *kargoImport) users(project, name string) (environments []string, others int) {
	for _, key := range sortedKeys(k.stages) {
		s := k.stages[key]
		if !s.isWritten {
			continue
		}
		if s.namespace == project && slices.ContainsFunc(s.RequestedFreight, func(r freightRequest) bool { return r.Origin.Name == name }) {
			environments = append(environments, k.environmentName(key))
		} else {
			others++
		}
	}
	return environments, others
}

// addWarehouse adds the components of a warehouse.
func (k *kargoImport) addWarehouse(o object, spec warehouse) {
	environments, others := k.users(o.namespace, o.name)
	if len(environments) == 0 {
		k.note(o.at(nil), o.title()+" is used by no Stage with steps, so its subscriptions are not imported")
		return
	}
	if others == 0 {
		environments = nil
	}
	if !spec.FreightCreationCriteria.IsZero() {
		k.note(o.at(&spec.FreightCreationCriteria),
			o.title()+": freightCreationCriteria has no match, so the environments that get its versions from the registry "+
				"wait for a request")
	}
	for _, s := range spec.Subscriptions {
		var c component
		switch {
		case s.Image != nil:
			c = s.Image.component()
		case s.Chart != nil:
			c = s.Chart.component()
		case !s.Git.IsZero():
			k.note(o.at(&s.Git), o.title()+": promoter promotes versions of images and charts, and no commits: "+
				"changes of manifests land by your own pull requests")
			continue
		default:
			continue
		}
		c.environments, c.comments = environments, append(c.comments, "From "+o.title()+" ("+o.file+").")
		if c.off != "" {
			k.note(o.at(nil), o.title()+": "+c.repository+": "+c.off)
		}
		k.addComponent(c)
	}
}

// strictVersion matches tags with major, minor, and patch version.
const strictVersion = `^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`

// component returns the component of a subscription to an image.
func (s imageSubscription) component() component {
	c := component{artifact: image.ArtifactImage, repository: strings.TrimPrefix(s.RepoURL, "oci://")}
	patterns := s.AllowTagsRegexes
	if s.AllowTags != "" {
		patterns = append(slices.Clone(patterns), s.AllowTags)
	}
	allow := anyOf(patterns)
	for _, tag := range s.IgnoreTags {
		c.selection.Exclude = append(c.selection.Exclude, "^"+regexp.QuoteMeta(tag)+"$")
	}
	c.selection.Exclude = append(c.selection.Exclude, s.IgnoreTagsRegexes...)
	if s.Platform != "" {
		c.platforms = []string{s.Platform}
	}
	switch constraint := s.Constraint + s.SemverConstraint; s.ImageSelectionStrategy {
	case "", "SemVer":
		c.selection.Semver, c.selection.Filter = constraint, allow
		if constraint == "" {
			c.selection.Semver = ">=0.0.0"
			c.comments = append(c.comments, "Kargo has no constraint here, and also takes prereleases: semver: '>=0.0.0-0' does.")
		}
		if allow == "" && (s.StrictSemvers == nil || *s.StrictSemvers) {
			c.selection.Filter = strictVersion
		} else if s.StrictSemvers == nil || *s.StrictSemvers {
			c.selection.Exclude = append(c.selection.Exclude, `^v?\d+(\.\d+)?([-+].*)?$`)
		}
	case "Digest":
		c.selection = image.Selection{Tag: constraint}
	case "Lexical":
		c.selection.Alphabetical = cmp.Or(allow, ".*")
	case "NewestBuild":
		c.selection.Newest = cmp.Or(allow, ".*")
	default:
		c.selection.Alphabetical = cmp.Or(allow, ".*")
		c.off = "its strategy " + s.ImageSelectionStrategy + " is unknown"
	}
	return c
}

// component returns the component of a subscription to a chart.
func (s chartSubscription) component() component {
	selection := image.Selection{Chart: true, Semver: cmp.Or(s.SemverConstraint, ">=0.0.0")}
	c := component{artifact: image.ArtifactChart, repository: s.RepoURL, selection: selection}
	if !strings.HasPrefix(s.RepoURL, "oci://") {
		c.off = "promoter follows charts in OCI registries, and this one is in a chart repository"
	}
	return c
}

// anyOf returns an expression that matches where one of several does. A group named version would
// be compared instead of the tag.
func anyOf(patterns []string) string {
	clean := make([]string, len(patterns))
	for i, pattern := range patterns {
		clean[i] = strings.NewReplacer("(?P<version>", "(?:", "(?<version>", "(?:").Replace(pattern)
	}
	if len(clean) > 1 {
		return "(?:" + strings.Join(clean, ")|(?:") + ")"
	}
	return strings.Join(clean, "")
}

// automaticStages returns which stages are promoted by themselves: without a policy, none is.
func automaticStages(d *draft, all objects) func(object) bool {
	type policy struct {
		project string
		promotionPolicy
	}
	var policies []policy
	add := func(o object, project string) {
		spec, _ := decode[promotionPolicies](d, o)
		for _, p := range spec.PromotionPolicies {
			if s := p.StageSelector; !s.MatchLabels.IsZero() || !s.MatchExpressions.IsZero() {
				d.note(o.at(nil), o.title()+": a policy that selects Stages by labels has no match, so they wait for a request")
				continue
			}
			policies = append(policies, policy{project, p})
		}
	}
	for _, o := range all.of(kargoGroup, "ProjectConfig") {
		add(o, o.namespace)
	}
	for _, o := range all.of(kargoGroup, "Project") {
		add(o, o.name)
	}
	return func(stage object) bool {
		enabled := false
		for _, p := range policies {
			if p.project == stage.namespace && selects(p.Stage+p.StageSelector.Name, stage.name) {
				enabled = p.AutoPromotionEnabled
			}
		}
		return enabled
	}
}

// selects reports whether a name, "glob:PATTERN", or "regex:PATTERN" is that of a stage.
func selects(wanted, name string) bool {
	if pattern, is := strings.CutPrefix(wanted, "glob:"); is {
		return glob.MatchName(pattern, name)
	}
	for _, prefix := range []string{"regex:", "regexp:"} {
		if pattern, is := strings.CutPrefix(wanted, prefix); is {
			expression, err := regexp.Compile(pattern)
			return err == nil && expression.MatchString(name)
		}
	}
	return wanted == name
}

// addEnvironment adds the environment of a stage.
func (k *kargoImport) addEnvironment(key string) {
	s := k.stages[key]
	e := environment{name: k.environmentName(key), comments: []string{"From " + s.title() + " (" + s.file + ")."}}
	w := k.written(s)
	e.Paths = w.files
	e.Branch = w.branch
	e.unknown = w.values
	e.Land = "push"
	if w.pullRequest {
		e.Land = "pr"
	}
	waits := k.parents(s, &e)
	switch {
	case !k.automatic(s.object):
		e.Propose = "manual"
		e.comments = append(e.comments, "No policy of the project promotes to it automatically, so a user requests each promotion.")
	case waits != "":
		e.Propose = "manual"
		e.comments = append(e.comments, waits)
	}
	if len(e.Paths) == 0 {
		e.Propose, e.Paths = "never", []string{"name-the-files-of-" + e.name}
		e.comments = append(e.comments, "Which files its steps change is not known. Name them in paths, and remove propose.")
		k.note(s.at(nil), s.title()+": which files its steps change is not known: name them in paths of "+e.name)
	}
	if w.rendered && e.Propose != "never" {
		e.Propose = "never"
		e.comments = append(e.comments, "Its steps commit rendered manifests, and not these files. Remove propose when "+
			"something else renders them after promoter changed them.")
	}
	if unread := k.unreadSources(s); len(unread) > 0 && e.Propose != "never" {
		e.Propose = "never"
		e.comments = append(e.comments, "It takes freight from the Stage "+strings.Join(unread, ", ")+
			", which is in no file here. Add the environment to after, and remove propose.")
		k.note(s.at(nil), s.title()+" takes freight from the Stage "+strings.Join(unread, ", ")+", which is in no file here")
	}
	if s.verified {
		k.note(s.at(&s.Verification), s.title()+": verification has no match. What follows "+e.name+
			" waits for a request; conditions such as checks or health can replace it")
	}
	k.environments = append(k.environments, e)
}

// parents sets the parents of an environment. It returns why a user has to request promotions,
// where a condition has no match.
func (k *kargoImport) parents(s readStage, e *environment) (waits string) {
	direct := false
	for _, request := range s.RequestedFreight {
		sources := request.Sources
		soak := strings.TrimSpace(sources.RequiredSoakTime + sources.VerifiedFor)
		direct = direct || sources.Direct
		ancestors, _ := k.above(s.namespace, sources.Stages, 0)
		if sources.Direct && len(ancestors) > 0 {
			k.note(s.at(nil), s.title()+" takes freight from its Warehouse and from other Stages; here only from the Stages")
		}
		if len(ancestors) > 1 && sources.AvailabilityStrategy != "All" {
			k.note(s.at(nil), s.title()+" takes freight that one of several Stages has; here all of them must have it")
		}
		if !sources.AutoPromotionOptions.IsZero() {
			k.note(s.at(&sources.AutoPromotionOptions),
				s.title()+": autoPromotionOptions has no match; the newest version that is eligible is promoted")
		}
		for _, name := range ancestors {
			above := k.stages[s.namespace+"/"+name]
			if above.verified {
				waits = "Stage " + name + " was verified before this one, which has no match here, so a user requests each promotion."
			}
			p := parent{name: k.environmentName(s.namespace + "/" + name), Soak: soak}
			if i := slices.IndexFunc(e.After, func(other parent) bool { return other.name == p.name }); i < 0 {
				e.After = append(e.After, p)
			} else if e.After[i].Soak == "" {
				e.After[i].Soak = soak
			}
		}
	}
	if direct && len(e.After) == 0 && k.manualWarehouse(s) {
		waits = "A user creates the freight of its Warehouse, so a user requests each promotion."
	}
	return waits
}

// unreadSources returns the stages above a stage that are in no file: promoter does not know what
// they would hold back.
func (k *kargoImport) unreadSources(s readStage) (unread []string) {
	for _, request := range s.RequestedFreight {
		_, more := k.above(s.namespace, request.Sources.Stages, 0)
		unread = union(unread, more...)
	}
	return unread
}

// manualWarehouse reports whether something else than a new version creates freight for a stage.
func (k *kargoImport) manualWarehouse(s readStage) bool {
	return slices.ContainsFunc(s.RequestedFreight, func(r freightRequest) bool {
		w := k.warehouses[s.namespace+"/"+r.Origin.Name]
		return w.FreightCreationPolicy == "Manual" || !w.FreightCreationCriteria.IsZero()
	})
}

// maxDepth is how many stages without steps may follow each other.
const maxDepth = 20

// above returns the stages with steps among some stages and above those without, and the stages
// that are in no file.
func (k *kargoImport) above(project string, names []string, depth int) (written, unread []string) {
	for _, name := range names {
		s, known := k.stages[project+"/"+name]
		switch {
		case !known:
			unread = union(unread, name)
		case depth > maxDepth:
		case s.isWritten:
			written = union(written, name)
		default:
			for _, request := range s.RequestedFreight {
				moreWritten, moreUnread := k.above(project, request.Sources.Stages, depth+1)
				written = union(written, moreWritten...)
				unread = union(unread, moreUnread...)
			}
		}
	}
	return written, unread
}

// separateBranches removes the branch of environments if all have the same: it is then the default
// branch, or users set one in all of them.
func (k *kargoImport) separateBranches() {
	branches := map[string]bool{}
	for _, e := range k.environments {
		branches[e.Branch] = true
	}
	if len(branches) > 1 && !branches[""] {
		return
	}
	for i := range k.environments {
		if e := &k.environments[i]; e.Branch != "" {
			e.comments = append(e.comments, "Kargo reads and writes the branch "+path.Clean(e.Branch)+", here it is the default branch.")
			e.Branch = ""
		}
	}
}
