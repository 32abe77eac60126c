package registry

import (
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// defaultPlatform is whose dates are taken of an index when nobody wants a
// platform and the index has it.
const defaultPlatform = "linux/amd64"

// platformText is os/arch, with the variant where it tells something; nothing
// for what is no platform, like the attestations in an index.
func platformText(p *v1.Platform) string {
	if p == nil || p.OS == "" || p.Architecture == "" || p.OS == "unknown" || p.Architecture == "unknown" {
		return ""
	}
	text := p.OS + "/" + p.Architecture
	if v := variant(p.Architecture, p.Variant); v != "" {
		text += "/" + v
	}
	if len(text) > maxPlatform {
		return ""
	}
	return clean(text)
}

// variant leaves out the variant that an architecture has anyway: arm64 is v8.
func variant(architecture, variant string) string {
	if architecture == "arm64" && (variant == "v8" || variant == "8") {
		return ""
	}
	return variant
}

// runsOn says whether a wanted os/arch[/variant] is the one that is there. A
// wanted platform without a variant takes any.
func runsOn(wanted, there string) bool {
	wanted = strings.TrimSuffix(wanted, "/")
	if os, rest, ok := strings.Cut(wanted, "/"); ok {
		architecture, v, _ := strings.Cut(rest, "/")
		wanted = os + "/" + architecture
		if v = variant(architecture, v); v != "" {
			wanted += "/" + v
		}
	}
	return there == wanted || strings.HasPrefix(there, wanted+"/")
}

// missing lists the wanted platforms that are not there.
func missing(wanted, there []string) []string {
	var lost []string
	for _, w := range wanted {
		if !slices.ContainsFunc(there, func(t string) bool { return runsOn(w, t) }) {
			lost = append(lost, w)
		}
	}
	return lost
}

// choose picks the image of an index whose dates count: the first wanted
// platform, else the default one, else the first of all.
func choose(children []child, wanted []string) (child, bool) {
	for _, w := range append(slices.Clone(wanted[:min(len(wanted), 1)]), defaultPlatform) {
		for _, c := range children {
			if runsOn(w, c.Platform) {
				return c, true
			}
		}
	}
	if len(children) == 0 {
		return child{}, false
	}
	return children[0], true
}
