package app

// ServeOn is Serve with a database that the test opened too.
var ServeOn = serveOn
