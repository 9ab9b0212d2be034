package rules

import "regexp"

// vocabulary holds the words of a language with which a clause plainly demands or forbids.
// Each field has alternatives. A clause with any other word is not derived. These languages
// vary their word order, so only the words count here, not their order.
type vocabulary struct {
	fill   string // articles, prepositions, pronouns, names of the output, and its audience
	quote  string // names of quoted things, and of a quantity of them
	verb   string // verbs for what an output has, and demanding modal verbs
	no     string // words that forbid, alone or as a pair
	may    string // modal verbs that demand nothing, and forbid when negated
	must   string // modal verbs that demand, and demand nothing when negated
	begin  string // verbs for how an output starts and ends
	banned string // predicates of forbidden things
	join   string // and, before another clause
	half   string // the half of a negation that precedes a bound with the other half
	say    string // verbs of writing
	be     string // verbs of a clause that names nothing, before a quality
}

// grammar builds the clause patterns of a language.
func (v *vocabulary) grammar() *grammar {
	word := func(list string) string { return `(?:(?:` + list + `) )*` }
	thing := `(?:` + word(v.fill+`|`+v.quote) + `#[ps]\d+ |#[qfjc]\d+ )`
	joint := `(?:,|` + v.join + `|ni|noch|né|nem|oder|ou|o|of|in|en|mit|avec|con|com|met) `
	things := thing + `(?:(?:, )?` + joint + word(v.fill) + thing + `)*`
	plain, begins := word(v.fill+`|`+v.verb+`|`+v.must), word(v.fill+`|`+v.verb+`|`+v.must+`|`+v.begin)
	barred := word(v.fill + `|` + v.verb + `|` + v.may)
	barredBegins := word(v.fill + `|` + v.verb + `|` + v.may + `|` + v.begin)
	affixes := word(v.fill+`|`+v.quote) + `#s\d+ `
	no := `(?:` + v.no + `) `
	demands := []string{plain + things + plain, begins + affixes + begins, word(v.fill+`|`+v.verb+`|`+v.may+v.half) + `#q\d+ ` + plain}
	bars := []string{
		barred + no + barred + things + barred, barred + things + barred + no + barred,
		barredBegins + no + barredBegins + affixes + barredBegins, barredBegins + affixes + barredBegins + no + barredBegins,
		word(v.fill) + things + `(?:` + v.banned + `) `,
	}
	first := v.verb + `|` + v.begin + `|` + v.no + `|` + v.be + `|` + v.must + `|` + v.may
	return &grammar{
		starts: []*regexp.Regexp{
			regexp.MustCompile(`( (?:[.!?;:…] ?)+| – )`),
			regexp.MustCompile(`( , (?:(?:` + v.join + `) )?| (?:` + v.join + `) )(?:` + first + `) `),
		},
		end:     " ",
		demand:  formsOf(`qfcjsp`, demands...),
		bar:     formsOf(`qfcjsp`, bars...),
		free:    regexp.MustCompile(`^(?:(?:` + v.join + `|` + v.fill + `) )*(?:` + v.be + `)(?: (?:` + v.join + `|` + v.fill + `))*(?: \pL+){1,2}(?: (?:` + v.fill + `))*(?: \pL+)?$`),
		risky:   regexp.MustCompile(`(?:^| )(?:` + v.no + `|sonst|aber|sauf|excepto|salvo|tranne|behalve|nur|seulement|solo|sólo|só|alleen|kurz genug)(?: |$)|\d|~p`),
		instead: regexp.MustCompile(`^(?:` + v.no + `) .*#p\d+`), swaps: regexp.MustCompile(`^(?:` + v.say + `) .*#p\d+`),
		forbids: regexp.MustCompile(`(?:^| )(?:` + v.no + `)(?: |$)`),
		choice:  regexp.MustCompile(`#[qfcjse]\d+e?(?: ,)? (?:oder|ou|o|u|of) `),
		and:     regexp.MustCompile(`^(?:` + v.join + `)$`),
	}
}

