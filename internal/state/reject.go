package state

import "maps"

// Reject prevents versions from being proposed again in a target or, for the
// repository, in any target. A rejection from before the target was resumed,
// such as an older close that is detected late, has no effect.
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
