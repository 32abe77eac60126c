package imports

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// step is a step of a promotion.
// https://docs.kargo.io/user-guide/reference-docs/promotion-steps
type step struct {
	_    without `without:"as retry continueOnError"`
	Uses string  `yaml:"uses"`
	Task struct {
		Name string `yaml:"name"`
		Kind string `yaml:"kind"`
	} `yaml:"task"`
	If     string     `yaml:"if"`
	Vars   []variable `yaml:"vars"`
	Config yaml.Node  `yaml:"config"`
}

type variable struct {
	Name  string `yaml:"name"`
	Value string `yaml:"value"`
}

// task is the spec of a PromotionTask or ClusterPromotionTask.
type task struct {
	Vars  []variable `yaml:"vars"`
	Steps []step     `yaml:"steps"`
}

// stepConfig is what is read of the config of a step.
type stepConfig struct {
	Path     string `yaml:"path"`
	Checkout []struct {
		Path   string `yaml:"path"`
		Branch string `yaml:"branch"`
	} `yaml:"checkout"`
	Updates []struct {
		Key   string `yaml:"key"`
		Value string `yaml:"value"`
	} `yaml:"updates"`
}

// readTask is a task with its object.
type readTask struct {
	object
	task
}

// tasksOf returns the tasks by project and name; those of the cluster have no project.
func tasksOf(d *draft, all objects) map[string]readTask {
	tasks := map[string]readTask{}
	add := func(key string, o object) {
		if spec, ok := decode[task](d, o); ok {
			tasks[key] = readTask{o, spec}
		}
	}
	for _, o := range all.of(kargoGroup, "ClusterPromotionTask") {
		add("/"+o.name, o)
	}
	for _, o := range all.of(kargoGroup, "PromotionTask") {
		add(o.namespace+"/"+o.name, o)
	}
	return tasks
}

// silentSteps change no file of the repository that promoter would have to know.
var silentSteps = []string{
	"git-clone", "git-clear", "git-commit", "git-push", "git-open-pr", "git-wait-for-pr", "git-merge-pr",
	"copy", "delete", "compose-output", "fail", "yaml-parse", "json-parse",
}

// written is what the steps of a stage change.
type written struct {
	files       []string
	branch      string
	values      []write
	pullRequest bool
	rendered    bool // it commits rendered manifests
}

// promotionRun follows the steps of a promotion.
type promotionRun struct {
	k         *kargoImport
	s         readStage
	checkouts map[string]string // branches by folder
	written
}

// written returns what the steps of a stage change.
func (k *kargoImport) written(s readStage) written {
	run := promotionRun{k: k, s: s, checkouts: map[string]string{}}
	vars := withVars(withVars(nil, s.Vars, run.expand), s.PromotionTemplate.Spec.Vars, run.expand)
	run.follow(s.object, s.PromotionTemplate.Spec.Steps, vars, 0)
	return run.written
}

func withVars(base map[string]string, added []variable, expand func(string, map[string]string) (string, bool)) map[string]string {
	vars := maps.Clone(base)
	if vars == nil {
		vars = map[string]string{}
	}
	for _, v := range added {
		if text, ok := expand(v.Value, vars); ok && (v.Value != "" || vars[v.Name] == "") {
			vars[v.Name] = text
		}
	}
	return vars
}

// expression is one expression in a text.
var expression = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)

// expand replaces variables in a text. It returns false if the value of something is known only in
// a promotion.
func (r *promotionRun) expand(text string, vars map[string]string) (string, bool) {
	known := true
	expanded := expression.ReplaceAllStringFunc(text, func(found string) string {
		inner := expression.FindStringSubmatch(found)[1]
		switch name, isVar := strings.CutPrefix(inner, "vars."); {
		case inner == "ctx.stage":
			return r.s.name
		case inner == "ctx.project":
			return r.s.namespace
		case isVar:
			value, set := vars[name]
			known = known && set
			return value
		}
		known = false
		return ""
	})
	return expanded, known
}

// comparison is a condition that compares a variable with a text.
var comparison = regexp.MustCompile(`^\$\{\{\s*(vars\.\w+|ctx\.stage|ctx\.project)\s*(==|!=)\s*["']([^"']*)["']\s*\}\}$`)

// runs reports whether a step runs; one whose condition is known only in a promotion may.
func (r *promotionRun) runs(s step, vars map[string]string) bool {
	parts := comparison.FindStringSubmatch(strings.TrimSpace(s.If))
	if parts == nil {
		return true
	}
	value, known := r.expand("${{ "+parts[1]+" }}", vars)
	return !known || (value == parts[3]) == (parts[2] == "==")
}

