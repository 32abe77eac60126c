// Package azure logs in to Azure Container Registry, in the public cloud and in
// those of China and of the government of the United States.
//
// A login is a refresh token of the registry, good for three hours, which it gives
// for a token of Microsoft Entra ID. Whose that is comes from the server's file or
// from where the process runs: a client with its secret, a workload identity of
// Kubernetes, a managed identity of App Service, Container Apps or a virtual
// machine. No program is started.
//
// Microsoft's libraries could do this; decision 0013 says why they do not.
package azure