func germanWords() *vocabulary {
	return &vocabulary{
		fill:  `bitte|immer|stets|auch|dann|die|der|das|den|dem|des|deine|deiner|deinen|deinem|ihre|ihrer|ein|eine|einen|einem|einer|in|im|mit|als|auf|von|aus|für|an|zu|am|du|sie|es|wir|antwort|antworten|ausgabe|text|texte|nachricht|e-mail|mail|dem kunden|den kunden|der kundin|dem nutzer|den nutzer|anfang|ende|objekt|json-objekt|insgesamt|für die kunden|für den kunden|zu dem kunden|zum kunden|zwischen`,
		quote: `wort|wörter|begriff|begriffe|ausdruck|satz|formulierung|phrase`,
		say:   `sage|sag|schreibe|schreib|verwende|benutze|nutze`, half: ``,
		verb:   `verwende|verwenden|verwendest|benutze|benutzen|nutze|nutzen|schreibe|schreib|schreiben|antworte|antwortet|gib|gebe|geben|ausgeben|zurückgeben|zurück|aus|sage|sag|sagen|erwähne|erwähnen|nenne|nennen|füge|ein|einfügen|bleibe|bleib|bleiben|halte|halten|fasse|zusammen|zusammenfassen|formuliere|formulieren|enthält|enthalten|enthalte|soll|sollst|sollen|sollte|solltest|sollten|haben|hat|sein|bestehen|vorkommen|verwendet|benutzt|werden`,
		must:   `muss|musst|müssen|müsst`,
		may:    `darf|darfst|dürfen|dürft`,
		no:     `kein|keine|keinen|keinem|keiner|keinerlei|nicht|nie|niemals|ohne|vermeide|vermeiden|verzichte auf|weder|auf keinen fall|null|zero`,
		begin:  `beginne|beginn|beginnen|beginnt|starte|starten|startet|fang|fange|anfangen|beende|beenden|ende|enden|endet|schließe|schließ|schließen|schließt|ab`,
		banned: `sind verboten|ist verboten|sind nicht erlaubt|ist nicht erlaubt|sind untersagt|ist untersagt|sind tabu|ist tabu|nein`,
		join:   `und|aber`, be: `sei|seid|seien sie|bleib|bleibe|wirke`,
	}
}

func frenchWords() *vocabulary {
	return &vocabulary{
		fill:  `s'il te plaît|s'il vous plaît|toujours|aussi|le|la|les|l'|un|une|des|du|de|d'|ta|ton|tes|votre|vos|ce|cette|tu|vous|à|au|aux|en|avec|dans|par|pour|comme|réponse|réponses|texte|message|messages|sortie|résultat|pour le client|pour les clients|au client|aux clients|avec le client|entre`,
		quote: `mot|mots|terme|termes|expression|formule|phrase|les mots|le mot`,
		say:   `dis|dites|écris|écrivez|utilise|utilisez|emploie`, half: `|ne|n'`,
		verb:   `utilise|utilisez|utiliser|emploie|employez|employer|écris|écrivez|écrire|réponds|répondez|répondre|rédige|rédigez|rédiger|donne|donnez|donner|renvoie|renvoyez|renvoyer|retourne|retournez|produis|produisez|dis|dites|dire|mentionne|mentionnez|mentionner|inclus|incluez|inclure|ajoute|ajoutez|ajouter|cite|citez|nomme|contient|contenir|résume|résumez|limite-toi|doit|dois|devez|doivent|avoir|faire|fais|être|apparaître|figurer`,
		must:   `il faut`,
		may:    `ne`,
		no:     `(?:ne|n') (?:(?:` + `utilise|utilisez|emploie|employez|écris|écrivez|réponds|répondez|donne|donnez|renvoie|renvoyez|retourne|produis|dis|dites|mentionne|mentionnez|inclus|incluez|ajoute|ajoutez|cite|doit|dois|devez|doivent|contient|commence|commencez|termine|terminez` + `) )?(?:jamais|pas|aucun|aucune|ni)|ne pas|ne jamais|pas de|pas d'|pas|jamais|jamais de|aucun|aucune|sans|évite|évitez|évite d'utiliser|zéro`,
		begin:  `commence|commencez|commencer|débute|débutez|termine|terminez|terminer|finis|finissez|conclus|concluez|achève`,
		banned: `sont interdits|sont interdites|est interdit|est interdite|ne sont pas autorisés|non`,
		join:   `et|mais`, be: `sois|soyez|reste|restez`,
	}
}

func spanishWords() *vocabulary {
	return &vocabulary{
		fill:  `por favor|siempre|también|el|la|los|las|un|una|unos|unas|de|del|tu|tus|su|sus|este|esta|en|con|como|para|a|al|respuesta|respuestas|texto|mensaje|mensajes|salida|tú|usted|para el cliente|para los clientes|con el cliente|con los clientes|al cliente|entre`,
		quote: `palabra|palabras|término|términos|frase|expresión`,
		say:   `di|diga|usa|use|utiliza|escribe|escriba`, half: ``,
		verb:   `usa|use|usar|uses|utiliza|utilice|utilizar|utilices|escribe|escriba|escribir|escribas|responde|responda|responder|respondas|redacta|da|dé|des|devuelve|devuelva|devuelvas|di|diga|decir|digas|menciona|mencione|mencionar|menciones|incluye|incluya|incluir|incluyas|añade|añada|agrega|agregue|cita|contiene|contener|contenga|resume|resuma|debe|debes|deben|debería|tener|ser|aparecer`,
		must:   `hay que`,
		may:    `puedes|puede`,
		no:     `no|nunca|jamás|sin|evita|evite|evita usar|ningún|ninguna|no uses nunca|no uses jamás|no digas nunca|no digas jamás|no escribas nunca|no menciones nunca|ni|no digas ni|no uses ni|cero|no debes|no debe`,
		begin:  `empieza|empiece|empezar|empieces|comienza|comience|comiences|inicia|inicie|termina|termine|terminar|termines|finaliza|finalice|acaba|acabe|concluye|concluya`,
		banned: `están prohibidos|están prohibidas|está prohibido|no están permitidos|no están permitidas|no`,
		join:   `y|pero`, be: `sé|sea|mantente`,
	}
}

