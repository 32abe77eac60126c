package identity

import "strings"

// User is an account of a forge: someone who approves, comments or closes.
type User struct {
	Host  string `json:"host"` // of the forge; of plain Git, empty
	Login string `json:"login"`
	Bot   bool   `json:"bot,omitempty"` // an app or service account, whose approval never counts
}

// Same says whether two accounts are one. Forges compare logins without regard
// to case.
func (p User) Same(q User) bool {
	return strings.EqualFold(p.Host, q.Host) && strings.EqualFold(p.Login, q.Login)
}
