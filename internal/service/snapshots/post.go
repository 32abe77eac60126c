// Package snapshots promotes the snapshots that pipelines post, and shows what is in each
// environment: it implements api.Snapshots.
//
// What is posted is a request, and never data. Every image is verified at its registry with
// the credentials of the repository. The request is written to promoter/_state before it is
// answered, as explicit versions for the environments without parents: from there on it is a
// promotion like any other. The database has what a reconciliation does not need: names,
// descriptions, and artifacts.
package snapshots

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/api"
	"promoter/internal/config"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/parallel"
	"promoter/internal/promotion"
	"promoter/internal/serverfile"
	"promoter/internal/service"
	"promoter/internal/snapshot"
	"promoter/internal/state"
	"promoter/internal/store"
)

// API implements api.Snapshots.
type API struct {
	Server  *serverfile.Server
	Service *service.Service
	Store   *store.Store
	Log     *slog.Logger
	DryRun  bool // nothing is written to any repository
}

// Post implements api.Snapshots. When it returns, the request is on promoter/_state.
func (a *API) Post(ctx context.Context, posted api.PostedSnapshot) (requested api.Requested, err error) {
	if a.DryRun {
		return requested, fault.New(fault.Conflict, "the service runs with --dry-run: it promotes nothing")
	}
	posted.Snapshot = posted.Snapshot.Named()
	if err := posted.Snapshot.Check(); err != nil {
		return requested, fault.New(fault.Invalid, "the snapshot cannot be used: %w", err)
	}
	if a, b := posted.Repository, posted.Snapshot.Repository; a != "" && b != "" && !strings.EqualFold(a, b) {
		return requested, fault.New(fault.Invalid, "the URL names the repository %.200q, and the snapshot %.200q", a, b)
	}
	posted.Repository = cmp.Or(posted.Repository, posted.Snapshot.Repository)
	posted.Application = cmp.Or(posted.Application, posted.Snapshot.Application)
	err = a.Service.Borrow(ctx, a.choice(posted), func(ctx context.Context, b service.Borrowed) error {
		requested, err = a.post(ctx, b, posted)
		return err
	})
	return requested, api.Authenticated(err)
}

// poster is who posts, for messages and for the state branch.
func poster(receiver string) string { return "receiver " + receiver }

