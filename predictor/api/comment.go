package api

import (
	"crypto/rand"
	"strings"
)

// CommentPrefix precedes a plan's identifier in the comment of its job.
const CommentPrefix = "varq:"

// SizeCommentPrefix precedes an identifier in the comment of a job whose size is not locked in.
const SizeCommentPrefix = "varq-size:"

// idLength is the number of characters of a plan's identifier. 12 characters of an alphabet
// of 32 have 60 random bits, too many to guess.
const idLength = 12

const idAlphabet = "abcdefghijklmnopqrstuvwxyz234567"

// NewPlanID returns a new random identifier.
func NewPlanID() string {
	var id [idLength]byte
	_, _ = rand.Read(id[:]) // never fails
	for i, b := range id {
		id[i] = idAlphabet[b%32]
	}
	return string(id[:])
}

// ValidPlanID reports whether id could be the identifier of a plan.
func ValidPlanID(id string) bool {
	return len(id) == idLength && strings.Trim(id, idAlphabet) == ""
}

// PlanInComment returns the identifier of the plan that a job's comment names, in its last
// word of the form "varq:ID".
func PlanInComment(comment string) (id string, ok bool) { return inComment(comment, CommentPrefix) }

// SizeInComment returns the identifier that the comment of a job names whose size is not locked in,
// in its last word of the form "varq-size:ID".
func SizeInComment(comment string) (id string, ok bool) { return inComment(comment, SizeCommentPrefix) }

func inComment(comment, prefix string) (id string, ok bool) {
	words := strings.Fields(comment)
	for i := len(words) - 1; i >= 0; i-- {
		if id, found := strings.CutPrefix(words[i], prefix); found && ValidPlanID(id) {
			return id, true
		}
	}
	return "", false
}
