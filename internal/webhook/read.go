package webhook

import "promoter/internal/fault"

// Read reads what a sender posted, without any proof of who it was: for deliveries
// that were proven when they came, and for files of a person.
func Read(kind string, request Request) (Delivery, error) {
	known, ok := senders()[kind]
	if !ok {
		return Delivery{}, fault.New(fault.Invalid, "this promoter has no sender %q", kind)
	}
	delivery, err := known.decode(request)
	if err != nil {
		return Delivery{}, fault.New(fault.Invalid, "the request of %s cannot be read: %w", kind, err)
	}
	return settled(delivery, request), nil
}
