package image

// globMatch says whether text matches a glob in which * stands for any run of
// bytes. It goes back to the last * only, so it takes at most len(glob)*len(text)
// steps.
func globMatch(glob, text string) bool {
	g, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case g < len(glob) && glob[g] == '*':
			star, mark = g, t
			g++
		case g < len(glob) && glob[g] == text[t]:
			g++
			t++
		case star >= 0:
			mark++
			g, t = star+1, mark
		default:
			return false
		}
	}
	for g < len(glob) && glob[g] == '*' {
		g++
	}
	return g == len(glob)
}

// segmentsMatch is globMatch one level up: the letters are components and the
// wildcard is **.
func segmentsMatch(globs, segments []string) bool {
	g, s, star, mark := 0, 0, -1, 0
	for s < len(segments) {
		switch {
		case g < len(globs) && globs[g] == anySegments:
			star, mark = g, s
			g++
		case g < len(globs) && globMatch(globs[g], segments[s]):
			g++
			s++
		case star >= 0:
			mark++
			g, s = star+1, mark
		default:
			return false
		}
	}
	for g < len(globs) && globs[g] == anySegments {
		g++
	}
	return g == len(globs)
}