// follow collects what steps change, and those of the tasks that they use. They are in the object
// in, a stage or a task.
func (r *promotionRun) follow(in object, steps []step, vars map[string]string, depth int) {
	for _, s := range steps {
		if !r.runs(s, vars) {
			continue
		}
		if s.Task.Name != "" {
			key := r.s.namespace + "/" + s.Task.Name
			if s.Task.Kind == "ClusterPromotionTask" {
				key = "/" + s.Task.Name
			}
			t, known := r.k.tasks[key]
			if !known || depth > maxDepth {
				r.k.note(r.s.at(nil), fmt.Sprintf("%s: the task %s is in no file here, so its steps are unknown", r.s.title(), s.Task.Name))
				continue
			}
			r.follow(t.object, t.Steps, withVars(withVars(vars, t.Vars, r.expand), s.Vars, r.expand), depth+1)
			continue
		}
		r.step(in, s, withVars(vars, s.Vars, r.expand))
	}
}

func (r *promotionRun) step(in object, s step, vars map[string]string) {
	var c stepConfig
	if !s.Config.IsZero() && s.Config.Decode(&c) != nil {
		r.k.note(in.at(&s.Config), in.title()+": the config of the step "+s.Uses+" cannot be read")
		return
	}
	switch s.Uses {
	case "git-clone":
		for _, checkout := range c.Checkout {
			folder, okPath := r.expand(checkout.Path, vars)
			branch, okBranch := r.expand(checkout.Branch, vars)
			if okPath && okBranch {
				r.checkouts[path.Clean(folder)] = branch
			}
		}
	case "git-open-pr":
		r.pullRequest = true
	case "kustomize-set-image":
		r.writes(in, s, c.Path, vars, kustomizations)
	case "helm-update-chart":
		r.writes(in, s, c.Path, vars, []string{"Chart.yaml"})
	case "yaml-update", "helm-update-image":
		file := r.writes(in, s, c.Path, vars, nil)
		r.collect(file, c, vars)
	case "helm-template", "kustomize-build":
		r.rendered = true
		r.k.note(in.at(&s.Config), in.title()+" writes rendered manifests ("+s.Uses+
			"), which promoter does not: render in CI or in Argo CD, from the files that promoter changes")
	case "argocd-update":
		r.k.note(in.at(&s.Config), in.title()+
			": argocd-update has no match in this file: see docs/guides/health-argocd.md for health and syncs of Argo CD")
	default:
		if !slices.Contains(silentSteps, s.Uses) {
			r.k.note(in.at(&s.Config), in.title()+": the step "+s.Uses+" has no match")
		}
	}
}

// kustomizations are the names of the file of a folder that kustomize reads.
var kustomizations = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// writes adds the file of a step: that of the path, or one of some names in the folder of the
// path. It returns the file; empty: it is not known.
func (r *promotionRun) writes(in object, s step, name string, vars map[string]string, inFolder []string) string {
	name, known := r.expand(name, vars)
	if !known || name == "" {
		r.k.note(in.at(&s.Config), r.s.title()+": which file the step "+s.Uses+" changes is known only in a promotion")
		return ""
	}
	name = path.Clean(name)
	folders := slices.SortedFunc(maps.Keys(r.checkouts), func(a, b string) int { return len(b) - len(a) })
	for _, folder := range folders {
		if rest, below := strings.CutPrefix(name+"/", folder+"/"); below {
			name, r.branch = strings.TrimSuffix(rest, "/"), r.checkouts[folder]
			break
		}
	}
	if len(inFolder) > 0 {
		i := max(0, slices.IndexFunc(inFolder, func(base string) bool { return slices.Contains(r.k.found.Files, path.Join(name, base)) }))
		name = path.Join(name, inFolder[i])
	}
	if strings.HasPrefix(name, "../") || path.IsAbs(name) || strings.ContainsAny(name, "*?{}[]") {
		r.k.note(in.at(&s.Config), r.s.title()+": the step "+s.Uses+" changes "+name+", which cannot be in paths")
		return ""
	}
	r.files = union(r.files, name)
	return name
}

// imageFrom is a value that names the image whose version is written, and wholeImageFrom one that
// is nothing else.
var (
	imageFrom      = regexp.MustCompile(`imageFrom\(\s*(?:["']([^"']+)["']|vars\.(\w+))`)
	wholeImageFrom = regexp.MustCompile(`^\$\{\{\s*imageFrom\([^()]*\)\.(Tag|Digest)\s*\}\}$`)
)

// collect collects the values of an update.
func (r *promotionRun) collect(file string, c stepConfig, vars map[string]string) {
	for _, update := range c.Updates {
		parts := imageFrom.FindStringSubmatch(update.Value)
		if file == "" || parts == nil {
			continue
		}
		repository := parts[1]
		if parts[2] != "" {
			repository = vars[parts[2]]
		}
		w := write{File: file, Path: update.Key, repository: repository}
		if whole := wholeImageFrom.FindStringSubmatch(update.Value); whole != nil {
			w.known = true
			if whole[1] != "Tag" {
				w.Value = "{" + strings.ToLower(whole[1]) + "}"
			}
		}
		if !slices.Contains(r.written.values, w) {
			r.written.values = append(r.written.values, w)
		}
	}
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
