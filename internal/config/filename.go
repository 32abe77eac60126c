package config

// FileName is the name of the config file, in the root of a GitOps repository.
const FileName = ".promoter.yaml"
