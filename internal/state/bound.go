package state

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Limits of a record. When a list is full, its oldest entries are dropped
// first.
const (
	maxSeen       = 20
	maxClosings   = 50
	maxRejections = 200
	maxVersions   = 50        // of each component
	maxWords      = 1000      // runes of a reason
	maxWritten    = 768 << 10 // bytes; leaves room in a file for keys of later releases
)

// bound normalizes a record to the form in which it is written and read back.
func (r *Record) bound() {
	r.Schema = Schema
	for _, t := range r.times() {
		*t = utc(*t)
	}
	for _, words := range r.words() {
		*words = cut(strings.ToValidUTF8(*words, "\uFFFD"))
	}
	r.Rejections = last(r.Rejections, maxRejections)
	r.Closings = last(r.Closings, maxClosings)
	r.Seen = last(r.Seen, maxSeen)
	r.Versions = lastOfEach(r.Versions)
	r.boundHeard(maxHeard)
	r.fit()
}

// fit drops the oldest half of the lists until the record is small enough to
// write.
func (r *Record) fit() {
	for len(marshal(*r)) > maxWritten && len(r.Rejections)+len(r.Versions)+len(r.Closings)+len(r.Seen)+len(r.Heard) > 0 {
		r.boundHeard(len(r.Heard) / 2)
		r.Rejections = last(r.Rejections, len(r.Rejections)/2)
		r.Versions = last(r.Versions, len(r.Versions)/2)
		r.Closings = last(r.Closings, len(r.Closings)/2)
		r.Seen = last(r.Seen, len(r.Seen)/2)
	}
}

func last[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	if n == 0 {
		return nil
	}
	return list[len(list)-n:]
}

// lastOfEach keeps the newest versions of every component, so that a component
// with many versions does not reset the waiting time of another.
func lastOfEach(versions []Version) []Version {
	count := map[string]int{}
	for _, v := range versions {
		count[v.Component]++
	}
	return slices.DeleteFunc(versions, func(v Version) bool {
		count[v.Component]--
		return count[v.Component] >= maxVersions
	})
}

func cut(words string) string {
	if runes := []rune(words); len(runes) > maxWords {
		return string(runes[:maxWords-1]) + "…"
	}
	return words
}

// acts returns all user decisions in the record.
func (r *Record) acts() []*Act {
	var acts []*Act
	for _, act := range []*Act{r.Hold, r.Resumed} {
		if act != nil {
			acts = append(acts, act)
		}
	}
	if r.Freeze != nil {
		acts = append(acts, &r.Freeze.Act)
	}
	if r.Request != nil {
		acts = append(acts, &r.Request.Act)
	}
	if r.Rollback != nil {
		acts = append(acts, &r.Rollback.Act)
	}
	for i := range r.Rejections {
		acts = append(acts, &r.Rejections[i].Act)
	}
	return acts
}

// times returns all times in the record.
func (r *Record) times() []*time.Time {
	var times []*time.Time
	for _, act := range r.acts() {
		times = append(times, &act.At)
	}
	if r.Freeze != nil && r.Freeze.Until != nil {
		times = append(times, r.Freeze.Until)
	}
	if r.Reopened != nil {
		times = append(times, &r.Reopened.At)
	}
	for i := range r.Closings {
		times = append(times, &r.Closings[i].At)
	}
	for i := range r.Seen {
		times = append(times, &r.Seen[i].At)
	}
	for i := range r.Versions {
		times = append(times, &r.Versions[i].At)
	}
	return append(times, r.heardTimes()...)
}

// words returns all user-written text in the record.
func (r *Record) words() []*string {
	var words []*string
	for _, act := range r.acts() {
		words = append(words, &act.Why, &act.By.Login)
	}
	for i := range r.Closings {
		words = append(words, &r.Closings[i].Reason)
	}
	return append(words, r.heardWords()...)
}

// clone copies everything that a change may modify.
func (r Record) clone() Record {
	r.Hold, r.Resumed, r.Freeze = copied(r.Hold), copied(r.Resumed), copied(r.Freeze)
	r.Request, r.Rollback, r.Reopened = copied(r.Request), copied(r.Rollback), copied(r.Reopened)
	r.Rejections, r.Closings = slices.Clone(r.Rejections), slices.Clone(r.Closings)
	r.Seen, r.Versions = slices.Clone(r.Seen), slices.Clone(r.Versions)
	r.Heard, r.HeardFrom = clonedHeard(r.Heard), copied(r.HeardFrom)
	if r.Freeze != nil {
		r.Freeze.Until = copied(r.Freeze.Until)
	}
	for i := range r.Rejections {
		r.Rejections[i].Images = maps.Clone(r.Rejections[i].Images)
	}
	if r.Rollback != nil {
		r.Rollback.Images = maps.Clone(r.Rollback.Images)
	}
	return r
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// empty reports whether the record has no content for any release, so that its
// file can be deleted.
func (r Record) empty() bool {
	read, _ := members(r.source)
	for _, m := range read {
		if !knownKey(m.key) {
			return false
		}
	}
	return r.Hold == nil && r.Freeze == nil && r.Resumed == nil && r.Request == nil && r.Rollback == nil &&
		r.Reopened == nil && r.HeardFrom == nil && len(r.Rejections)+len(r.Closings)+len(r.Seen)+len(r.Versions)+len(r.Heard) == 0
}
