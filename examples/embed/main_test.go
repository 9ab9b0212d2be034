package main

import (
	"strings"
	"testing"
)

const want = `When do you open?
  We open at nine.
Can I have a refund?
  Please call us. (withheld: Expected output to not contain one of "refund, discount")
Where are you?
  At 4 Mill Lane.
a refund: fail: Expected output to not contain "refund"
not-icontains "refund": 2 of 3 pass (95% interval 21–94%)
icontains "mill lane": 1 of 1 pass (95% interval 21–100%)
icontains "nine": 1 of 1 pass (95% interval 21–100%)
`

func TestShow(t *testing.T) {
	var out strings.Builder
	if err := show(t.Context(), &out, "proviso.yaml"); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
