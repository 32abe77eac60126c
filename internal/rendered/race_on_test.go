//go:build race

package rendered_test

// raceDetector is whether the race detector is on, which needs much memory.
const raceDetector = true
