// Package demo demonstrates complete promotions in a self-contained
// environment: a registry on loopback and, in a temporary folder, a bare Git
// repository with three applications in dev, staging and prod, and a user's
// clone. The real commands promote new images from dev to prod; the user
// requests a promotion, moves a window, and reverts a bad image. Then the
// service runs on the same repository, and the registry notifies it of pushed
// images.
//
// With a server that has GitHub's API on this machine, the demo uses pull
// requests, which the user merges and closes there. Such a server may have no
// Git endpoint: the demo serves the repository itself over smart HTTP, and a
// bridge synchronizes both sides through the Git objects API.
//
// After each step the demo compares the files of the repository byte by byte
// with the expected content, and the output with the expected patterns. It
// fails, naming the step, if they differ. It writes nothing outside the
// temporary folder except one repository on that server, which is removed at
// the end, and connects only to loopback.
package demo