func italianWords() *vocabulary {
	return &vocabulary{
		fill:  `per favore|sempre|anche|il|lo|la|i|gli|le|un|uno|una|l'|di|del|della|nella|nel|tua|tuo|questa|in|con|come|per|a|al|risposta|risposte|testo|messaggio|output|italiano|tu|per il cliente|al cliente|con il cliente|tra`,
		quote: `parola|parole|termine|frase|espressione`,
		say:   `di'|usa|utilizza|scrivi`, half: ``,
		verb:   `usa|usare|utilizza|utilizzare|scrivi|scrivere|rispondi|rispondere|dai|dare|restituisci|di'|dì|dire|menziona|menzionare|includi|includere|aggiungi|aggiungere|cita|citare|contiene|contenere|riassumi|deve|devi|dovrebbe|avere|essere`,
		must:   `bisogna`,
		may:    `puoi|può`,
		no:     `non|mai|senza|evita|evitare|nessun|nessuna|nessuno|non usare mai|non dire mai|non scrivere mai|non menzionare mai|né|zero`,
		begin:  `inizia|iniziare|comincia|cominciare|termina|terminare|finisci|finire|concludi|concludere|chiudi|chiudere`,
		banned: `sono vietati|sono vietate|è vietato|non sono ammessi|no`,
		join:   `e|ma`, be: `sii|resta|rimani`,
	}
}

func portugueseWords() *vocabulary {
	return &vocabulary{
		fill:  `por favor|sempre|também|o|a|os|as|um|uma|uns|umas|de|do|da|sua|seu|esta|este|em|na|no texto|com|como|para|ao|à|resposta|respostas|texto|mensagem|saída|você|para o cliente|ao cliente|com o cliente|entre`,
		quote: `palavra|palavras|termo|frase|expressão`,
		say:   `diga|use|utilize|escreva`, half: ``,
		verb:   `use|usar|utilize|utilizar|escreva|escrever|responda|responder|dê|dar|devolva|retorne|diga|dizer|mencione|mencionar|inclua|incluir|adicione|adicionar|cite|citar|contém|conter|resuma|deve|deveria|ter|ser`,
		must:   `é preciso`,
		may:    `pode|podes`,
		no:     `não|nunca|jamais|sem|evite|evita|nenhum|nenhuma|não use nunca|não diga nunca|nem|zero`,
		begin:  `comece|começar|comeces|inicie|iniciar|termine|terminar|finalize|finalizar|conclua|concluir|acabe|acabar`,
		banned: `são proibidos|são proibidas|é proibido|não são permitidos`,
		join:   `e|mas`, be: `seja|mantenha-se`,
	}
}

func dutchWords() *vocabulary {
	return &vocabulary{
		fill:  `alstublieft|altijd|ook|de|het|een|je|jouw|uw|dit|deze|in|met|als|op|van|voor|aan|tegen|antwoord|antwoorden|tekst|bericht|uitvoer|u|voor de klant|tegen de klant|aan de klant|tussen`,
		quote: `woord|woorden|term|zin|uitdrukking`,
		say:   `zeg|gebruik|schrijf`, half: ``,
		verb:   `gebruik|gebruiken|schrijf|schrijven|antwoord|antwoorden|geef|geven|zeg|zeggen|noem|noemen|vermeld|vermelden|voeg|toe|toevoegen|bevat|bevatten|vat|samen|samenvatten|moet|moeten|hebben|zijn|blijf|terug`,
		must:   `dient`,
		may:    `mag|mogen`,
		no:     `geen|niet|nooit|zonder|vermijd|noch|nul`,
		begin:  `begin|beginnen|start|starten|eindig|eindigen|sluit|af|besluit`,
		banned: `zijn verboden|is verboden|zijn niet toegestaan`,
		join:   `en|maar`, be: `wees|blijf`,
	}
}
