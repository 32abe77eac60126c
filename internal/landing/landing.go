// Package landing reads from the history of branches what landed in which target, and when.
//
// A landing is a commit in the first-parent history of a target's branch that brought the
// versions of a snapshot into the files of the target. promoter pushed it, or a user or a forge
// merged, squashed, rebased, or cherry-picked what promoter wrote.
//
// # Claims
//
// Each commit of promoter names its targets and snapshots in trailers. A squash and a rebase
// keep them, unless a user writes another message. A merge has them in its second parent. Any
// user who can push can write the same trailers, and the name of promoter as the committer. So
// a trailer is a claim, and so is the committer.
//
// # Proof
//
// The files prove a claim: those of the commit, compared with those of its first parent. The
// verdict about it is one of these:
//
//   - Proven: the commit changed references of the target, and they have the claimed versions.
//   - No landing: the commit changed nothing, like a merge of what was there already.
//   - False: the files have other versions. The commit counts as a change by a user, who is
//     shown why. So does a commit with the committer of promoter that changes anything else.
//   - Unknown: the config no longer matches the layout of the files. It proves nothing and
//     contradicts nothing, so it can only restrict: it may count as reverted.
//
// A verdict follows from a commit, which never changes, and from the config, whose fingerprint
// is in the key. So it may be kept without limit, and each commit is read once. It is kept on
// the disk of promoter, where no user writes. Without it, the commit is read again. One about a
// commit whose parent is not readable yet is not kept.
//
// # Shallow history
//
// A mirror has only the newest commits. Reading takes what is readable, and fetches more only if
// that ends before what is needed: the landings since a time, and the current landing however
// old it is. A commit at the end of what is readable is compared with nothing. Its versions are
// then enough for a proof.
//
// # What only the forge knows
//
// Users set the times in commits, so only the forge proves when a pull request was merged, and when a
// commit was pushed. It also has the head of a merged pull request, with its trailers, where the commit that landed
// has none: a squash with another message.
package landing

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"promoter/internal/health"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/scm"
	"promoter/internal/seal"
	"promoter/internal/state"
)

// Reader reads what landed in targets. It has no state of its own: each method answers one
// question about the branches.
type Reader struct {
	Remote     repo.Remote
	Objects    repo.Objects
	Repository scm.Repository
	By         repo.Signature // of our commits
	Past       *PastFiles
	Pushes     *Pushes // nil: the forge is not asked about pushes
	Memory     Memory  // of verdicts; nil: none
	States     States  // nil: the health of landed commits is only on the forge
	// Assumed returns the health that is assumed for what is in a target, whatever sources
	// reported. Nil: none is.
	Assumed func(promotion.Target) (health.Status, bool)
	Log     *slog.Logger
	// Seals prove what heads that were replaced had. Without keys, only what is readable proves it.
	Seals seal.Keys
}

// History is what landed where, for the targets in which something would change, and for
// those that it would come from.
type History struct {
	Landings  map[promotion.Target][]promotion.Landing
	Reverted  map[promotion.Target][]promotion.Reversion
	Falsified map[promotion.Target][]promotion.Reason // false claims
	Attempts  map[promotion.Target]map[string]int     // how often each snapshot landed before, by id
	Restored  map[promotion.Target]promotion.Snapshot // what the commit of a rollback had
	Changes   []state.Change                          // times to remember
	Health    []HealthChange                          // states to remember
}

// Read reads from the branches what landed. An environment that cannot be read is a failure.
func (r Reader) Read(ctx context.Context, o Observed, failures *repo.Collector) (History, error) {
	all := History{
		Landings:  map[promotion.Target][]promotion.Landing{},
		Reverted:  map[promotion.Target][]promotion.Reversion{},
		Falsified: map[promotion.Target][]promotion.Reason{},
		Attempts:  map[promotion.Target]map[string]int{},
		Restored:  map[promotion.Target]promotion.Snapshot{},
	}
	statuses := newStatusReader(r)
	defer statuses.close()
	monitored := newHealthReader(r, statuses)
	needs := historyNeeds(o)
	for _, branch := range slices.Sorted(maps.Keys(needs)) {
		need := needs[branch]
		verified, branchErr := r.branch(branch, o.Heads[branch]).readLandings(ctx, r.prover(o), need)
		for _, target := range sortedTargets(need.targets) {
			history, err := targetHistory{}, branchErr
			if err == nil {
				history, err = r.in(o, target).readAll(ctx, monitored, verified[target], need.targets[target])
			}
			if err != nil {
				err = fmt.Errorf("read the history of %s: %w", branch, err)
			}
			// The other environments go on. What was found before the error is kept: it restricts.
			if err := failures.SkipEnvironment(ctx, target.Environment, err); err != nil {
				return all, err
			}
			all.add(target, history, verified[target].falsified)
		}
	}
	return all, nil
}

func (all *History) add(target promotion.Target, history targetHistory, falsified []promotion.Reason) {
	all.Attempts[target] = history.attempts
	all.Reverted[target] = history.reverted
	all.Falsified[target] = falsified
	if history.landings != nil {
		all.Landings[target] = history.landings
	}
	if history.restored != nil {
		all.Restored[target] = history.restored
	}
	all.Changes = append(all.Changes, history.changes...)
	all.Health = append(all.Health, history.health...)
}

// in reads the history of one target.
func (r Reader) in(o Observed, target promotion.Target) targetReader {
	return targetReader{from: r, o: o, target: target}
}

// branch reads the first-parent history of a branch.
func (r Reader) branch(name, tip string) branchHistory {
	return branchHistory{from: r, name: name, tip: tip}
}

// prover proves claims.
func (r Reader) prover(o Observed) prover { return prover{from: r, o: o} }
