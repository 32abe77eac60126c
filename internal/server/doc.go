// Package server is the HTTP side of the service: routes, limits, and the statuses of
// errors. It accepts webhooks of receivers, and answers the admin API and the set-up of
// GitHub Apps through small interfaces that other packages implement.
//
// A webhook goes from Server.webhook (webhook.go) through package webhook, which
// verifies and decodes it, to Inbox.Accept, which stores it; then it is answered with
// 202.
//
// URLs never appear in logs, metrics, or responses: they may contain the secret of a
// receiver.
package server
