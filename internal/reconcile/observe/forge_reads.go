package observe

import (
	"promoter/internal/parallel"
)

// maxSideBySide is for how many values a forge is read side by side. GitHub refuses more than
// 900 requests in a minute, which the reads of more pull requests could exceed; these are
// read one after the other.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
const maxSideBySide = 100

// sideBySide reads all values from the forge, at most limit of them at the same time, and
// returns what answers for each of them. So the caller uses the answers, and meets the
// errors, in the order of its own. Values that were not named are read when they are
// needed, and so are all if limit is less than 2.
func sideBySide[K comparable, V any](limit int, values []K, read func(K) (V, error)) func(K) (V, error) {
	if limit < 2 || len(values) < 2 || len(values) > maxSideBySide {
		return read
	}
	type answer struct {
		value V
		err   error
	}
	answers, indexes := make([]answer, len(values)), map[K]int{}
	for i, value := range values {
		indexes[value] = i
	}
	var all []int
	for _, i := range indexes {
		all = append(all, i)
	}
	defect := parallel.ForEach(limit, all, func(i int) error {
		answers[i].value, answers[i].err = read(values[i])
		return nil
	})
	return func(value K) (V, error) {
		i, known := indexes[value]
		switch {
		case defect != nil:
			var none V
			return none, defect
		case !known:
			return read(value)
		}
		return answers[i].value, answers[i].err
	}
}
