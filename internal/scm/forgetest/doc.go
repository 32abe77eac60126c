// Package forgetest is what the fakes of the forges do alike around their own
// rules: requests carried out one at a time, counted, watched, and met by the
// trouble that a test asks for; bodies read strictly; answers and their pages as they
// are sent; the branches of a repository in the hands of people. Git has the same lock
// and meets the same trouble.
//
// No forge is known here. Routes, words, permissions and what becomes of pull
// requests are of each fake, and gittest has the Git below.
package forgetest
