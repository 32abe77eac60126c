package landing

import "maps"

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
