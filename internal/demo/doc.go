// Package demo shows the main job of promoter on parts that it brings itself: a
// registry on loopback, and a GitOps repository with two environments in a
// temporary folder. It pushes a release and lets the real verbs carry it from
// dev to staging.
//
// After each step it compares the whole tree with what was promised, byte by
// byte, and fails if one byte differs. Nothing outside the temporary folder is
// written, and nothing is dialled but loopback.
package demo
