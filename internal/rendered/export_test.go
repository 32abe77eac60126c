package rendered

// LimitProcess is for the test of the limits, in a process of its own.
var LimitProcess = limitProcess
