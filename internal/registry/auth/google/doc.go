// Package google logs in to Google's registries: Artifact Registry and the old
// Container Registry.
//
// A login is an access token, good for an hour. Whose it is comes from what Google
// calls application default credentials: a key of a service account, a federated
// identity of another cloud or of Kubernetes, or the metadata service of the
// machine. No program is started, whatever a file says.
//
// Google's libraries could do this; decision 0013 says why they do not.
package google
