package store

import "promoter/internal/database"

// Store is what is kept in one database. All methods may be called by many at once.
type Store struct{ db *database.DB }

// New keeps things in the database.
func New(db *database.DB) *Store { return &Store{db: db} }
