package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// LastTurn returns the last turn of a name at or before a time. A name has one turn in each
// interval, always at the same time of it, and those of many names are spread evenly.
// They depend on nothing else, so that all replicas know the same ones.
func LastTurn(name string, every time.Duration, at time.Time) time.Time {
	if at.IsZero() || every <= 0 {
		return at
	}
	phase := time.Duration(hash(name) % uint64(every))
	return at.Add(-phase).Truncate(every).Add(phase)
}

func hash(name string) uint64 {
	sum := sha256.Sum256([]byte(name))
	return binary.BigEndian.Uint64(sum[:])
}

// Turns are the turns of a repository at which its images are read: one in each interval,
// or several of the same distance if there are many images.
type Turns struct {
	repository string
	every      time.Duration
	parts      uint64
}

// A repository has one turn for each imagesOfTurn images, and at most maxTurns: each is a
// reconciliation.
const (
	imagesOfTurn = 200
	maxTurns     = 10
)

// TurnsOf returns the turns of a repository with a number of images.
func TurnsOf(repository string, images int, every time.Duration) Turns {
	parts := (images + imagesOfTurn - 1) / imagesOfTurn
	return Turns{repository, every, uint64(min(max(parts, 1), maxTurns))} //nolint:gosec // from 1 to maxTurns
}

// Last returns the last turn of an image at or before a time.
func (t Turns) Last(image string, at time.Time) time.Time {
	return t.last(hash(image)%t.parts, at)
}

func (t Turns) last(part uint64, at time.Time) time.Time {
	distance := t.every / time.Duration(t.parts) * time.Duration(part) //nolint:gosec // less than maxTurns
	return LastTurn(t.repository, t.every, at.Add(-distance)).Add(distance)
}

// Passed reports whether there was a turn after a time, and until another.
func (t Turns) Passed(after, until time.Time) bool {
	for part := range t.parts {
		if t.last(part, until).After(after) {
			return true
		}
	}
	return false
}
