package imports

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"promoter/internal/image"
	"promoter/internal/suggest"
)

// gitOpsPromoterGroup is the API group of GitOps Promoter.
const gitOpsPromoterGroup = "promoter.argoproj.io"

// promotionStrategy is the spec of a PromotionStrategy.
// https://gitops-promoter.readthedocs.io/en/stable/crd-specs/#promotionstrategy
type promotionStrategy struct {
	_                      without           `without:"gitRepositoryRef orderCommitStatusRef"`
	ActiveCommitStatuses   []commitStatus    `yaml:"activeCommitStatuses"`
	ProposedCommitStatuses []commitStatus    `yaml:"proposedCommitStatuses"`
	ActivePath             string            `yaml:"activePath"`
	Environments           []promotionBranch `yaml:"environments"`
}

type promotionBranch struct {
	Branch                 string         `yaml:"branch"`
	AutoMerge              *bool          `yaml:"autoMerge"`
	ActiveCommitStatuses   []commitStatus `yaml:"activeCommitStatuses"`
	ProposedCommitStatuses []commitStatus `yaml:"proposedCommitStatuses"`
	DependsOn              []string       `yaml:"dependsOn"`
	ActivePath             string         `yaml:"activePath"`
}

type commitStatus struct {
	Key string `yaml:"key"`
}

// timedCommitStatus is the spec of a TimedCommitStatus: how long a commit is in an environment
// before it goes on.
type timedCommitStatus struct {
	PromotionStrategyRef struct {
		Name string `yaml:"name"`
	} `yaml:"promotionStrategyRef"`
	Key          string `yaml:"key"`
	Environments []struct {
		Branch   string `yaml:"branch"`
		Duration string `yaml:"duration"`
	} `yaml:"environments"`
}

// timer is the key of the status that a TimedCommitStatus reports if it names none.
const timer = "timer"

// otherGates are kinds that report a commit status by rules that promoter has in another form, or
// not at all. The status itself is required as a check.
var otherGates = map[string]string{
	"ArgoCDCommitStatus":     "health.argocd can replace it: see docs/guides/health-argocd.md",
	"GitCommitStatus":        "its status is required as a check; something else has to report it",
	"ScheduledCommitStatus":  "windows can replace it: see docs/configuration.md#windows",
	"WebRequestCommitStatus": "its status is required as a check; something else has to report it",
}

