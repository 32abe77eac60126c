package snapshots

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/access"
	"promoter/internal/api"
	"promoter/internal/fault"
	"promoter/internal/health"
	"promoter/internal/snapshot"
	"promoter/internal/store"
	"promoter/internal/view"
)

// repository returns the stored repository that a query names. Without a name, there must be
// only one. Those that the principal may not read do not exist for it.
func (a *API) repository(ctx context.Context, query api.SnapshotQuery) (store.Repository, error) {
	all, err := a.Store.Repositories(ctx)
	if err != nil {
		return store.Repository{}, err
	}
	found := slices.DeleteFunc(all, func(r store.Repository) bool {
		return !query.Principal.May(access.Read, access.Target{Repository: r.Address()}) ||
			query.Repository != "" && !r.IsNamed(query.Repository)
	})
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return store.Repository{}, fault.New(fault.NotFound, "there is no repository %.200q", query.Repository)
	}
	return store.Repository{}, fault.New(fault.Invalid, "%d repositories match: name one with ?repository=HOST/OWNER/NAME", len(found))
}

// selected are the targets that a query selects and its principal may read. If there are none, the
// others do not exist either.
func (a *API) selected(ctx context.Context, query api.SnapshotQuery) (store.Repository, []store.Target, error) {
	r, err := a.repository(ctx, query)
	if err != nil {
		return r, nil, err
	}
	targets, err := a.Store.Targets.List(ctx, r.Key, query.Environment, query.Application)
	targets = slices.DeleteFunc(targets, func(t store.Target) bool { return !mayRead(query, r, t) })
	if err == nil && len(targets) == 0 {
		err = fault.New(fault.NotFound, "%s has no such environment or application, or was not reconciled yet", r.Address())
	}
	return r, targets, err
}

func mayRead(query api.SnapshotQuery, r store.Repository, t store.Target) bool {
	return query.Principal.MayRead(r.Address(), t.Environment, t.Application)
}

// recentSnapshots is how many posted snapshots are compared with what is in a target, to name
// it.
const recentSnapshots = 200

// In implements api.Snapshots.
func (a *API) In(ctx context.Context, query api.SnapshotQuery) ([]api.EnvironmentSnapshot, error) {
	r, targets, err := a.selected(ctx, query)
	if err != nil {
		return nil, err
	}
	names := a.names(r.Key)
	var found []api.EnvironmentSnapshot
	for _, target := range targets {
		if len(target.Current) == 0 {
			continue
		}
		limit := maxRecent
		if !query.At.IsZero() {
			limit = maxPast
		}
		past, err := a.past(ctx, r.Key, target, time.Time{}, limit)
		if err != nil {
			return nil, err
		}
		one := api.EnvironmentSnapshot{Environment: target.Environment}
		versions := target.Current
		if query.At.IsZero() {
			one.Since, one.Commit = past.last(a.Server.Now())
		} else {
			versions, one.Unknown = past.at(query.At, target.Current)
			one.Since, one.Commit = past.last(query.At)
		}
		if one.Snapshot, err = names.of(ctx, a.Store, target.Application, versions); err != nil {
			return nil, err
		}
		one.Snapshot.Repository, one.Snapshot.Application = r.Address(), target.Application
		if one.Snapshot.Name == "" {
			one.Snapshot.Name = nameOf(target, versions)
		}
		found = append(found, one)
	}
	return found, nil
}

// nameOf names what no pipeline posted, by its images.
func nameOf(target store.Target, versions []store.EventVersion) string {
	hash := sha256.New()
	for _, v := range versions {
		hash.Write([]byte(v.Component + "=" + v.Image() + "\n"))
	}
	return target.Application + "-" + target.Environment + "-" + hex.EncodeToString(hash.Sum(nil))[:12]
}

// names finds the posted snapshots that targets have. It reads those of each application once.
type names struct {
	repository string
	posted     map[string][]store.Snapshot
}

func (a *API) names(repository string) names {
	return names{repository: repository, posted: map[string][]store.Snapshot{}}
}

