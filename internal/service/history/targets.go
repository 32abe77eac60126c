package history

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/config"
	"promoter/internal/glob"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/state"
	"promoter/internal/store"
)

// Found is what a reconciliation found in a repository.
type Found struct {
	// Targets are in the order of the environments. They are unknown if the repository cannot be
	// used.
	Targets []store.Target
	// Posted are the snapshots that are requested on the state branch, for a database that was
	// lost.
	Posted []store.Snapshot
	Detail store.RepositoryDetail
	// Usable reports whether Targets and Posted are known.
	Usable bool
	// Touched are the applications of which Targets are, sorted; nil: all of them.
	Touched []string `json:"-"`
}

// foundVersion is part of what identifies a config. It increases when another text is made of
// the same file.
const foundVersion = "1 "

// Found returns what a reconciliation found, without the config, and what identifies it. It
// returns false if that is known to be stored, or if nothing was found. Of an incremental
// reconciliation it returns what it found about the touched applications, which nothing identifies.
func (r *Recorder) Found(report outcome.Report, known store.FoundDigest) (found Found, digest store.FoundDigest, changed bool, err error) {
	found = Found{Detail: repositoryDetailOf(report), Usable: report.Config != nil && report.Unusable == "" && report.Decisions != nil}
	if !found.Usable && report.Unusable == "" {
		return Found{}, known, false, nil
	}
	if report.Config != nil {
		digest.Config = foundVersion + report.Config.Fingerprint()
	}
	if report.Touched != nil && digest.Config != known.Config {
		report.Touched = nil // another release, or another replica, stored what it found
	}
	if report.Touched != nil {
		found.Touched = append([]string{}, slices.Sorted(maps.Keys(report.Touched))...)
	}
	if found.Usable {
		found.Targets, found.Posted = targetsOf(report, r.Now()), postedIn(string(report.Repository), report)
	}
	if found.Touched == nil {
		text, err := json.Marshal([]any{digest.Config, found})
		if err != nil {
			return found, digest, false, fmt.Errorf("what was found: %w", err)
		}
		sum := sha256.Sum256(text)
		digest.All = hex.EncodeToString(sum[:])
		if digest == known {
			return found, digest, false, nil
		}
	}
	if report.Config != nil && digest.Config != known.Config {
		found.Detail.Config = resolvedText(report.Config)
	}
	return found, digest, true, nil
}

// All returns all targets of a report.
func (r *Recorder) All(report outcome.Report) []store.Target {
	report.Touched = nil
	return targetsOf(report, r.Now())
}

// postedIn returns the snapshots that are requested, as far as the state branch has them.
func postedIn(key string, report outcome.Report) (posted []store.Snapshot) {
	decisions := lastDecisions(report)
	for _, d := range report.Decisions {
		request := decisions.At(state.Target(d.Target)).Request
		if request == nil || request.Posted == "" {
			continue
		}
		i := slices.IndexFunc(posted, func(one store.Snapshot) bool {
			return one.Application == d.Application && one.Name == request.Posted
		})
		if i < 0 {
			i = len(posted)
			posted = append(posted, store.Snapshot{
				Repository: key, Application: d.Application, Name: request.Posted, Images: map[string]string{},
				Receiver: strings.TrimPrefix(request.By.Login, "receiver "), PostedAt: request.At,
			})
		}
		for _, text := range request.With {
			for component, pinned := range d.Snapshot {
				if wanted, err := image.Parse(text); err == nil && wanted.Repository == pinned.Repository {
					posted[i].Images[component] = text
				}
			}
		}
	}
	return posted
}

// lastDecisions are the user decisions as the reconciliation left them.
func lastDecisions(report outcome.Report) (decisions state.State) {
	if n := len(report.UserDecisions); n > 0 {
		decisions = report.UserDecisions[n-1]
	}
	return decisions
}

