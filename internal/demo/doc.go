// Package demo shows the whole story of a promotion on parts that it brings
// itself: a registry on loopback, and in a temporary folder a bare Git repository
// with three applications in dev, staging and prod, and the clone of a person. The
// real verbs carry new images from dev to prod; the person asks, moves a window,
// and takes a bad image back.
//
// After each step it compares the files of the repository with what was promised,
// byte by byte, and what was printed with what has to be said; it fails, naming the
// step, if one of them differs. Nothing outside the temporary folder is written,
// and nothing is dialled but loopback.
package demo
