// Package registry queries OCI registries for the versions of an artifact: tags,
// digests, and what an image says about itself.
//
// A [Client] holds the connections and credentials of a process, and a [View] queries
// with the permissions of one GitOps repository. View.Select lists the tags, orders
// them by a policy, and returns the best version that is eligible. An answer that may
// miss a better version is never returned as found: a list that fails is an error, and
// one that is not read to its end is incomplete.
//
// Two things avoid repeated requests:
//
//   - A [Batch] lasts from one reading of the repositories to the next. It sends each request once and shares the
//     response, or the error, among its views, until an event or a retry makes it forget them.
//   - The [Cache] lasts as long as the process, and longer with Options.CacheDir. It
//     keeps the metadata of each digest, which cannot change. It also keeps tag lists and
//     the digests of tags with the time for which they were requested: a caller that
//     passes Request.AsOf accepts a response for that time or a later one. One that
//     passes Request.KeptAsOf accepts digests of an unchanged list alone.
//
// Both keep every response under the credential that it was requested with, so no
// repository sees what only another one's credential can read.
//
// The package does not decide whether a version may be promoted.
package registry
