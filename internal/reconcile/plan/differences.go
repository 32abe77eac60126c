package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"promoter/internal/promotion"
)

// maxDifferences is how many differences an error shows.
const maxDifferences = 3

// Differences describes how decisions, of which a cache may have some, differ from those that are made
// again, with both reasons; empty: they do not.
func Differences(planned, again []promotion.Decision) string {
	var texts []string
	describe := func(d promotion.Decision, known bool) string {
		if !known {
			return "nothing"
		}
		return fmt.Sprintf("%s %s (%s)", d.State, promotion.TargetsText(d.Moves...), d.Reason.Message)
	}
	others := make(map[promotion.Target]promotion.Decision, len(planned))
	for _, d := range planned {
		others[d.Target] = d
	}
	for _, d := range again {
		other, known := others[d.Target]
		delete(others, d.Target)
		if !known || !sameDecision(other, d) {
			texts = append(texts, fmt.Sprintf("%s: planned %s, decided again %s%s",
				d.Name(), describe(other, known), describe(d, true), differingFields(other, d)))
		}
	}
	for _, target := range slices.SortedFunc(maps.Keys(others), promotion.Target.Compare) {
		texts = append(texts, fmt.Sprintf("%s: planned %s, decided again nothing", target.Name(), describe(others[target], true)))
	}
	if more := len(texts) - maxDifferences; more > 0 {
		texts = append(texts[:maxDifferences], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

// maxField is how much of a field an error shows, in bytes.
const maxField = 300

// differingFields names the fields in which two decisions differ, with what each has.
func differingFields(planned, again promotion.Decision) string {
	fields := func(d promotion.Decision) (found map[string]json.RawMessage) {
		text, err := json.Marshal(d)
		if err != nil {
			return nil
		}
		if err := json.Unmarshal(text, &found); err != nil {
			return nil
		}
		return found
	}
	a, b := fields(planned), fields(again)
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
