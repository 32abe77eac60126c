package state

import (
	"iter"
	"maps"
)

// table is a copy-on-write map of records in parts. Changing one target copies
// one part: the first reconciliation changes thousands of targets one by one,
// and copying everything each time took 40 s for 10,000.
type table [parts]map[Target]Record

const parts = 256

// part returns the part of a target, by its FNV-1a hash.
func (p Target) part() uint32 {
	hash := uint32(2166136261)
	for _, name := range [2]string{p.Environment, p.Application} {
		for i := range len(name) {
			hash = (hash ^ uint32(name[i])) * 16777619
		}
	}
	return hash % parts
}

// find returns the record of a target. A nil table is empty.
func (t *table) find(target Target) (Record, bool) {
	if t == nil {
		return Record{}, false
	}
	record, found := t[target.part()][target]
	return record, found
}

// with returns a copy with the record for the target, or without one if the
// record is empty.
func (t *table) with(target Target, record Record) *table {
	next := table{}
	if t != nil {
		next = *t
	}
	i := target.part()
	changed := make(map[Target]Record, len(next[i])+1)
	maps.Copy(changed, next[i])
	if record.empty() {
		delete(changed, target)
	} else {
		changed[target] = record
	}
	next[i] = changed
	return &next
}

// put adds a record to a table that is not shared yet.
func (t *table) put(target Target, record Record) {
	i := target.part()
	if t[i] == nil {
		t[i] = map[Target]Record{}
	}
	t[i][target] = record
}

// all returns every record, in no particular order.
func (t *table) all() iter.Seq2[Target, Record] {
	return func(yield func(Target, Record) bool) {
		if t == nil {
			return
		}
		for _, part := range t {
			for target, record := range part {
				if !yield(target, record) {
					return
				}
			}
		}
	}
}
