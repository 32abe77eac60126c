package view

import (
	"context"
	"time"

	"promoter/internal/access"
	"promoter/internal/store"
)

// PromotionState is what became of a promotion.
type PromotionState string

// The values of PromotionState.
const (
	PromotionOpen   PromotionState = "open"   // in a pull request
	PromotionLanded PromotionState = "landed" // merged or pushed
)

// PromotionStates returns all values of PromotionState.
func PromotionStates() []PromotionState { return []PromotionState{PromotionOpen, PromotionLanded} }

// Promotion is a promotion of one application to one environment.
type Promotion struct {
	TargetName
	State       PromotionState `json:"state"`
	At          time.Time      `json:"at,omitzero"` // when it was opened, or when it landed
	Changes     []Change       `json:"changes"`
	PullRequest *PullRequest   `json:"pullRequest,omitempty"`
	Commit      string         `json:"commit,omitempty"`
	Reason      *Reason        `json:"reason,omitempty"`
	RequestedBy string         `json:"requestedBy,omitempty"`
	ApprovedBy  []string       `json:"approvedBy,omitempty"`
}

// Change is a component that a promotion changes.
type Change struct {
	Component string `json:"component"`
	From      string `json:"from,omitempty"` // version; empty: unknown
	To        string `json:"to"`
}

// Promotions lists promotions: those in open pull requests by their targets, or those that
// landed, newest first.
func (v *View) Promotions(ctx context.Context, p access.Principal, state PromotionState, q ListQuery) (Page[Promotion], error) {
	if state == PromotionLanded {
		return v.landedPromotions(ctx, p, q)
	}
	return listTargets(ctx, v, p, q, func(name TargetName, t store.Target) *Promotion {
		if t.Number == 0 {
			return nil
		}
		shown := targetOf(t, store.Landed{})
		one := &Promotion{
			TargetName: name, State: PromotionOpen, At: t.Detail.Opened, Changes: []Change{},
			PullRequest: shown.PullRequest, Reason: shown.Reason, ApprovedBy: shown.ApprovedBy,
		}
		if shown.Request != nil {
			one.RequestedBy = shown.Request.By
		}
		for _, c := range shown.Components {
			if c.Wanted != "" {
				one.Changes = append(one.Changes, Change{Component: c.Name, From: c.Version, To: c.Next})
			}
		}
		return one
	})
}

// landedPromotions lists landings.
func (v *View) landedPromotions(ctx context.Context, p access.Principal, q ListQuery) (Page[Promotion], error) {
	page := Page[Promotion]{Items: []Promotion{}}
	at, fields, err := decodeTime(q.After, 1)
	if err != nil {
		return page, err
	}
	events, err := v.Store.History(ctx, store.HistoryFilter{
		Repository: q.Repository, Environment: q.Environment, Application: q.Application, Landings: true,
		Readable: p.ReadFilter(), Before: store.Cursor{At: at, ID: fields[0]}, Limit: q.Limit + 1,
	})
	if err != nil {
		return page, err
	}
	if len(events) > q.Limit {
		events = events[:q.Limit]
		last := events[q.Limit-1]
		page.Next = encodeTime(last.At, last.ID)
	}
	for _, e := range events {
		page.Items = append(page.Items, landedPromotion(e))
	}
	return page, nil
}

func landedPromotion(e store.Event) Promotion {
	one := Promotion{
		TargetName: TargetName{Repository: e.Name, Key: e.Repository, Environment: e.Environment, Application: e.Application},
		State:      PromotionLanded, At: e.At.UTC(), Changes: []Change{}, Commit: e.Commit,
		PullRequest: PullRequestOf(e.Number, e.URL, time.Time{}), Reason: ReasonOf(e.Rule, e.Message, time.Time{}),
		RequestedBy: e.Attribution.RequestedBy, ApprovedBy: e.Attribution.ApprovedBy,
	}
	for _, version := range e.Versions {
		from := store.EventVersion{Tag: version.FromTag, Digest: version.FromDigest}
		one.Changes = append(one.Changes, Change{Component: version.Component, From: from.Label(), To: version.Label()})
	}
	return one
}
