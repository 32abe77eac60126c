// Package rest is what the adapters of forges share that are asked by REST: a
// client that keeps the forge's limits, the words of refusals, lists in pages,
// texts cut to limits.
//
// The credential is sent to the API's host and to no other, and never appears in
// an error. Answers are bounded and kept with their ETags, per credential. After
// the forge asked for a pause no request is sent until it is over.
//
// It knows no forge: what differs is handed in.
package rest
