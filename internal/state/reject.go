package state

import "maps"

// Reject says that versions are not to be proposed in a place again; in the place
// of the repository: nowhere. A rejection from before the place was resumed, such
// as an older close that is only seen now, changes nothing.
func Reject(target Target, rejection Rejection) Change {
	return at(target, func(r *Record) {
		if r.Resumed != nil && utc(rejection.At).Before(r.Resumed.At) || len(rejection.Images) == 0 {
			return
		}
		for _, known := range r.Rejections {
			if known.Number == rejection.Number && maps.Equal(known.Images, rejection.Images) {
				return
			}
		}
		r.Rejections = append(r.Rejections, rejection)
	})
}
