package proviso

// Meaning is what the code of an [Error] means outside the process: the exit code of
// a command that ends with it, and the HTTP status of a request that does.
type Meaning struct {
	Code   string
	Exit   int
	Status int
	Title  string // a few words for people, the same for every error with this code
}

// Meanings returns the only table of what codes mean to commands and to HTTP.
func Meanings() []Meaning {
	return []Meaning{
		{Invalid, 2, 422, "The request is wrong"},
		{Unsupported, 2, 422, "This is not supported"},
		{NotFound, 2, 404, "There is no such thing"},
		{Conflict, 2, 409, "Something else is in the way"},
		{Refused, 2, 403, "This is not allowed"},
		{Limit, 3, 422, "A limit was exceeded"},
		{Timeout, 3, 504, "A deadline passed"},
		{Unavailable, 3, 503, "Something that is needed cannot be reached"},
		{Undecided, 3, 502, "There is no verdict"},
		{Internal, 3, 500, "This is a defect of proviso"},
	}
}

// MeaningOf returns the row of a code. An unknown code means [Internal].
func MeaningOf(code string) Meaning {
	rows := Meanings()
	for _, m := range rows {
		if m.Code == code {
			return m
		}
	}
	return rows[len(rows)-1]
}
