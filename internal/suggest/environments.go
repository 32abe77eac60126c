package suggest

import (
	"fmt"
	"slices"
	"strings"

	"promoter/internal/edit"
)

func (d *draft) environmentSection() {
	d.line("")
	d.comment("", "Where versions go. Those without after get them from the registries, the others from the environments named there. health tells whether a version runs well, so that healthy and soak can ask for it.")
	if d.layout.because != "" {
		d.comment("", d.layout.because)
	}
	d.line("environments:")
	for i := range d.Environments {
		d.environment(&d.Environments[i])
	}
}

func (d *draft) environment(e *Environment) {
	d.line("  %s:", quote(e.Name))
	if e.words != "" {
		d.comment("    ", e.words)
	}
	d.comment("    ", d.holdings(e))
	d.globs("paths", e.Paths)
	d.globs("exclude", e.Exclude)
	d.after(e)
	if len(e.After) > 0 && e.rank >= rankProd {
		d.line("    propose: automatic # or: manual")
	}
	switch {
	case len(e.After) == 0 && e.rank < rankProd:
		d.line("    land: pr # or: push")
	default:
		d.line("    land: pr # or: automerge")
	}
	if e.rank >= rankProd {
		d.line("    #gates: {windows: [office], approvals: {count: 1}}")
	}
	d.line("    #health: %s", d.health(e))
}

// holdings says what stands in the environment now.
func (d *draft) holdings(e *Environment) string {
	references, in := 0, map[string]bool{}
	for _, r := range d.references {
		if name, ok := d.layout.environmentOf(r.Position.File); ok && name == e.Name {
			references++
			in[r.Position.File] = true
		}
	}
	if references == 0 {
		return "No image reference stands here yet."
	}
	return fmt.Sprintf("%s in %s.", count(references, "reference", "references"), files(len(in)))
}

// globs writes a list of globs: one in brackets, several on lines of their own.
func (d *draft) globs(key string, globs []string) {
	switch len(globs) {
	case 0:
	case 1:
		d.line("    %s: [%s]", key, single(globs[0]))
	default:
		d.line("    %s:", key)
		for _, g := range globs {
			d.line("      - %s", single(g))
		}
	}
}

// shownParents is how many parents an alternative names.
const shownParents = 3

func (d *draft) after(e *Environment) {
	if len(e.After) == 0 {
		return
	}
	soak := "1h"
	if e.rank >= rankProd {
		soak = "24h"
	}
	conditions := make([]string, 0, len(e.After))
	for _, parent := range e.After {
		conditions = append(conditions, quote(parent)+": {healthy: true, soak: "+soak+"}")
	}
	if len(conditions) > shownParents {
		d.line("    # Each parent may have conditions: {%s}", conditions[0])
		d.line("    after: %s", quoteList(e.After))
		return
	}
	d.line("    after: %s # or: {%s}", quoteList(e.After), strings.Join(conditions, ", "))
}

// health shows the source that fits what the files are written for.
func (d *draft) health(e *Environment) string {
	name := e.Name
	if d.layout.captures {
		name = placeholder + "-" + name
	}
	if d.flux() {
		return "{flux: " + single("kustomization/flux-system/"+name) + "}"
	}
	return "{argocd: [" + single(name) + "]}"
}

// flux says whether the tree is applied by Flux.
func (d *draft) flux() bool {
	return slices.ContainsFunc(d.found.Files, func(file string) bool {
		return strings.Contains("/"+file, "/flux-system/") || strings.HasSuffix(file, "/gotk-sync.yaml")
	}) || slices.ContainsFunc(d.references, func(r edit.Reference) bool {
		return r.Shape == "helm-release" || r.Shape == "oci-repository"
	})
}
