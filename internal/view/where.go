package view

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"promoter/internal/access"
	"promoter/internal/fault"
	"promoter/internal/store"
)

// Where is where the versions are that a text selects.
type Where struct {
	Query    string            `json:"query"`
	Versions []VersionLocation `json:"versions"` // by repository, application, and component
	More     bool              `json:"more"`     // there are others: write more of the text
}

// VersionLocation is one version of a component on its way through the environments.
type VersionLocation struct {
	Repository  string `json:"repository"` // HOST/OWNER/NAME, the GitOps repository
	Key         string `json:"key"`
	Application string `json:"application"`
	Component   string `json:"component"`
	Version     string `json:"version"`
	Image       string `json:"image"`              // REPOSITORY:TAG@DIGEST, as far as known
	Revision    string `json:"revision,omitempty"` // commit of the source, as the image claims
	// SourcePullRequests are those that the version brought, as HOST/OWNER/NAME#NUMBER, as far as
	// pull requests of promoter list the commits.
	SourcePullRequests []string `json:"sourcePullRequests,omitempty"`
	Places             []Place  `json:"places"` // in the order of the environments
}

// PlaceState is what a version is in one environment.
type PlaceState string

// The values of PlaceState.
const (
	IsThere  PlaceState = "there"
	IsOpen   PlaceState = "open"      // in a pull request
	IsNext   PlaceState = "waiting"   // to be proposed
	WasThere PlaceState = "was there" // another version replaced it
	NotThere PlaceState = "not there"
)

// Place is one environment. Unknown fields are omitted.
type Place struct {
	Environment string       `json:"environment"`
	After       []string     `json:"after"` // the parent environments
	State       PlaceState   `json:"state"`
	Since       time.Time    `json:"since,omitzero"` // when it landed
	Until       time.Time    `json:"until,omitzero"` // when another version replaced it
	Commit      string       `json:"commit,omitempty"`
	PullRequest *PullRequest `json:"pullRequest,omitempty"`
	Reason      *Reason      `json:"reason,omitempty"` // what it waits for
	Has         string       `json:"has,omitempty"`    // the version that is there
	Health      string       `json:"health,omitempty"` // of what is there
}

// Limits of a search.
const (
	minWhere    = 2   // characters
	maxWhere    = 300 // characters
	maxVersions = 20
	maxLandings = 1000 // events of a target that are searched
	minHex      = 7    // digits of a commit or a digest
)

// Where finds versions by a tag, a digest, an image, a commit of the source that the image
// claims, a pull request of the source, or a commit of the GitOps repository. Digests and commits
// may be shortened to 7 digits, and the names of pull requests to #NUMBER.
func (v *View) Where(ctx context.Context, p access.Principal, text string) (Where, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	found := Where{Query: text, Versions: []VersionLocation{}}
	if len(text) < minWhere || len(text) > maxWhere {
		return found, fault.New(fault.Invalid,
			"write a tag, a digest, an image, a commit, or a pull request, with %d to %d characters", minWhere, maxWhere)
	}
	names, err := v.repositories(ctx, p, "")
	if err != nil {
		return found, err
	}
	applications, err := v.Store.Targets.Naming(ctx, nameOf(text), func(key store.TargetKey) bool {
		name, readable := names[key.Repository]
		return readable && p.MayRead(name, key.Environment, key.Application)
	})
	if err != nil {
		return found, err
	}
	for _, one := range applications {
		located, err := v.locate(ctx, p, one, names[one.Repository], text)
		if err != nil {
			return found, err
		}
		found.Versions = append(found.Versions, located...)
		if len(found.Versions) > maxVersions {
			found.Versions, found.More = found.Versions[:maxVersions], true
			break
		}
	}
	return found, nil
}

// inTarget is a target with its landings, newest first.
type inTarget struct {
	store.Target
	landings  []store.Event
	proposals []store.Event // that name pull requests of the source
}

// locate finds the versions of one application.
func (v *View) locate(ctx context.Context, p access.Principal, one store.ApplicationKey, name, text string) ([]VersionLocation, error) {
	stored, err := v.Store.Targets.List(ctx, one.Repository, "", one.Application)
	if err != nil {
		return nil, err
	}
	var targets []inTarget
	for _, t := range stored {
		if !p.MayRead(name, t.Environment, t.Application) {
			continue
		}
		events, err := v.Store.History(ctx, store.HistoryFilter{
			Key: one.Repository, Environment: t.Environment, Application: t.Application, Limit: maxLandings,
		})
		if err != nil {
			return nil, err
		}
		one := inTarget{Target: t}
		for _, e := range events {
			switch {
			case e.IsLanding():
				one.landings = append(one.landings, e)
			case slices.ContainsFunc(e.Versions, func(v store.EventVersion) bool { return len(v.SourcePullRequests) > 0 }):
				one.proposals = append(one.proposals, e)
			}
		}
		targets = append(targets, one)
	}
	var located []VersionLocation
	for _, version := range selected(targets, text) {
		location := VersionLocation{
			Repository: name, Key: one.Repository, Application: one.Application,
			Component: version.Component, Version: version.Label(), Image: version.Image(), Revision: version.Revision,
			SourcePullRequests: version.SourcePullRequests,
		}
		for _, t := range targets {
			location.Places = append(location.Places, placeIn(t, version))
		}
		located = append(located, location)
	}
	return located, nil
}