// targetsOf returns the targets that have files of the application, of those that were touched.
func targetsOf(report outcome.Report, now time.Time) []store.Target {
	decisions := lastDecisions(report)
	open, deferred := openPullRequests(report), deferredMerges(report)
	var targets []store.Target
	position := -1
	for _, d := range report.Decisions {
		environment, known := report.Config.Environment(d.Environment)
		if !known || d.State == promotion.Absent || d.State == promotion.NoReference || d.Application == "" {
			continue
		}
		if position++; report.Touched != nil && !report.Touched[d.Application] {
			continue
		}
		settings := report.Config.Settings(d.Environment, d.Application)
		one := store.Target{
			Position: position, Environment: d.Environment, Application: d.Application,
			Branch: cmp.Or(environment.Branch, report.Default), Paths: pathsOf(environment, d.Application),
			State: string(d.State), Rule: string(d.Reason.Rule), Message: d.Reason.Message, Until: d.Reason.Until,
			Current: versionsOf(currentOf(d)), Wanted: versionsOf(d.Snapshot),
			Number: open[d.Target].Number, URL: open[d.Target].URL,
			Detail: detailOf(report, d, settings, decisions, now),
		}
		if reason, ok := deferred[d.Target]; ok {
			one.Rule, one.Message = string(reason.Rule), reason.Message
			one.Until = reason.Until
		}
		one.Detail.Opened = open[d.Target].Opened
		if one.Number > 0 {
			addSourceChanges(&one, report, d)
		}
		one.Monitored, one.Labels = settings.Health != nil, labelsOf(report.Config, environment, d.Application)
		for _, parent := range settings.After {
			one.After = append(one.After, parent.Environment)
		}
		if request := decisions.At(state.Target(d.Target)).Request; request != nil && d.Fulfilled == nil {
			one.Posted = request.Posted
		}
		targets = append(targets, one)
	}
	order := report.Config.Order()
	slices.SortStableFunc(targets, func(a, b store.Target) int {
		return cmp.Compare(slices.Index(order, a.Environment), slices.Index(order, b.Environment))
	})
	return targets
}

// maxTargetLabels limits the labels of a target, which many entries of a config file may give to one application.
const maxTargetLabels = 40

// labelsOf returns the labels of a target. Those of the application have priority.
func labelsOf(c *config.Config, environment *config.Environment, application string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, environment.Labels)
	maps.Copy(all, c.Application(application).Labels)
	if len(all) > maxTargetLabels {
		for _, name := range slices.Sorted(maps.Keys(all))[maxTargetLabels:] {
			delete(all, name)
		}
	}
	return all
}

// openPullRequests returns the open pull request of each target that has one.
func openPullRequests(report outcome.Report) map[promotion.Target]promotion.Open {
	open := map[promotion.Target]promotion.Open{}
	for _, effect := range report.Effects {
		if effect.Action == outcome.ActionMerged || effect.Action == outcome.ActionClosed || effect.Action == outcome.ActionPushed {
			continue
		}
		number := effect.Number
		url := effect.URL
		opened := time.Time{}
		if number == 0 && effect.Open != nil {
			number, url = effect.Open.Number, effect.Open.URL
		}
		if effect.Open != nil {
			opened = effect.Open.Opened
		}
		for _, d := range effect.Decisions {
			if number > 0 {
				open[d.Target] = promotion.Open{Number: number, URL: url, Opened: opened}
			}
		}
	}
	return open
}

// deferredMerges returns why the forge did not merge the pull request of a target that is ready.
func deferredMerges(report outcome.Report) map[promotion.Target]promotion.Reason {
	deferred := map[promotion.Target]promotion.Reason{}
	for _, effect := range report.Effects {
		if !effect.Deferred || effect.Err != nil {
			continue
		}
		for _, d := range effect.Decisions {
			deferred[d.Target] = effect.Reason
		}
	}
	return deferred
}

// currentOf returns what the files of a target have.
func currentOf(d promotion.Decision) promotion.Snapshot {
	current := promotion.Snapshot{}
	for component, pinned := range d.Snapshot {
		if move, moves := promotion.MoveOf(d.Moves, component); moves {
			pinned.Version = move.From
		}
		current[component] = pinned
	}
	return current
}

func versionsOf(snapshot promotion.Snapshot) []store.EventVersion {
	versions := []store.EventVersion{}
	for _, component := range snapshot.Components() {
		versions = append(versions, versionOf(component, snapshot[component].Repository, snapshot[component].Version))
	}
	return versions
}

func versionOf(component string, repository image.Repository, v image.Version) store.EventVersion {
	return store.EventVersion{Component: component, Repository: repository.String(), Tag: v.Tag, Digest: v.Digest, Revision: v.Revision}
}

// pathsOf returns the paths of an environment with the name of the application.
func pathsOf(environment *config.Environment, application string) []string {
	var paths []string
	for _, path := range environment.Paths {
		paths = append(paths, strings.ReplaceAll(path, glob.Application, application))
	}
	return paths
}