// find returns the newest posted snapshot whose images are all among the versions.
func (n names) find(
	ctx context.Context, stored *store.Store, application string, versions []store.EventVersion,
) (store.Snapshot, bool, error) {
	posted, known := n.posted[application]
	if !known {
		var err error
		if posted, err = stored.Snapshots.List(ctx, n.repository, application, "", recentSnapshots); err != nil {
			return store.Snapshot{}, false, err
		}
		n.posted[application] = posted
	}
	i := slices.IndexFunc(posted, func(one store.Snapshot) bool { return matchOf(one.Images, versions) == matchAll })
	if i < 0 {
		return store.Snapshot{}, false, nil
	}
	return posted[i], true, nil
}

// of returns the versions as a snapshot, with the name, description, and artifacts of the
// posted one that they are.
func (n names) of(ctx context.Context, stored *store.Store, application string, versions []store.EventVersion) (snapshot.Snapshot, error) {
	var s snapshot.Snapshot
	posted, found, err := n.find(ctx, stored, application, versions)
	if err == nil && found {
		s, err = decode(posted)
	}
	s.Components = nil
	for _, v := range versions {
		s.Components = append(s.Components, snapshot.Component{Name: v.Component, Image: v.Image()})
	}
	return s, err
}

// match is how many images of a snapshot a target has, of those that it refers to.
type match int

const (
	matchNone match = iota // or it refers to none of them
	matchSome
	matchAll
)

// matchOf compares the images of a snapshot with versions.
func matchOf(images map[string]string, versions []store.EventVersion) match {
	shared, same := 0, 0
	for _, v := range versions {
		text, has := images[v.Component]
		if !has {
			continue
		}
		shared++
		if v.Same(versionOf(v.Component, text)) {
			same++
		}
	}
	switch same {
	case 0:
		return matchNone
	case shared:
		return matchAll
	}
	return matchSome
}

// versionOf splits REPOSITORY:TAG@DIGEST, which a registry confirmed.
func versionOf(component, text string) store.EventVersion {
	name, digest, _ := strings.Cut(text, "@")
	v := store.EventVersion{Component: component, Repository: name, Digest: digest}
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		v.Repository, v.Tag = name[:i], name[i+1:]
	}
	return v
}

// past are the landings in one target, newest first.
type past []store.Event

// The limits of the events that are read of one target: for its last landing, and to find an
// earlier one.
const (
	maxRecent = 100
	maxPast   = 5000
)

// past reads the landings in a target since a time, among its last events.
func (a *API) past(ctx context.Context, repository string, target store.Target, since time.Time, limit int) (found past, err error) {
	filter := store.HistoryFilter{
		Key: repository, Environment: target.Environment, Application: target.Application, Since: since,
		Limit: min(limit, api.MaxEvents),
	}
	for read := 0; read < limit; {
		page, err := a.Store.History(ctx, filter)
		if err != nil {
			return nil, err
		}
		read += len(page)
		for _, e := range page {
			if e.IsLanding() {
				found = append(found, e)
			}
		}
		if len(page) < filter.Limit {
			break
		}
		last := page[len(page)-1]
		filter.Before = store.Cursor{At: last.At, ID: last.ID}
	}
	return found, nil
}

// last returns the time and the commit of the last landing at a time.
func (p past) last(at time.Time) (time.Time, string) {
	for _, e := range p {
		if !e.At.After(at) {
			return e.At, e.Commit
		}
	}
	return time.Time{}, ""
}

// at returns the versions at a time: those of the last landing before, or those that the next
// landing replaced, or those of now if nothing landed since. Components of which none of these
// is known are returned apart.
func (p past) at(when time.Time, now []store.EventVersion) (versions []store.EventVersion, unknown []string) {
	for _, current := range now {
		v, known := current, true
		for _, e := range p { // from the newest to the oldest
			i := slices.IndexFunc(e.Versions, func(v store.EventVersion) bool { return v.Component == current.Component })
			if i < 0 {
				continue
			}
			changed := e.Versions[i]
			if !e.At.After(when) {
				v, known = store.EventVersion{Repository: changed.Repository, Tag: changed.Tag, Digest: changed.Digest}, true
				break
			}
			v = store.EventVersion{Repository: changed.Repository, Tag: changed.FromTag, Digest: changed.FromDigest}
			known = v.Tag != "" || v.Digest != ""
		}
		if !known {
			unknown = append(unknown, current.Component)
			continue
		}
		v.Component, v.Repository = current.Component, cmp.Or(v.Repository, current.Repository)
		versions = append(versions, v)
	}
	return versions, unknown
}

