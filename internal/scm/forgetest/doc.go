// Package forgetest is what the fakes of the forges do alike around their own
// rules: requests carried out one at a time, counted, watched, and met by the
// trouble that a test asks for; answers as they are sent; Git with the same lock
// and the same trouble.
//
// No forge is known here. Routes, words, permissions and what becomes of pull
// requests are of each fake, and gittest has the Git below.
package forgetest
