// Package demo shows the whole story of a promotion on parts that it brings
// itself: a registry on loopback, and in a temporary folder a bare Git repository
// with three applications in dev, staging and prod, and the clone of a person. The
// real verbs carry new images from dev to prod; the person asks, moves a window,
// and takes a bad image back. Then the service runs on the same repository, and the
// registry tells it of what is pushed.
//
// With a server that has GitHub's API on this machine it tells the same with pull
// requests, which the person merges and closes there. Such a server may have no Git
// side: the demo serves the repository itself over smart HTTP, and a bridge keeps
// both sides the same by the API for Git's objects.
//
// After each step it compares the files of the repository with what was promised,
// byte by byte, and what was printed with what has to be said; it fails, naming the
// step, if one of them differs. Nothing outside the temporary folder is written but
// one repository at that server, which is removed at the end, and nothing is dialled
// but loopback.
package demo
