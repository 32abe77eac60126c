// Package forgetest holds what the fakes of the forges have in common: requests are
// executed one at a time, counted, watched, and hit by the failures that a test
// injects; bodies are decoded strictly; replies are paginated and sent; users change
// branches. Git requests use the same lock and get the same failures.
//
// The package is independent of any forge. Routes, messages, permissions and the
// behavior of pull requests are defined by each fake, and gittest provides Git.
package forgetest
