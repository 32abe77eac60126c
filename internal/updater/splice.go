package updater

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

var errOverlap = errors.New("two changes would meet in the same bytes")

// outward converts a replacement in nested text to one in the file.
func (r replacement) outward() (replacement, error) {
	for r.stream.holder != nil {
		h := r.stream.holder
		start, err := h.outerOffset(r.span.start)
		if err != nil {
			return r, err
		}
		end, err := h.outerOffset(r.span.end)
		if err != nil {
			return r, err
		}
		text := strings.ReplaceAll(r.text, "\n", h.eol+h.indent)
		r = replacement{h.stream, span{start, end}, text}
	}
	return r, nil
}

// splice applies the replacements from back to front. It sorts them; all of
// them must refer to the file.
func splice(data []byte, replacements []replacement) ([]byte, error) {
	slices.SortStableFunc(replacements, func(a, b replacement) int { return cmp.Compare(a.span.start, b.span.start) })
	size, end := len(data), 0
	for _, r := range replacements {
		if r.span.start < end || r.span.end < r.span.start || r.span.end > len(data) {
			return nil, errOverlap
		}
		end = r.span.end
		size += len(r.text) - (r.span.end - r.span.start)
	}
	result := make([]byte, 0, size)
	end = 0
	for _, r := range replacements {
		result = append(result, data[end:r.span.start]...)
		result = append(result, r.text...)
		end = r.span.end
	}
	return append(result, data[end:]...), nil
}
