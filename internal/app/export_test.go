package app

// ServeOn is Serve with a database that the test uses too.
var ServeOn = serveOn