// choice returns the function that finds the repository among those for which the receiver
// may post. Others are not distinguished from those that do not exist.
func (a *API) choice(posted api.PostedSnapshot) func([]*connect.Repository) (*connect.Repository, error) {
	return func(all []*connect.Repository) (*connect.Repository, error) {
		var found []*connect.Repository
		for _, repository := range all {
			if a.Server.MayPost(posted.Receiver, repository.Matches, "") &&
				(posted.Repository == "" || repository.IsNamed(posted.Repository)) {
				found = append(found, repository)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1 && posted.Repository == "":
			return nil, fault.New(fault.Invalid, "%s may post for %d repositories: name one with ?repository=HOST/OWNER/NAME",
				poster(posted.Receiver), len(found))
		case len(found) > 1:
			return nil, fault.New(fault.Invalid, "%.200q is the name of %d repositories: write HOST/OWNER/NAME",
				posted.Repository, len(found))
		}
		return nil, fault.New(fault.NotFound, "there is no repository %.200q for which %s may post snapshots",
			posted.Repository, poster(posted.Receiver))
	}
}

// post requests the promotion of a snapshot in an open repository.
func (a *API) post(ctx context.Context, b service.Borrowed, posted api.PostedSnapshot) (api.Requested, error) {
	if info := b.Repository.SCM.Info(); info.Archived {
		return api.Requested{}, fault.New(fault.Invalid, "the repository is archived: unarchive it first")
	}
	images, err := parse(posted.Snapshot.Components)
	if err != nil {
		return api.Requested{}, err
	}
	roots, err := readRoots(ctx, b)
	if err != nil {
		return api.Requested{}, err
	}
	// Applications for which the receiver may not post are not distinguished from those that do not exist.
	maps.DeleteFunc(roots.targets, func(target promotion.Target, _ promotion.Current) bool {
		return !a.Server.MayPost(posted.Receiver, b.Repository.Matches, target.Application)
	})
	roots.receiver = posted.Receiver
	if len(roots.targets) == 0 {
		return api.Requested{}, fault.New(fault.Invalid,
			"no environment without parents has a reference to a component in an application for which %s may post snapshots",
			poster(posted.Receiver))
	}
	targets, err := roots.targetsOf(posted.Application, images)
	if err != nil {
		return api.Requested{}, err
	}
	application := targets[0].Application
	key, name := string(b.Repository.Key()), posted.Snapshot.Name
	requested := api.Requested{
		Schema: api.Schema, Name: name, Repository: b.Host + "/" + b.Name, Key: key, Application: application,
		Run: api.PathOfRun(name, b.Host+"/"+b.Name, application),
	}
	for _, target := range targets {
		requested.Environments = append(requested.Environments, target.Environment)
	}
	before, err := a.Store.Snapshots.List(ctx, key, application, name, 1)
	if err != nil {
		return api.Requested{}, err
	}
	if len(before) > 0 && sameAs(before[0], posted.Snapshot) {
		requested.Images, requested.Repeated = before[0].Images, true
		return requested, nil
	}
	if images, err = roots.verify(ctx, b, images); err != nil {
		return api.Requested{}, err
	}
	requested.Images = roots.byComponent(targets, images)
	if len(before) > 0 && (len(before[0].Content) > 0 || !maps.Equal(before[0].Images, requested.Images)) {
		const problem = "there is another snapshot %s of %s, posted on %s with other images: give this one another name"
		on := before[0].PostedAt.UTC().Format(time.RFC3339)
		return api.Requested{}, fault.New(fault.Conflict, problem, name, application, on)
	}
	act := state.Act{By: identity.User{Login: poster(posted.Receiver), Bot: true}, At: a.Server.Now().UTC(), Reason: "snapshot " + name}
	if err := record(ctx, b, roots, targets, images, state.Request{Act: act, Posted: name}); err != nil {
		return api.Requested{}, err
	}
	if err := a.store(ctx, posted, requested, a.Server.Now()); err != nil {
		return api.Requested{}, err
	}
	log := a.Log.With(slog.String("repository", b.Repository.Name), slog.String("key", key), slog.String("application", application))
	log.InfoContext(ctx, "snapshot posted", slog.String("snapshot", name), slog.String("receiver", posted.Receiver),
		slog.Any("environments", requested.Environments))
	return requested, a.Service.Trigger(ctx, key)
}

// sameAs reports whether a snapshot was posted before.
func sameAs(stored store.Snapshot, posted snapshot.Snapshot) bool {
	before, err := decode(stored)
	return err == nil && len(stored.Content) > 0 && before.Same(posted)
}

func (a *API) store(ctx context.Context, posted api.PostedSnapshot, requested api.Requested, at time.Time) error {
	content, err := json.Marshal(posted.Snapshot)
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	return a.Store.Snapshots.Save(ctx, store.Snapshot{
		Repository: requested.Key, Application: requested.Application, Name: posted.Snapshot.Name, Receiver: posted.Receiver, PostedAt: at,
		Content: content, Images: requested.Images,
	})
}

// decode returns a stored snapshot as it was posted. Of one that was restored, only the name
// and the images are known.
func decode(stored store.Snapshot) (s snapshot.Snapshot, err error) {
	if len(stored.Content) > 0 {
		if err := json.Unmarshal(stored.Content, &s); err != nil {
			return s, fmt.Errorf("read the snapshot %s: %w", stored.Name, err)
		}
	}
	for _, component := range slices.Sorted(maps.Keys(stored.Images)) {
		if len(stored.Content) == 0 {
			s.Components = append(s.Components, snapshot.Component{Name: component, Image: stored.Images[component]})
		}
	}
	s.Name, s.Application = stored.Name, stored.Application
	return s, nil
}

// parse parses the images of a snapshot, each of another repository.
func parse(components []snapshot.Component) ([]image.Reference, error) {
	var images []image.Reference
	for _, c := range components {
		parsed, err := image.Parse(c.Image)
		switch {
		case err != nil:
			return nil, fault.New(fault.Invalid, "the image of %.100q: %w", c.Name, err)
		case parsed.Tag == "" && parsed.Digest == "":
			return nil, fault.New(fault.Invalid, "the image of %.100q, %.200q, has neither a tag nor a digest", c.Name, c.Image)
		}
		for _, other := range images {
			if other.Repository == parsed.Repository && (other.Tag != parsed.Tag || other.Digest != parsed.Digest) {
				return nil, fault.New(fault.Invalid, "it has two versions of %s", parsed.Repository)
			}
		}
		images = append(images, parsed)
	}
	return images, nil
}

// roots are the targets without parents, with what their files refer to.
type roots struct {
	config   *config.Config
	targets  map[promotion.Target]promotion.Current
	receiver string // the name of the one that may post for them
}

// readRoots reads the files of the environments that follow no other for some application.
func readRoots(ctx context.Context, b service.Borrowed) (roots, error) {
	c, defaultBranch, err := b.Workspace.Config(ctx)
	if err != nil {
		return roots{}, err
	}
	r := roots{config: c, targets: map[promotion.Target]promotion.Current{}}
	for _, environment := range c.Environments {
		branch := cmp.Or(environment.Branch, defaultBranch)
		heads, err := b.Workspace.Reconciler.Clients.Remote.Fetch(ctx, branch)
		if err != nil {
			return roots{}, err
		}
		if heads[branch] == "" {
			continue
		}
		tree, err := b.Workspace.Reconciler.Clients.Files.At(ctx, c, heads[branch], []string{environment.Name})
		if err != nil {
			return roots{}, err
		}
		for target, current := range tree.Targets() {
			if len(c.Settings(target.Environment, target.Application).After) == 0 && len(current.References) > 0 {
				r.targets[target] = current
			}
		}
	}
	return r, nil
}

// refers returns the component of a target that an image belongs to.
func (r roots) refers(target promotion.Target, one image.Reference) (component string, found bool) {
	for _, reference := range r.targets[target].References {
		if reference.Repository == one.Repository {
			return reference.Component, true
		}
	}
	return "", false
}

// targetsOf returns the targets of the one application that a snapshot is of. Every image
// must belong to it: a snapshot is promoted as a whole.
func (r roots) targetsOf(named string, images []image.Reference) ([]promotion.Target, error) {
	applications := map[string]bool{}
	having := map[string]bool{}
	for target := range r.targets {
		applications[target.Application] = true
		for _, one := range images {
			if _, found := r.refers(target, one); found {
				having[target.Application] = true
			}
		}
	}
	all := slices.Sorted(maps.Keys(applications))
	application := named
	switch single := len(all) == 1 && all[0] == config.DefaultApplication; {
	case single: // the config distinguishes no applications
		application = all[0]
	case named != "" && !applications[named]:
		return nil, fault.New(fault.NotFound, "there is no application %.100q for which %s may post snapshots; there are %s",
			named, poster(r.receiver), fault.List(all))
	case named == "" && len(having) > 1:
		return nil, fault.New(fault.Invalid,
			"its images belong to the applications %s: name one with ?application=, and post one snapshot for each",
			fault.List(slices.Sorted(maps.Keys(having))))
	case named == "":
		for application = range having {
			break
		}
	}
	var targets []promotion.Target
	for target := range r.targets {
		if target.Application == application {
			targets = append(targets, target)
		}
	}
	for _, one := range images {
		if !slices.ContainsFunc(targets, func(target promotion.Target) bool { _, found := r.refers(target, one); return found }) {
			return nil, r.unknown(application, one)
		}
	}
	targets = slices.DeleteFunc(targets, func(target promotion.Target) bool {
		return !slices.ContainsFunc(images, func(one image.Reference) bool { _, found := r.refers(target, one); return found })
	})
	slices.SortFunc(targets, func(a, b promotion.Target) int {
		return cmp.Compare(slices.Index(r.config.Order(), a.Environment), slices.Index(r.config.Order(), b.Environment))
	})
	return targets, nil
}

// unknown returns the error of an image that no component of the application follows. It may
// belong to another application.
func (r roots) unknown(application string, one image.Reference) error {
	for target := range r.targets {
		if _, found := r.refers(target, one); found {
			return fault.New(fault.Invalid, "%s belongs to the application %s, and the others to %s: post one snapshot for each",
				one.Repository, target.Application, application)
		}
	}
	where := application
	if application == "" || application == config.DefaultApplication {
		where = "this repository"
	}
	return fault.New(fault.Invalid, "no component of %s follows %s", where, one.Repository)
}

// registryRequests is how many images are verified at the same time.
const registryRequests = 8

// verify returns the images with the digests that the registry has. One that does not exist,
// or whose tag has another digest, is refused.
func (r roots) verify(ctx context.Context, b service.Borrowed, images []image.Reference) ([]image.Reference, error) {
	// An answer from before the image was pushed must not count.
	b.Session.ForgetAnswers(func(repository image.Repository) bool {
		return slices.ContainsFunc(images, func(one image.Reference) bool { return one.Repository == repository })
	})
	verified := slices.Clone(images)
	indexes := make([]int, len(images))
	for i := range indexes {
		indexes[i] = i
	}
	return verified, parallel.ForEach(registryRequests, indexes, func(i int) (err error) {
		verified[i], err = r.verifyOne(ctx, b, images[i])
		return err
	})
}

func (r roots) verifyOne(ctx context.Context, b service.Borrowed, one image.Reference) (image.Reference, error) {
	component := ""
	for target := range r.targets {
		if name, found := r.refers(target, one); found {
			component = name
		}
	}
	resolve := func(tag, digest string) (image.Version, error) {
		fact := promotion.Fact{Repository: one.Repository, Tag: tag, Digest: digest}
		return b.Workspace.Reconciler.Clients.Registries.Resolve(ctx, promotion.Lookup{Fact: fact, Component: component})
	}
	if one.Digest != "" {
		found, err := resolve("", one.Digest)
		if err != nil {
			return one, err
		}
		if found.Digest == "" {
			return one, fault.New(fault.Invalid, "the registry has no %s@%s", one.Repository, one.Digest)
		}
	}
	if one.Tag == "" || one.Digest != "" && r.moving(component) {
		return one, nil
	}
	found, err := resolve(one.Tag, "")
	switch {
	case err != nil:
		return one, err
	case found.Digest == "":
		return one, fault.New(fault.Invalid, "the registry has no %s:%s", one.Repository, one.Tag)
	case one.Digest != "" && one.Digest != found.Digest:
		return one, fault.New(fault.Invalid, "the tag %s of %s has the digest %s and not %s", one.Tag, one.Repository,
			found.Digest, one.Digest)
	}
	one.Digest = found.Digest
	return one, nil
}

// moving reports whether a component follows a tag that moves: then its tag need not have the
// digest anymore.
func (r roots) moving(component string) bool {
	policy := r.config.Policy(component)
	if policy == nil {
		return false
	}
	_, moving := policy.Moving()
	return moving
}

// reference returns a verified image as the state branch has it.
func reference(one image.Reference) string {
	one.Name = one.Repository.String()
	return one.String()
}

// byComponent returns the images by component.
func (r roots) byComponent(targets []promotion.Target, images []image.Reference) map[string]string {
	found := map[string]string{}
	for _, target := range targets {
		for _, one := range images {
			if component, refers := r.refers(target, one); refers {
				found[component] = reference(one)
			}
		}
	}
	return found
}

// record writes the request to the state branch, for all targets in one commit.
func record(
	ctx context.Context, b service.Borrowed, r roots, targets []promotion.Target, images []image.Reference, request state.Request,
) error {
	var changes []state.Change
	for _, target := range targets {
		own := request
		var versions []state.Version
		for _, one := range images {
			component, refers := r.refers(target, one)
			if text := reference(one); refers && !slices.Contains(own.With, text) {
				own.With = append(slices.Clone(own.With), text)
				versions = append(versions, state.Version{Component: component, Tag: one.Tag, Digest: one.Digest})
			}
		}
		changes = append(changes, state.Post(state.Target(target), own, versions))
	}
	what := targets[0].Name()
	if len(targets) > 1 {
		what = state.Target{Environment: state.All, Application: state.All}.String()
	}
	recorded, err := b.Workspace.Reconciler.Clients.StateBranch().Record(ctx, state.Subject("Promote", what, request.Reason), changes...)
	if err != nil {
		return err
	}
	for _, target := range targets {
		at := state.Target(target)
		if other := recorded.After.At(at).Request; other == nil || other.Posted != request.Posted {
			return fault.New(fault.Conflict, "versions for %s were requested by a user, and come first: post it again when they landed", at)
		}
	}
	return nil
}
