package modeltest

import (
	"fmt"
	"time"

	"promoter/internal/reconcile/reconciletest"
)

// push releases an image.
func (s *story) push(repository, tag string) {
	s.Registry.Push(repository, tag, seed(repository, tag), s.Clock.Now().Add(-time.Minute))
}

// pushSigned releases an image with a signature.
func (s *story) pushSigned(repository, tag string) {
	s.push(repository, tag)
	s.sign(reference(repository, tag))
}

func (s *story) release() {
	repository := []string{web, worker}[s.random.IntN(2)]
	s.released[repository]++
	s.next(repository)
}

// newest is the tag of the last release.
func (s *story) newest(repository string) string {
	return fmt.Sprintf("1.%d.0", s.released[repository])
}

// next releases the current minor version.
func (s *story) next(repository string) string {
	n, tag := s.released[repository], s.newest(repository)
	s.log("release %s %s", repository, tag)
	s.push(repository, tag)
	s.minorOf[reference(repository, tag)] = n * builds
	s.releasedAt[digestOf(reference(repository, tag))] = s.Clock.Now()
	maybeSign(s, reference(repository, tag))
	if s.moving && repository == worker {
		s.minorOf[moveTag(s, n)] = n * builds
	}
	if s.mirrored && s.random.IntN(2) == 0 {
		s.log("  which is not in the mirror yet")
	} else {
		s.mirror(reference(repository, tag))
	}
	return tag
}

// moveTag points the moving tag to a release and returns its reference.
func moveTag(s *story, n int) string {
	tag := fmt.Sprintf("1.%d.0", n)
	text := seed(worker, tag)
	if released := reference(worker, tag); s.deleted[released] { // the image is there again
		s.Registry.Tag(worker, tag, digestOf(released))
		delete(s.deleted, released)
	}
	created := reconciletest.Noon().Add(time.Duration(n) * time.Second)
	s.Registry.Push(worker, "released", text, created)
	return worker + ":released@" + reconciletest.Digest(text)
}

// moveBack points the moving tag to an older image.
func moveBack(s *story) {
	n := s.released[worker]
	if !s.moving || n < 2 {
		s.skip()
		return
	}
	s.log("the moving tag goes back")
	moveTag(s, 1+s.random.IntN(n-1))
}

func registryDown(s *story) {
	s.log("run without a registry")
	s.Registry.Down, s.unanswered = true, true
	s.reconcile()
	s.Registry.Down = false
}