// selected are the versions of targets that a text selects, each once.
func selected(targets []inTarget, text string) []store.EventVersion {
	var found []store.EventVersion
	add := func(v store.EventVersion) {
		i := slices.IndexFunc(found, v.Same)
		if i < 0 {
			found = append(found, v)
			return
		}
		found[i].Revision = cmp.Or(found[i].Revision, v.Revision)
		for _, pull := range v.SourcePullRequests {
			if !slices.Contains(found[i].SourcePullRequests, pull) {
				found[i].SourcePullRequests = append(slices.Clip(found[i].SourcePullRequests), pull)
			}
		}
	}
	for _, t := range targets {
		versions := slices.Concat(t.Current, t.Wanted)
		for _, e := range t.proposals {
			versions = append(versions, e.Versions...)
		}
		for _, version := range versions {
			if selects(text, version) {
				add(version)
			}
		}
		for _, e := range t.landings {
			landed := isHexPrefix(text, e.Commit)
			for _, version := range e.Versions {
				if landed || selects(text, version) {
					add(version)
				}
			}
		}
	}
	slices.SortStableFunc(found, func(a, b store.EventVersion) int { return strings.Compare(a.Component, b.Component) })
	return found
}

// selects reports whether a text, in lower case, is a name of a version.
func selects(text string, v store.EventVersion) bool {
	tag, repository := strings.ToLower(v.Tag), strings.ToLower(v.Repository)
	named := tag != "" && (text == tag || "v"+text == tag || text == repository+":"+tag)
	pull := pullRequestOf(text)
	pulled := pull != "" && slices.ContainsFunc(v.SourcePullRequests, func(one string) bool {
		one = strings.ToLower(one)
		return one == pull || strings.HasSuffix(one, "/"+pull) || pull[0] == '#' && strings.HasSuffix(one, pull)
	})
	return named || pulled || isHexPrefix(hexOf(text), hexOf(v.Digest)) || isHexPrefix(text, strings.ToLower(v.Revision))
}

// nameOf is what a text, in lower case, may name of a version.
func nameOf(text string) store.VersionName {
	if pull := pullRequestOf(text); pull != "" {
		return store.VersionName{PullRequest: pull}
	}
	name := store.VersionName{Tag: tagOf(text)}
	if hex := hexOf(text); len(hex) >= minHex { // else it is too short for a digest or a commit
		name.Digits = hex
	}
	return name
}

// pullRequests matches #12, acme/web#12, and GitLab's acme/web!12, and the pages of pull requests on
// the forges.
var pullRequests = []*regexp.Regexp{
	regexp.MustCompile(`^([^\s:@#!]*)[#!]([0-9]+)$`),
	regexp.MustCompile(`^https?://([^\s?#]+?)/(?:pull|pulls|-/merge_requests)/([0-9]+)(?:[/?#].*)?$`),
}

// pullRequestOf is the pull request that a text names, as [[HOST/]OWNER/NAME]#NUMBER; empty: none.
func pullRequestOf(text string) string {
	for _, one := range pullRequests {
		if found := one.FindStringSubmatch(text); found != nil {
			return found[1] + "#" + found[2]
		}
	}
	return ""
}

// tagOf is the part of a text that may be a tag: of an image its tag.
func tagOf(text string) string {
	text, _, _ = strings.Cut(text, "@")
	if i := strings.LastIndex(text, ":"); i > strings.LastIndex(text, "/") {
		return text[i+1:]
	}
	return text
}

// hexOf is a digest without its algorithm.
func hexOf(text string) string {
	if _, hex, found := strings.Cut(text, "sha256:"); found {
		return hex
	}
	return text
}

// isHexPrefix reports whether a text is a long enough beginning of a digest or commit.
func isHexPrefix(text, whole string) bool {
	return len(text) >= minHex && strings.HasPrefix(whole, text)
}

// placeIn is what a version is in one target.
func placeIn(t inTarget, version store.EventVersion) Place {
	place := Place{Environment: t.Environment, After: append([]string{}, t.After...), State: NotThere}
	i := slices.IndexFunc(t.Current, func(v store.EventVersion) bool { return v.Component == version.Component })
	if i >= 0 {
		place.Has = t.Current[i].Label()
	}
	landed := slices.IndexFunc(t.landings, func(e store.Event) bool {
		return slices.ContainsFunc(e.Versions, version.Same)
	})
	if landed >= 0 {
		e := t.landings[landed]
		place.Since = e.At
		place.Commit = e.Commit
		place.PullRequest = PullRequestOf(e.Number, e.URL, time.Time{})
	}
	switch {
	case i >= 0 && version.Same(t.Current[i]):
		place.State, place.Has = IsThere, ""
		if t.Detail.Health != nil {
			place.Health = t.Detail.Health.Status
		}
	case slices.ContainsFunc(t.Wanted, version.Same):
		place = Place{
			Environment: t.Environment, After: place.After, State: IsNext, Has: place.Has,
			Reason: ReasonOf(t.Rule, t.Message, t.Until), PullRequest: PullRequestOf(t.Number, t.URL, t.Detail.Opened),
		}
		if place.PullRequest != nil {
			place.State = IsOpen
		}
	case landed >= 0:
		place.State, place.Until = WasThere, replacedAt(t.landings[:landed], version)
	}
	return place
}

// replacedAt is when the first of later landings changed the component of a version; zero:
// unknown.
func replacedAt(later []store.Event, version store.EventVersion) time.Time {
	for _, e := range slices.Backward(later) {
		if slices.ContainsFunc(e.Versions, func(v store.EventVersion) bool { return v.Component == version.Component }) {
			return e.At
		}
	}
	return time.Time{}
}
