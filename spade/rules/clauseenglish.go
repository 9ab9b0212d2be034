package rules

import (
	"regexp"
	"slices"
	"sync"
)

// The parts of English clauses. Each ends with a space if it is not empty.
const (
	// wholeThing are the symbols of amounts, formats and JSON.
	wholeThing = `#[qfcj]\d+`

	enAnswer = `(?:answers?|responses?|reply|replies|outputs?|messages?|texts?|e-?mails?|mails?|letters?|summary|summaries|results?|completions?|posts?|tweets?|story|stories|poems?|haikus?|essays?|articles?|reports?|reviews?|translations?|explanations?|descriptions?|paraphrases?|recaps?|notes?|captions?)`
	// enReply are words for the output that cannot mean the input.
	enReply = `(?:answers?|responses?|reply|replies|outputs?)`
	enInput = `(?:text|article|document|passage|transcript|conversation|chat|dialogue|call|meeting|ticket|complaint|question|query|request|message|e-?mail|review|story|paper|abstract|report|thread|content|following|above|input|note|notes|page|post|discussion|feedback|problem|issue|case|book|film|movie|video|news|customer|user|client|reader|caller|student|patient)s?`
	enDet   = `(?:the|your|a|an|each|every|all|any|this|that|its|my|our|whole|entire)`
	enAdj   = `(?:short|brief|concise|complete|full|final|entire|whole|friendly|polite|formal|informal|professional|clear|simple|plain|single|natural|helpful|neutral|direct|generated|following|above|given|provided|original|user's|customer's|client's|user|customer|written|one|new|good|detailed|comprehensive|well-written|engaging|catchy|high-quality|informative|accurate|product)`
	enNoun  = `(?:` + enDet + ` ){0,2}(?:` + enAdj + ` ,? ?){0,3}`
	enObj   = `(?:(?:me|us|it|them|everything|yourself|on (?:the|this) (?:topic|subject|question)) |` + enNoun + `(?:(?:` + enAnswer + `|` + enInput + `)(?: (?:below|above|given|provided))? |` + enAnswer + ` (?:of|to|for|about) ` + enNoun + enInput + `(?: (?:below|above))? )|the (?:following )?(?:\d+|two|three|four|five|six|seven|eight|nine|ten) (?:` + enInput + `|paragraphs|sentences|points|items|lines)(?: (?:below|above))? )`
	enModal = `(?:must|should|shall|has to|have to|needs to|need to|ought to|is to|are to|will)`
	enSubj  = `(?:(?:you|it|answers|responses|replies|outputs) |(?:(?:the|your|each|every|all|any|this|a|an) ){1,2}(?:(?:short|brief|final|whole|entire|complete|full|new) )*` + enAnswer + ` )`

	// enMake are verbs whose object is part of an output; enDo need a preposition.
	enMake   = `(?:use|write|give|provide|produce|generate|return|output|create|compose|draft|send|include|contain|have|add|list|ask|make|emit|print|show|display|insert|employ|put|offer|suggest|deliver|apply|stick to|spit out)`
	enMaking = `(?:using|writing|giving|providing|producing|generating|returning|outputting|creating|sending|including|containing|having|adding|asking|inserting|employing)`
	enDo     = `(?:answer|respond|reply|summari[sz]e|explain|describe|format|present|structure|write|keep|limit|restrict|make|rewrite|rephrase|paraphrase|translate|be|stay|speak|return|output|produce|generate|provide|give|deliver|send|express|phrase|condense|talk|organi[sz]e|render|lay out|compress|aim|elaborate|discuss)`
	enDoing  = `(?:answering|responding|replying|summari[sz]ing|writing|outputting)`
	enPrep   = `(?:in|with|using|as|within|to|of|for|at|into|into|via|by using|through)`
	enSay    = `(?:say|write|use|include|mention|contain|state|add|print|output|put|insert|have|utter|cite|feature|repeat|employ|append)`
	enSaying = `(?:saying|writing|using|including|mentioning|containing|stating|adding|outputting|having)`
	enWord   = `(?:(?:(?:the|a|an|any|this|that|these|those|exact|exactly|following|of|literal|literally|verbatim|single|individual) )*(?:words?|phrases?|terms?|expressions?|sentences?|texts?|disclaimers?|lines?|notes?|strings?|sections?|headings?|wording|formulations?|both|question|statement|greeting|hashtag|keyword|keywords|link|url|sign|symbol|character|emoji|abbreviation|abbreviations|exclamation|hashtags|tag|placeholder|key phrase|buzzword|buzzwords|clich[eé]s?)?(?: (?:called|titled|named))? ?:? ?)`

	enIn     = `(?:in|within|from|throughout|across|anywhere in|per|for) (?:(?:the|your|each|every|any|all|its|a|an|one|this) )?(?:final |whole |entire |full )?`
	enTail   = `(?: (?:` + enIn + enAnswer + `|long|in length|in total|in all|overall|total|of text|of prose|at all|anywhere|in any (?:case|way|form)|of any kind|whatsoever|ever|please|thanks|(?:to|for) (?:the|your|our|a) (?:users?|customers?|clients?|readers?)|from now on|for (?:easy |easier |better |improved |good )*(?:readability|reading|clarity)))*`
	enTongue = `(?: in (?:english|german|french|spanish|italian|dutch|portuguese))?`
	enOnly   = `(?: (?:only|exclusively|and nothing else|, nothing else))?`
	enLead   = `(?:(?:and|but|then|so|also|instead|therefore|rules?|format|style|length|output|answer|response|important|note|remember) ,?:? ?)?(?:(?:make sure|ensure|be sure|take care|see to it|make certain|it is (?:important|essential|crucial|vital)|remember|try|aim|strive|check|verify)(?: (?:that|to))? )?`
	enYou    = `(?:you (?:` + enModal + ` )?|to )?`
	enNot    = `(?:do not (?:ever )?|must not |should not |shall not |can not |may not |will not |are not (?:allowed|permitted) to |is not (?:allowed|permitted) to |never(?: ,)? (?:ever )?(?:,? )?|not to |under no circumstances (?:,? ?(?:should|must|may) you )?(?:,? ?)?|(?:must|should|shall|will|may|can) never (?:ever )?|at no time )`
)

