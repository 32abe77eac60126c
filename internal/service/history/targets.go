package history

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/engine"
	"promoter/internal/glob"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
	"promoter/internal/store"
)

// Targets returns what a reconciliation found in each target, in the order of the
// environments. It returns false if this process has written the same, or if nothing was
// found. The function is to be called after the targets were written.
func (r *Recorder) Targets(key string, report engine.Report) (targets []store.Target, changed bool, written func()) {
	if report.Config == nil || report.Unusable != "" || report.Decisions == nil {
		return nil, false, func() {}
	}
	targets = targetsOf(report)
	text, err := json.Marshal(targets)
	digest := sha256.Sum256(text)
	key = "targets " + key
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return targets, err != nil || r.written[key] != digest, func() { r.write(key, digest) }
}

// write remembers the digest of what was written.
func (r *Recorder) write(key string, digest [sha256.Size]byte) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.written == nil {
		r.written = map[string][sha256.Size]byte{}
	}
	r.written[key] = digest
}

// targetsOf returns the targets that have files of the application.
func targetsOf(report engine.Report) []store.Target {
	var decisions state.State
	if n := len(report.UserDecisions); n > 0 {
		decisions = report.UserDecisions[n-1]
	}
	open := openPullRequests(report)
	var targets []store.Target
	for _, d := range report.Decisions {
		environment, known := report.Config.Environment(d.Environment)
		if !known || d.State == promotion.Absent || d.State == promotion.NoReference || d.Application == "" {
			continue
		}
		one := store.Target{
			Environment: d.Environment, Application: d.Application, Branch: cmp.Or(environment.Branch, report.Default), Paths: pathsOf(environment, d.Application),
			State: string(d.State), Rule: string(d.Reason.Rule), Message: d.Reason.Message, Until: d.Reason.Until,
			Current: versionsOf(currentOf(d)), Wanted: versionsOf(d.Snapshot),
			Number: open[d.Target].Number, URL: open[d.Target].URL,
		}
		for _, parent := range report.Config.Settings(d.Environment, d.Application).After {
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

// openPullRequests returns the open pull request of each target that has one.
func openPullRequests(report engine.Report) map[promotion.Target]promotion.Open {
	open := map[promotion.Target]promotion.Open{}
	for _, effect := range report.Effects {
		if effect.Action == engine.ActionMerged || effect.Action == engine.ActionClosed || effect.Action == engine.ActionPushed {
			continue
		}
		number, url := effect.Number, effect.URL
		if number == 0 && effect.Open != nil {
			number, url = effect.Open.Number, effect.Open.URL
		}
		for _, d := range effect.Decisions {
			if number > 0 {
				open[d.Target] = promotion.Open{Number: number, URL: url}
			}
		}
	}
	return open
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
	return store.EventVersion{Component: component, Repository: repository.String(), Tag: v.Tag, Digest: v.Digest}
}

// pathsOf returns the paths of an environment with the name of the application.
func pathsOf(environment *config.Environment, application string) []string {
	var paths []string
	for _, path := range environment.Paths {
		paths = append(paths, strings.ReplaceAll(path, glob.Application, application))
	}
	return paths
}
