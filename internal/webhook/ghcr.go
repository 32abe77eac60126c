package webhook

import (
	"strings"

	"promoter/internal/event"
)

// githubPackage is a package that GitHub tells of: as `package` in the events of
// an organization, as `registry_package` in those of a repository.
type githubPackage struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Type      string `json:"package_type"` // CONTAINER or container
	Owner     struct {
		Login string `json:"login"`
	} `json:"owner"`
	Version struct {
		Name     string `json:"name"` // a tag, or the digest
		URL      string `json:"package_url"`
		Metadata struct {
			Tag struct {
				Name   string `json:"name"` // empty for a push by digest
				Digest string `json:"digest"`
			} `json:"tag"`
		} `json:"container_metadata"`
	} `json:"package_version"`
}

// githubRegistry is where the containers of a GitHub are. Names in it are in lower
// case, whatever those of their owners are.
// https://docs.github.com/en/enterprise-server@3.15/packages/working-with-a-github-packages-registry/working-with-the-container-registry
func githubRegistry(host string) string {
	if host == githubHost {
		return "ghcr.io"
	}
	return "containers." + host
}

// published reads the event of a package of GHCR.
func (e githubEvent) published(host string) (Delivery, error) {
	p := e.Package
	if p == nil {
		p = e.RegistryPackage
	}
	switch {
	case p == nil:
		return Delivery{}, lacks("package")
	case e.Action != "published" && e.Action != "updated":
		return ignored(e.Action, "only published packages matter")
	case !strings.EqualFold(p.Type, "container"):
		return ignored(e.Action, "only containers matter")
	case p.Name == "":
		return Delivery{}, lacks("package.name")
	}
	where, ok := p.located(host)
	if !ok {
		return Delivery{}, lacks("package.owner")
	}
	tag := p.Version.Metadata.Tag
	hint := imageHint(where.Image.Host, where.Image.Path, firstOf(tag.Name, p.Version.Name), tag.Digest)
	return Delivery{Events: []event.Event{hint}}, nil
}

// located finds the image: in the URL of the version, which ends with a colon where
// there is no tag, or by the names of owner and package.
func (p *githubPackage) located(host string) (event.Event, bool) {
	if hint, ok := referenceHint(strings.ToLower(strings.TrimSuffix(p.Version.URL, ":"))); ok && strings.Contains(p.Version.URL, "/") {
		return hint, true
	}
	owner := firstOf(p.Owner.Login, p.Namespace)
	return imageHint(githubRegistry(host), strings.ToLower(owner+"/"+p.Name), "", ""), owner != ""
}