var english = sync.OnceValue(func() *grammar {
	thing := `(?:(?:a|an|some|only|just|any|all|purely|exclusively|nothing but|valid) )*` + wholeThing
	more := `(?:(?: ,)?(?: (?:and|&|or|nor|as well as|plus))?(?: (?:in|with|using|as|no|any|a|an|also|use|write|include))* ` + wholeThing + `)*`
	things := thing + more
	words := `#p\d+(?:(?: ,)?(?: (?:and|or|nor|&|as well as))?(?: the)?(?: (?:words?|phrases?|terms?))? #p\d+)*`
	keys := `(?: (?:format|syntax|style))?(?: (?:objects?|arrays?|format|only|document|data|structure|response|output|string|syntax|with|having|containing|that has|that contains|the|these|exactly|following|without|keys?|fields?|propert(?:y|ies)|attributes?|:|~p))*`
	each := `(?:each|every|all|any|the) (?:of the )?(?:bullet points?|bullets?|list items?|items?|points?|lines?|sentences?|paragraphs?|section|summary|description|body|introduction|intro|conclusion|abstract|overview|headline|title|greeting|[a-z]+ section)`
	part := `#[qs]\d+e`
	begin := `(?:begins?|starts?|opens?|prefaces?|prefix|ends?|finish(?:es)?|closes?|concludes?|sign off|beginning|starting|opening|ending|finishing|closing|concluding)`
	reply := `(?:(?:(?:the|your|each|every|all|any|a|an|its) )*(?:final |whole )?` + enAnswer + ` )?`
	tail := enTail + enTongue + `(?: , each [a-z0-9 ]+)?`
	phrases := enTail

	demands := slices.Concat(
		// Amounts, formats and JSON.
		formsOf(`qfcj`,
			enLead+enYou+enMake+` (?:(?:me|us) )?`+things+keys+enOnly+tail,
			enLead+enYou+`(?:`+enMake+`|`+enDo+`) (?:back )?`+enObj+`?(?:only )?(?:(?:`+enPrep+`) )`+things+keys+enOnly+tail,
			enLead+enYou+`(?:keep|limit|make|be|stay|answer|respond|reply|aim for|go for|restrict) `+enObj+`?(?:short ,? ?|brief ,? ?|concise ,? ?)?#q\d+`+more+tail,
			enLead+enSubj+enModal+` (?:only )?(?:`+enMake+`|`+enDo+`|be provided|be given|be written|be formatted|be returned|be presented|be limited|be kept|consist|fit|follow|be output) (?:only )?(?:(?:`+enPrep+`|of) )?`+things+keys+enOnly+tail,
			enLead+enSubj+`(?:`+enModal+` )?#q\d+`+more+tail,
			enLead+`(?:`+enYou+`(?:`+enMake+`|`+enDo+`) (?:me |us )?(?:(?:in|with|as) )?)?(?:an? |your |the )?(?:`+enAdj+` )?#q\d+ (?:`+enAdj+` )*`+enAnswer+`(?: (?:of|to|for) `+enNoun+enInput+`(?: (?:below|above))?)?`+tail,
			enLead+`(?:(?:the|your|each|every) `+enReply+`|it) (?:is|has|contains|stays|comprises|consists of|uses|is limited to) #q\d+`+tail,
			enLead+`you (?:may|can) `+enMake+` #q\d+`+tail,
			enLead+`(?:there (?:must|should|are to|has to|have to) be|that there (?:is|are)|there (?:is|are)) #q\d+`+tail,
			`(?:output )?(?:in|with|using|as|within) (?:only )?`+things+keys+enOnly+tail,
			`(?:`+thing+more+keys+`) (?:only|exclusively|and nothing else)`+tail,
			enLead+`(?:an? |your )?(?:short |brief |concise )?(?:`+enAnswer+` )?(?:(?:in|of|with|using) )?#q\d+`+more+tail,
		),
		// Limits on each part.
		formsOf(`qs`,
			enLead+enYou+`(?:`+enMake+`|`+enDo+`|limit|keep) (?:`+enObj+`|`+each+` )?(?:(?:`+enPrep+`) )?`+part+`(?: (?:per|in|for) (?:each |every )?(?:bullet(?: point)?|item|point|line|sentence|paragraph))?`+tail,
			enLead+each+` (?:`+enModal+` |can )?(?:(?:have|has|be|is|are|contain|contains|consist of|stay|use|uses) )?(?:only )?(?:(?:in|of|with) )?`+part+tail,
			part+`(?: (?:per|in|for) (?:each |every )?(?:bullet(?: point)?|item|point|line|sentence|paragraph))`+tail,
		),
		// Phrases.
		formsOf(`p`,
			enLead+enYou+enSay+` (?:in your `+enAnswer+` )?`+enWord+words+`(?: ,)?(?: (?:in (?:this|that|the following|exactly this) order|first|instead|at least once|verbatim|exactly|literally|word for word))?`+phrases,
			enLead+enSubj+enModal+` `+enSay+` `+enWord+words+`(?: at least once)?`+phrases,
			enLead+`(?:the|your|each|every|all) `+enReply+` (?:says?|includes?|mentions?|contains?|uses?) `+enWord+words+phrases,
			enWord+words+` (?:must|should|has to|have to|needs? to) (?:appear|occur|be (?:included|mentioned|present|used|contained))(?: at least once)?`+phrases,
		),
		// The beginning and the end.
		formsOf(`se`,
			enLead+enYou+begin+` `+reply+`(?:off )?(?:with|by saying|by writing|in|as follows) `+enWord+`#s\d+`+tail,
			enLead+enSubj+enModal+` `+begin+` (?:with|in) `+enWord+`#s\d+`+tail,
			enLead+`(?:the|your|each|every) `+enReply+` `+begin+` (?:with|in) `+enWord+`#s\d+`+tail,
			enLead+enYou+begin+` `+each+` (?:with|in) `+enWord+`#s\d+e`,
			enLead+each+` (?:`+enModal+` )?`+begin+` (?:with|in) `+enWord+`#s\d+e`,
			enLead+`(?:`+enYou+`|`+enSubj+enModal+` )`+begin+` `+reply+`(?:with|by asking|in) #e\d+`+tail,
		),
		// Variables.
		formsOf(`v`,
			enLead+enYou+`(?:include|mention|state|repeat|name|use) (?:the (?:\w+ ){0,2})?#v\d+`+tail,
		),
	)
	bars := slices.Concat(
		// Amounts, formats and JSON.
		formsOf(`qfcj`,
			enLead+enYou+`(?:`+enSubj+`)?`+enNot+`(?:(?:`+enMake+`|`+enDo+`|go|exceed|be) )?(?:back )?`+enObj+`?(?:(?:`+enPrep+`) )?`+things+tail,
			enLead+`(?:`+enYou+`|`+enSubj+enModal+` )(?:avoid|omit|exclude|leave out|refrain from|ban)(?: (?:the use of|`+enMaking+`|`+enDoing+`|`+enAnswer+`))?(?: (?:in|with|any|all))* `+things+tail,
			`(?:and )?(?:no|zero|without|without any|without using|neither|not any|instead of|rather than|not|not in|not as|0|nothing|nothing in|no `+enAnswer+`)(?: (?:a|an|any|in|as))* `+things+`(?: allowed| permitted| please| anywhere)?`+tail,
			enLead+`(?:`+enYou+`|`+enSubj+`(?:`+enModal+` )?)(?:`+enMake+`|`+enDo+`) `+enObj+`?(?:(?:with|in|to) )?(?:no|neither|zero|without|without any|without using)(?: (?:in|a|an))? `+things+tail,
			enLead+`there (?:must|should|may|can) (?:not )?be (?:no )?`+things+tail,
			`(?:any |all |the use of |using )?`+things+` (?:must|should|shall|may|can) (?:not|never) (?:be (?:used|included|present|there|part)|appear|occur)`+tail,
			`(?:any |all |the use of |using )?`+things+` (?:is|are) (?:strictly |absolutely )?(?:not (?:allowed|permitted|acceptable)|forbidden|prohibited|banned|disallowed|unacceptable)`+tail,
			`(?:any |all )?`+things+` (?:must|should|is to|are to|has to|have to) be (?:avoided|omitted|excluded|left out)`+tail,
		),
		// Limits on each part.
		formsOf(`qs`,
			enLead+each+` (?:must|should|may|can|do|does) not (?:have|be|contain|use) `+part+tail,
		),
		// Phrases.
		formsOf(`p`,
			enLead+enYou+`(?:`+enSubj+`)?`+enNot+enSay+` `+enWord+`(?:(?:such as|like|as) )?:? ?`+words+phrases,
			enLead+enYou+`(?:avoid|omit|exclude|leave out|refrain from)(?: (?:the use of|`+enSaying+`))? `+enWord+`(?:(?:such as|like) )?`+words+`(?: out)?`+phrases,
			enLead+enYou+`(?:leave|omit) `+enWord+words+` out`+phrases,
			`(?:and )?(?:never|not|no|without|instead of|rather than|neither|without saying|without using) (?:the )?`+enWord+words+phrases,
			enLead+enSubj+`(?:`+enModal+` |can |may )?(?:`+enSay+`) (?:neither|none of) `+enWord+words+phrases,
			enLead+`(?:`+enYou+`)(?:`+enSay+`) (?:neither|none of) `+enWord+words+phrases,
			enWord+words+` (?:must|should|may|can|shall|do|does) (?:not|never) (?:be (?:used|included|present|there|mentioned|said)|appear|occur)`+phrases,
			enWord+words+` (?:is|are) (?:not (?:allowed|permitted|acceptable)|forbidden|prohibited|banned|disallowed)`+phrases,
			enWord+words+` (?:must|should) be (?:avoided|omitted|excluded|left out)`+phrases,
		),
		// The beginning and the end.
		formsOf(`se`,
			enLead+enYou+`(?:`+enSubj+`)?(?:`+enNot+`|avoid |refrain from )`+begin+` `+reply+`(?:off )?(?:with|by saying|by writing|in|on) `+enWord+`#s\d+`+tail,
			enLead+enYou+`(?:`+enSubj+`)?(?:`+enNot+`|avoid |refrain from )`+begin+` `+reply+`(?:with|by asking|in|on) #e\d+`+tail,
			begin+` `+reply+`without #s\d+`,
			`(?:without|not with) #s\d+`, `(?:but )?not with #s\d+`,
		),
	)
	verbs := enMake + `|` + enDo + `|` + enSay + `|` + begin + `|thank|greet|apologi[sz]e|address|refer|introduce|remember|consider|think|read|check|identify|analy[sz]e|extract|classify|compare|focus|maintain|adopt|act|help|encourage|highlight|avoid|refrain|omit|exclude|follow|ramble|speculate|invent|guess|assume|repeat|mention|be|please|stay|cite|quote|tell|call|leave`
	return &grammar{
		starts: []*regexp.Regexp{
			regexp.MustCompile(`( (?:[.!?;:…] ?)+| – )`), regexp.MustCompile(`( )(?:without|instead of|rather than|unless) `),
			regexp.MustCompile(`( , (?:and |but |then |so )?| (?:and |but |then |so ))(?:(?:always|also|please|instead|then|just|finally) )*(?:(?:do not|never|not|avoid|refrain|without|instead of|rather than|no|zero|omit|exclude|neither|under no|you|make sure|ensure|(?:the|your|each|every|all) ` + enReply + ` (?:must|should|shall|has|have|is|are|may|can)|it (?:must|should|is|has)|(?:` + verbs + `)) )`),
		},
		idle:   regexp.MustCompile(`(?:^| )(?:please|kindly|strictly|absolutely|simply|no matter what|without exception|in any event)(?: ,|$)?|^(?:always|also) |((?:^| )(?:must|should|to|you|please|and|but|then|,)) (?:always|also) `),
		demand: demands, bar: bars,
		free:  regexp.MustCompile(`^(?:(?:and|but|then|so|also|always) )*(?:you (?:are|should|must)|(?:do not|never|always|must not|should not) \w+|in (?:a|an) [a-z -]+ (?:tone|style|manner|voice|way)|\w+ (?:tone|style|voice)|concise|short|brief|important|note|question|message|input|ticket|customer|data|text|length|format|style|output|tone|answer|response|rules?|thanks|thank you|please|plain language|prose|full sentences|in full sentences|in prose|(?:` + verbs + `))(?: [a-z',-]+){0,14}$`),
		risky: regexp.MustCompile(`(?:^| )(?:them|these|those|they|ones?|many|much|more|most|less|fewer|few|unless|if|when|while|where|except\w*|only|but|otherwise|else|instead|however|sometimes|rarely|sparingly|count\w*|exclud\w*|includ\w*|without|limit\w*|rules?|exceptions?|optional\w*|prefer\w*|ideally|necessary|needed|required|ok|okay|fine|allowed|may|can|could|might|acceptable|appl\w+|exceed\w*|longer|shorter|drop|remove|omit|skip|ignore|once|twice|again|former|latter|after|before|until|depending|for|about|unlike|apart|besides|save|nor|or|either|other|another|same|both|each|every|sections?|parts?|paragraphs?|sentences?|lines?|titles?|headings?|headlines?|bullets?|items?|steps?|subjects?|summar(?:y|ies)|intro\w*|names?|tables?|words?|greetings?|openings?|closings?|there|here)(?: |$)|\d|~p`),
		then:  regexp.MustCompile(`(?:^| )then$`), instead: regexp.MustCompile(`^(?:instead of|rather than|not|never) (?:the )?` + enWord + `#p\d+|^(?:do not|never|avoid) .*#p\d+`), swaps: regexp.MustCompile(`^(?:say|use|write|call) .*#p\d+`),
		forbids: regexp.MustCompile(`(?:^| )(?:not|never|no|avoid|refrain|without)(?: |$)`),
		choice:  regexp.MustCompile(`#[qfcjsev]\d+e?(?: ,)? or |(?:^| )or (?:(?:in|as|with|a|an) )*#`),
		and:     regexp.MustCompile(`^(?:and|then)$`),
	}
})
