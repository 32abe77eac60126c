// Package aws logs in to Amazon's registries: ECR in each region, and the public
// one.
//
// A login is a password for twelve hours, which GetAuthorizationToken gives to
// whoever signs the question. Who that is comes from where the process runs, in
// the order of Amazon's own libraries: variables, a web identity (IRSA), a profile,
// the agent of a container (ECS, EKS Pod Identity), the virtual machine (IMDSv2).
// A role is then assumed where one is named. No program is started, whatever a
// profile says.
//
// Amazon's libraries could do this; decision 0013 says why they do not.
package aws
