package delta

import (
	"slices"
	"strings"
)

// Words that do not end a sentence, in English, German, French and Spanish: before any
// word, and before a small letter, a number or a quotation mark.
var (
	openAlways = strings.Fields("a an the of and with from by at your their its than don't der die das dem den des weder sowie kein keine keinen ein eine einen und oder mit für von zum zur le les un une du des et ou avec el los las una del para")
	openBefore = strings.Fields("use say write include contain avoid mention add exceed refrain like using saying writing to for in on or not no any all each every as that which who whose is are be been must should may can could will would do does never only most least more less fewer exactly about our his her my these those if when while unless because so into onto over under between without within per via please than also " +
		"nicht zu im in auf an bei nach aus als höchstens mindestens maximal genau nie niemals ohne la de à au aux ne pas en dans sur pour par sans maximum moins plus y o no con por sin al que más menos")
)

// openVerbs need an object: behind them a sentence goes on before the name of a format, too.
var openVerbs = strings.Fields("use write avoid contain include output return produce not in no never like verwende vermeide utilise évite usa evita")

// formatNames are names that are written with a capital letter anywhere in a sentence.
var formatNames = strings.Fields("html json xml csv yaml markdown latex emojis")

// opensName reports whether a sentence goes on from a verb to the name of a format.
func opensName(last, next string) bool {
	return slices.Contains(openVerbs, strings.ToLower(last)) && slices.Contains(formatNames, strings.ToLower(strings.Trim(next, ".,;:!")))
}

// isOpenWord reports whether a sentence goes on behind a word, before a capital letter or
// another sign.
func isOpenWord(word string, beforeCapital bool) bool {
	word = strings.ReplaceAll(word, "’", "'")
	return slices.Contains(openAlways, word) || !beforeCapital && slices.Contains(openBefore, word)
}