// Bindings implements api.Snapshots.
func (a *API) Bindings(ctx context.Context, query api.SnapshotQuery) (api.Bindings, error) {
	r, targets, err := a.selected(ctx, query)
	if err != nil {
		return api.Bindings{}, err
	}
	all := api.Bindings{Schema: api.Schema, At: a.Server.Now().UTC(), Repository: r.Address(), Key: r.Key, Bindings: []api.Binding{}}
	names := a.names(r.Key)
	for _, target := range targets {
		past, err := a.past(ctx, r.Key, target, time.Time{}, maxRecent)
		if err != nil {
			return all, err
		}
		posted, _, err := names.find(ctx, a.Store, target.Application, target.Current)
		if err != nil {
			return all, err
		}
		one := bindingOf(target)
		one.Snapshot = posted.Name
		one.Since, one.Commit = past.last(a.Server.Now())
		all.Bindings = append(all.Bindings, one)
	}
	return all, nil
}

func bindingOf(target store.Target) api.Binding {
	one := api.Binding{
		Environment: target.Environment, Application: target.Application, Branch: target.Branch, Paths: target.Paths,
		State: target.State, Reason: reasonOf(target),
		PullRequest: view.PullRequestOf(target.Number, target.URL, time.Time{}), Components: []api.BindingComponent{},
	}
	there, deployed := 0, 0
	for _, v := range target.Current {
		component := api.BindingComponent{Name: v.Component, Image: v.Image()}
		i := slices.IndexFunc(target.Wanted, func(wanted store.EventVersion) bool { return wanted.Component == v.Component })
		if i >= 0 && !v.Same(target.Wanted[i]) {
			component.Wanted = target.Wanted[i].Image()
		} else {
			there++
		}
		component = runsAs(component, target.Detail.Health)
		if component.Sync == string(health.Synced) && component.Health == string(health.Healthy) {
			deployed++
		}
		one.Components = append(one.Components, component)
	}
	one.Summary = fmt.Sprintf("%d of %d components have the wanted version", there, len(target.Current))
	if reported := target.Detail.Health; reported != nil {
		one.Health = &api.BindingHealth{
			Status: reported.Status, Sync: reported.Sync, Since: reported.Since, Message: reported.Message, Failure: reported.Failure,
		}
		one.Summary = fmt.Sprintf("%d of %d components deployed, %d have the wanted version", deployed, len(target.Current), there)
	}
	return one
}

// runsAs adds sync and health to a component. Sources report about all components of a target
// together: what runs in place of the files distinguishes them.
func runsAs(component api.BindingComponent, reported *store.TargetHealth) api.BindingComponent {
	if reported == nil || reported.Status == "" && len(reported.Actual) == 0 {
		return component
	}
	i := slices.IndexFunc(reported.Actual, func(v store.EventVersion) bool { return v.Component == component.Name })
	switch {
	case i >= 0:
		component.Actual = reported.Actual[i].Image()
		component.Sync = string(health.OutOfSync)
		component.Health = reported.ActualStatus
	case len(reported.Actual) > 0 && (reported.Status == "" || reported.Status == string(health.Unknown)):
		component.Sync, component.Health = string(health.Synced), reported.ActualStatus // it did not change
	default:
		component.Sync, component.Health = cmp.Or(reported.Sync, string(health.Synced)), reported.Status
	}
	return component
}

func reasonOf(target store.Target) *view.Reason {
	return view.ReasonOf(target.Rule, target.Message, time.Time{})
}
