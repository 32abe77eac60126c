package rendered

// LimitProcess is for the test of the limits, in a process of its own.
var LimitProcess = func() error { return limitProcess(MaxMemory) }

// Compare returns the difference between rendered manifests.
func Compare(before, after string) (string, error) {
	was, err := objects([]byte(before))
	if err != nil {
		return "", err
	}
	now, err := objects([]byte(after))
	if err != nil {
		return "", err
	}
	_, text, _, err := compareObjects(was, now, maxDiff)
	return text, err
}