// gitOpsPromoter imports the environments of a promotion strategy. It promotes commits and no
// images, so the components are those of the manifests.
func gitOpsPromoter(d *draft, all objects) {
	strategies := all.of(gitOpsPromoterGroup, "PromotionStrategy")
	if len(strategies) == 0 {
		return
	}
	for _, o := range strategies[1:] {
		d.note(o.at(nil), o.title()+" is not imported: one config is for one repository, so import a folder with its manifests alone")
	}
	o := strategies[0]
	spec, ok := decode[promotionStrategy](d, o)
	if !ok || !addFoundComponents(d, o) {
		return
	}
	d.note(o.at(nil),
		o.title()+": promoter carries versions of images from one environment to the next, and no other changes: those "+
			"land by your own pull requests to each branch")
	timers := timersOf(d, all, o.name)
	for _, kind := range []string{"ArgoCDCommitStatus", "GitCommitStatus", "ScheduledCommitStatus", "WebRequestCommitStatus"} {
		for _, gate := range all.of(gitOpsPromoterGroup, kind) {
			d.note(gate.at(nil), gate.title()+": "+otherGates[kind])
		}
	}
	names := branchNames(spec.Environments)
	inOrder := !slices.ContainsFunc(spec.Environments, func(b promotionBranch) bool { return len(b.DependsOn) > 0 })
	for i, b := range spec.Environments {
		e := environment{name: names[b.Branch], Branch: b.Branch, Land: "automerge", comments: []string{
			"From " + o.title() + " (" + o.file + ").",
		}}
		if b.AutoMerge != nil && !*b.AutoMerge {
			e.Land = "pr"
		}
		if folder := strings.Trim(b.ActivePath+strings.Repeat(spec.ActivePath, 1-min(len(b.ActivePath), 1)), "/"); folder != "" {
			e.Paths = []string{path.Clean(folder)}
		}
		before := b.DependsOn
		if inOrder && i > 0 {
			before = []string{spec.Environments[i-1].Branch}
		}
		for _, branch := range before {
			above := slices.IndexFunc(spec.Environments, func(other promotionBranch) bool { return other.Branch == branch })
			if above < 0 {
				continue
			}
			p := parent{name: names[branch]}
			for _, key := range keys(spec.ActiveCommitStatuses, spec.Environments[above].ActiveCommitStatuses) {
				if duration, timed := timers[[2]string{key, branch}]; timed && p.Soak == "" {
					p.Soak = duration
				} else {
					p.Checks = append(p.Checks, key)
				}
			}
			e.After = append(e.After, p)
		}
		switch {
		case len(e.After) < len(before):
			e.Propose = "never"
			e.comments = append(e.comments, "It depends on a branch that is no environment of the strategy. Add the "+
				"environment to after, and remove propose.")
			d.note(o.at(nil), o.title()+": "+b.Branch+" depends on a branch that is no environment of it")
		case len(before) == 0:
			e.Propose = "never"
			e.comments = append(e.comments, "GitOps Promoter takes no versions from a registry: what lands here are your "+
				"own commits. Remove propose to let promoter bring new versions.")
		}
		if checks := keys(spec.ProposedCommitStatuses, b.ProposedCommitStatuses); len(checks) > 0 {
			e.Gates = &gates{checks}
		}
		d.environments = append(d.environments, e)
	}
}

// timersOf returns how long a commit has to be in the branches of a strategy, by the key of the
// status that reports it and the branch.
func timersOf(d *draft, all objects, strategy string) map[[2]string]string {
	timers := map[[2]string]string{}
	for _, o := range all.of(gitOpsPromoterGroup, "TimedCommitStatus") {
		if spec, ok := decode[timedCommitStatus](d, o); ok && spec.PromotionStrategyRef.Name == strategy {
			for _, e := range spec.Environments {
				timers[[2]string{cmp.Or(spec.Key, timer), e.Branch}] = e.Duration
			}
		}
	}
	return timers
}

// keys returns the keys of statuses.
func keys(lists ...[]commitStatus) (all []string) {
	for _, status := range slices.Concat(lists...) {
		if status.Key != "" {
			all = union(all, status.Key)
		}
	}
	return all
}

// branchNames returns the names of the environments by branch: "prod" for "environment/prod".
func branchNames(branches []promotionBranch) map[string]string {
	names, taken := map[string]string{}, map[string]bool{}
	for _, b := range branches {
		name := nameOf(path.Base(b.Branch), func(name string) bool { return taken[name] })
		names[b.Branch], taken[name] = name, true
	}
	return names
}

// addFoundComponents adds the components of the images in the manifests, as for a first config.
func addFoundComponents(d *draft, o object) bool {
	suggestion, err := suggest.Config(d.found.Found)
	if errors.Is(err, suggest.ErrNothing) {
		d.note(o.at(nil), o.title()+": the folder has no manifests with images, so there is nothing to promote")
	} else if err != nil {
		d.note(o.at(nil), fmt.Sprintf("%s: the images of the folder cannot be read: %v", o.title(), err))
	}
	if err != nil {
		return false
	}
	for _, c := range suggestion.Components {
		if c.Off != "" {
			continue
		}
		repository := c.Repository.Familiar()
		if c.Artifact != image.ArtifactImage {
			repository = "oci://" + c.Repository.String()
		}
		d.addComponent(component{artifact: c.Artifact, repository: repository, selection: c.Select, comments: []string{
			"Found in the manifests: " + c.Current + ". " + c.Reason,
		}})
	}
	return true
}
