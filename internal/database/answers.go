package database

// answers are those that a transaction was given and that stay true in it. In a batch
// they are shared by its members, who take turns in the one transaction.
type answers map[any]any

// Once returns the answer that the same question got before in the transaction, in a
// batch by whichever member, or asks. Keys are of the caller's own type, so that
// questions of two packages are never one. Whoever writes what an answer depends on
// calls Tx.ForgetAnswers.
func Once[V any](t *Tx, key any, ask func() (V, error)) (V, error) {
	if known, ok := t.answers[key].(V); ok {
		return known, nil
	}
	answer, err := ask()
	if err == nil && t.answers != nil {
		t.answers[key] = answer
	}
	return answer, err
}

// ForgetAnswers has everything asked again.
func (t *Tx) ForgetAnswers() { clear(t.answers) }
