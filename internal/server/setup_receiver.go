package server

import "promoter/internal/webhook"

// Add takes the webhooks of one more receiver from now on, or of another one in
// place of that of the same name.
func (s *Server) Add(one *webhook.Receiver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.receivers[one.Name()] = s.limited(one)
}

// receiverOf finds the one of a name, or what stands for none.
func (s *Server) receiverOf(name string) *receiver {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if known, ok := s.receivers[name]; ok {
		return known
	}
	return s.decoy
}
