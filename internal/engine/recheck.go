package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"promoter/internal/fault"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide"
	"promoter/internal/promotion/propose"
)

// check returns an incremental observation with its plan, or those of a full reconciliation if
// their decisions differ. A difference is an error of the repository, and the next
// reconciliation is a full one too.
func (r *Reconciler) check(ctx context.Context, o Observation, plan Plan, from basis) (_ Observation, _ Plan, err error) {
	different, err := r.recheck(ctx, o, plan)
	if err != nil || different == "" {
		return o, plan, err
	}
	full, err := r.observe(ctx, from.full())
	if err != nil || full.Unusable != "" {
		return full, Plan{}, err
	}
	full.differs(different)
	return full, makePlan(full), nil
}

// IncrementalPart is the part of a repository whose failure is a difference between an
// incremental and a full reconciliation.
const IncrementalPart = "incremental reconciliation"

// differs records a difference.
func (o Observation) differs(different string) {
	o.failures.Add(IncrementalPart, fault.New(fault.Internal,
		"its decisions differ from those of a full one, which is carried out; please report this: %s", different))
}

// maxDifferences is how many differences an error shows.
const maxDifferences = 3

// Differences describes how decisions of an incremental reconciliation differ from those of a
// full one, with both reasons; empty: they do not.
func Differences(incremental, full []promotion.Decision) string {
	var texts []string
	describe := func(d promotion.Decision, known bool) string {
		if !known {
			return "nothing"
		}
		return fmt.Sprintf("%s %s (%s)", d.State, promotion.TargetsText(d.Moves...), d.Reason.Message)
	}
	others := make(map[promotion.Target]promotion.Decision, len(incremental))
	for _, d := range incremental {
		others[d.Target] = d
	}
	for _, d := range full {
		other, known := others[d.Target]
		delete(others, d.Target)
		if !known || !sameDecision(other, d) {
			texts = append(texts, fmt.Sprintf("%s: incremental %s, full %s%s", d.Name(), describe(other, known), describe(d, true), differingFields(other, d)))
		}
	}
	for _, target := range slices.SortedFunc(maps.Keys(others), promotion.Target.Compare) {
		texts = append(texts, fmt.Sprintf("%s: incremental %s, full nothing", target.Name(), describe(others[target], true)))
	}
	if more := len(texts) - maxDifferences; more > 0 {
		texts = append(texts[:maxDifferences], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

// maxField is how much of a field an error shows, in bytes.
const maxField = 300

// differingFields names the fields in which two decisions differ, with what each has.
func differingFields(incremental, full promotion.Decision) string {
	fields := func(d promotion.Decision) (found map[string]json.RawMessage) {
		text, err := json.Marshal(d)
		if err == nil {
			err = json.Unmarshal(text, &found)
		}
		if err != nil {
			return nil
		}
		return found
	}
	a, b := fields(incremental), fields(full)
	var text string
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if string(a[name]) != string(b[name]) {
			text += fmt.Sprintf(", %s %.*s instead of %.*s", strings.ToLower(name), maxField, a[name], maxField, b[name])
		}
	}
	return text
}

// sameDecision reports whether two decisions are the same to everyone who reads them.
func sameDecision(a, b promotion.Decision) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	textA, errA := json.Marshal(a) // times may have another location
	textB, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(textA) == string(textB)
}

// recheck decides again about each application for which an incremental reconciliation is about
// to write, from its files as they are in the commit, without anything that was remembered about
// them. It returns how the decisions differ; empty: they do not.
func (r *Reconciler) recheck(ctx context.Context, o Observation, plan Plan) (different string, err error) {
	written := map[string]bool{}
	for _, p := range plan.Proposals {
		if p.Step != propose.StepPush && p.Step != propose.StepPropose && p.Step != propose.StepClose {
			continue
		}
		for _, d := range p.Decisions {
			written[d.Application] = true
		}
	}
	if len(written) == 0 {
		return "", nil
	}
	again, copied := o.Promotion, false
	again.Applications = written
	for target, known := range again.Selected() {
		current, err := r.Files.Reread(ctx, o.Trees[target.Environment], target)
		if err != nil {
			return "", fmt.Errorf("read the files of %s again: %w", target.Name(), err)
		}
		if sameFiles(known, current) {
			continue
		}
		if !copied { // of many targets, and nearly never
			again.Targets, copied = maps.Clone(again.Targets), true
		}
		again.Targets[target] = current
	}
	var planned []promotion.Decision
	for i := range plan.Decisions {
		if written[plan.Decisions[i].Application] {
			planned = append(planned, plan.Decisions[i])
		}
	}
	return Differences(planned, decide.Plan(again, o.Now)), nil
}
