package landing

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"promoter/internal/image"
	"promoter/internal/promotion"
)

// This file is what files prove about a claim, and how it is remembered. The package comment
// states why it may be.

// Memory remembers verdicts about landings. It is an aid: without it, the files of
// their commits are read again.
type Memory interface {
	Load(key string) (verdict string, known bool)
	Store(verdicts map[string]string) error
}

// verdict is what files prove about a claim. As long as the config does not change, it does
// not change either.
type verdict struct {
	// Proven is set if the commit brought the versions. Without Why, it is otherwise not a
	// landing, such as a merge of what was there already.
	Proven bool `json:"proven,omitempty"`
	// Unknown is set if the files have a layout that the config no longer matches.
	Unknown bool `json:"unknown,omitempty"`
	// Ours is set if promoter made the commit: it has our committer, and changes nothing else.
	Ours bool `json:"ours,omitempty"`
	// Merged is set if promoter made the head that the commit merged, and its request is that
	// of the claim or promoter made the merge too.
	Merged bool `json:"merged,omitempty"`
	// Authored is set if promoter is the author of a merge of such a head.
	Authored bool `json:"authored,omitempty"`
	// Missing are the components to which no file refers.
	Missing []string `json:"missing,omitempty"`
	// Before are the images of before, of the components that the commit changed.
	Before map[string]string `json:"before,omitempty"`
	// Why is how the files contradict the claim.
	Why string `json:"why,omitempty"`
}

// The parts of an attribution.
const (
	partRequest  = "request"
	partApproval = "approval"
)

// unproven returns the parts of an attribution that any user could have written: those of
// commits that are not what promoter writes. The request is in the head of a pull request,
// which promoter made; the approvals are only in the commit that merged it.
func (v verdict) unproven(a promotion.Attribution) (parts []string) {
	requested := a.RequestedBy != "" || a.Reason != "" || len(a.Bypassed) > 0
	if requested && !v.Ours && !v.Merged {
		parts = append(parts, partRequest)
	}
	if len(a.ApprovedBy) > 0 && !v.Ours && !(v.Merged && v.Authored) {
		parts = append(parts, partApproval)
	}
	return parts
}

// before returns the versions that the commit replaced.
func (v verdict) before() promotion.Snapshot {
	before := promotion.Snapshot{}
	for component, text := range v.Before {
		if was, err := image.Parse(text); err == nil {
			before[component] = promotion.Pinned{Repository: was.Repository, Version: was.Version()}
		}
	}
	return before
}

// without returns a snapshot without the components to which no file refers.
func (v verdict) without(snapshot promotion.Snapshot) promotion.Snapshot {
	left := maps.Clone(snapshot)
	maps.DeleteFunc(left, func(component string, _ promotion.Pinned) bool { return slices.Contains(v.Missing, component) })
	return left
}

// claimKey identifies a claim under the config.
func claimKey(past *PastFiles, c claim) string {
	return strings.Join([]string{past.config.Fingerprint(), c.commit, c.Environment, c.Application, c.SnapshotID}, " ")
}

// judgment is a claim with the verdict about it.
type judgment struct {
	claim
	verdict
}

// verdictOf returns the verdict about a claim that is remembered.
func (r Reader) verdictOf(c claim) (v verdict, found bool) {
	if r.Memory == nil {
		return v, false
	}
	text, known := r.Memory.Load(claimKey(r.Past, c))
	return v, known && json.Unmarshal([]byte(text), &v) == nil
}

// keep remembers verdicts.
func (r Reader) keep(ctx context.Context, judged []judgment) {
	texts := map[string]string{}
	for _, j := range judged {
		if text, err := json.Marshal(j.verdict); err == nil {
			texts[claimKey(r.Past, j.claim)] = string(text)
		}
	}
	if r.Memory == nil || len(texts) == 0 {
		return
	}
	if err := r.Memory.Store(texts); err != nil {
		r.Log.WarnContext(ctx, "landings not remembered", slog.Any("error", err))
	}
}

// Pushed is a commit of ours that was pushed, with the decisions that it carries out.
type Pushed struct {
	Commit    string
	Decisions []promotion.Decision
}

// Remember remembers what a later reconciliation would find out about commits that were
// pushed just now.
func (r Reader) Remember(ctx context.Context, pushed ...Pushed) {
	var judged []judgment
	for _, p := range pushed {
		for _, d := range p.Decisions {
			c := claim{Landed: promotion.Landed{Target: d.Target, SnapshotID: d.Snapshot.ID()}, commit: p.Commit}
			v := verdict{Proven: true, Ours: true, Before: map[string]string{}}
			for _, move := range d.Moves {
				was := promotion.Pinned{Repository: d.Snapshot[move.Component].Repository, Version: move.From}
				if was.Version.Tag != "" || was.Version.Digest != "" {
					v.Before[move.Component] = was.Reference()
				}
			}
			judged = append(judged, judgment{c, v})
		}
	}
	r.keep(ctx, judged)
}

// Rehearsed is a Memory that remembers verdicts about commits that were not pushed, and
// reads the others from another one, which it does not change.
type Rehearsed struct {
	Memory Memory // nil: there are no others
	fresh  map[string]string
}

// Load implements Memory.
func (r *Rehearsed) Load(key string) (verdict string, known bool) {
	if verdict, known = r.fresh[key]; known || r.Memory == nil {
		return verdict, known
	}
	return r.Memory.Load(key)
}

// Store implements Memory.
func (r *Rehearsed) Store(verdicts map[string]string) error {
	if r.fresh == nil {
		r.fresh = map[string]string{}
	}
	maps.Copy(r.fresh, verdicts)
	return nil
}
