// Package modeltest plays random stories around the engine and checks the promises
// after every step: people merge, close, revert, push and decide, images appear,
// tags move, the base and the config change, processes race, crash, have wrong
// clocks, and forges fail, limit and lose answers.
//
// It knows neither forge nor Git. A World brings them: that of enginetest lies in
// memory and is played by the thousand; those of internal/app are forges behind
// their real adapters, with real repositories. What a world cannot do is not drawn.
//
// Support code for tests.
package modeltest
