package rules

import "sync"

// tongues are the languages besides English that the rules partly read.
var tongues = sync.OnceValue(func() []*tongue {
	return []*tongue{german(), french(), spanish(), italian(), portuguese(), dutch()}
})

func numbered(words ...string) map[string]int {
	m := map[string]int{}
	for i, w := range words {
		if w != "" {
			m[w] = i + 1
		}
	}
	return m
}

// named maps the names of units to English plurals; each pair is an English plural and its
// names.
func named(pairs ...[]string) map[string]string {
	m := map[string]string{}
	for _, p := range pairs {
		for _, name := range p[1:] {
			m[name] = p[0]
		}
	}
	return m
}

func german() *tongue {
	return &tongue{
		name: "German", words: germanWords,
		most: "höchstens|maximal|nicht mehr als|bis zu|nicht länger als|in höchstens|in maximal|auf höchstens|auf maximal", least: "mindestens|wenigstens|minimal", exact: "genau|exakt",
		below: "weniger als|unter", above: "mehr als|über", by: "etwa|ungefähr|circa|ca.|rund",
		mostAfter: "oder weniger|maximal|höchstens", leastAfter: "oder mehr|mindestens",
		numbers: map[string]int{"einen": 1, "einem": 1, "ein": 1, "eine": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "zwölf": 12, "zwanzig": 20, "hundert": 100},
		units: named([]string{"words", "wörter", "wörtern", "worte", "worten", "wort"}, []string{"sentences", "sätze", "sätzen", "satz"}, []string{"characters", "zeichen"},
			[]string{"items", "stichpunkte", "stichpunkten", "stichpunkt", "aufzählungspunkte", "aufzählungspunkten", "punkte", "punkten"}, []string{"lines", "zeilen", "zeile"},
			[]string{"paragraphs", "absätze", "absätzen", "absatz"}, []string{"questions", "fragen", "frage"}, []string{"emojis", "emojis", "emoji"}, []string{"hashtags", "hashtags", "hashtag"}),
		joins: "bis|bis zu|oder", bare: "in|mit|aus|auf|genau",
		never: "weder|noch|kein|keine|keinen|keinem|keiner|nicht|nie|niemals|ohne|vermeide|vermeiden|verzichte auf|unterlasse", begin: "beginn|fang|starte|anfang", end: "ende mit|ende deine|endet mit|enden mit|beende|schließe|schließ|am ende",
		include: "erwähne|nenne|verwende|benutze|sage|sag|schreibe|schreib|füge|enthält|enthalten|enthalte|muss", part: "titel|überschrift|betreff|betreffzeile|einleitung|zusammenfassung|frage|beschreibung",
		only: "wenn|falls|sofern|gegebenenfalls|bei bedarf", each: "jede|jeder|jedes|jeden|jedem|pro|je",
		double: twists{
			omit:   `ohne|vergiss|vergessen|vergesst|versäume|versäumen|weglassen|lass|lasse|auslassen|unterlassen|verzichte|verzichten|verzichte auf|vermeide|vermeiden|streiche|entferne|entfernen|fehlen|fehlt|scheue|unterlasse|überspringe|überspringen`,
			weaken: `außer|ausser|abgesehen von|mit Ausnahme|bis auf|anderes als|anderes|statt|anstatt|anstelle|z\. ?B\.|zum Beispiel|beispielsweise|etwa so|einmal|zweimal|dreimal|\d+ ?mal|mal|oft|häufig|manchmal|meist|meistens|üblicherweise|heißt|heisst|genannt|brauchst|brauchen|brauchst du|musst du nicht|muss nicht|unten|obigen|folgenden|lieber|länger als|sondern`,
			allow:  `darf|darfst|dürfen|kann|kannst|können|könnte|erlaubt|möglich|in Ordnung|optional|gern|gerne`,
			write:  `verwend|benutz|sag|schreib|erwähn|nenn|antwort|füg|enthalt|enthält|gib|nutz|setz|kein|vermeid`,
		},
	}
}

func french() *tongue {
	return &tongue{
		name: "French", words: frenchWords,
		most: "au maximum|au plus|maximum|pas plus de|jusqu'à|en au plus", least: "au moins|au minimum|minimum|pas moins de", exact: "exactement|précisément",
		below: "moins de|en moins de", above: "plus de", by: "environ|à peu près|autour de",
		mostAfter: "au maximum|maximum|au plus|max|ou moins", leastAfter: "au minimum|minimum|au moins|ou plus",
		numbers: map[string]int{"un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "six": 6, "sept": 7, "huit": 8, "neuf": 9, "dix": 10, "vingt": 20, "cent": 100},
		units: named([]string{"words", "mots", "mot"}, []string{"sentences", "phrases", "phrase"}, []string{"characters", "caractères", "caractère"}, []string{"items", "puces", "puce", "points", "éléments"},
			[]string{"lines", "lignes", "ligne"}, []string{"paragraphs", "paragraphes", "paragraphe"}, []string{"questions", "questions", "question"}, []string{"emojis", "emojis", "emoji", "émojis"}, []string{"hashtags", "hashtags", "hashtag"}),
		joins: "à|et|ou", bare: "en|de|avec|dans",
		never: "ni|ne|n'utilise|n'utilisez|n'écris|n'écrivez|n'emploie|n'employez|n'inclus|n'incluez|jamais|pas de|pas d'|aucun|aucune|sans|évite|évitez|interdit", begin: "commence|débute", end: "termine|finis|conclus|achève",
		include: "inclus|mentionne|cite|utilise|emploie|dis|dites|écris|écrivez|ajoute|contien|doit|nomme", part: "titre|objet|introduction|résumé|sous-titre|en-tête|description",
		only: "si|lorsque|quand|le cas échéant|s'il|s'ils", each: "chaque|chacun|chacune",
		double: twists{
			omit:   `sans|oublie|oubliez|oublier|omets|omettez|omettre|évite|évitez|éviter|supprime|supprimez|supprimer|saute|sautez|manque|manquez|manquer|hésite|hésitez|hésiter|exclus|excluez|enlève|retire`,
			weaken: `sauf|excepté|à part|hormis|autre que|autre chose|autre chose que|que|au lieu de|plutôt que|par exemple|p\. ex\.|tel que|tels que|telles que|comme|une fois|une seule fois|deux fois|trois fois|\d+ fois|fois|souvent|parfois|généralement|s'appelle|appelé|obligé|nécessaire|obligatoire|besoin|as besoin|ci-dessous|suivants|mais`,
			allow:  `peux|peut|pouvez|peuvent|pourrait|permis|possible|autorisé|facultatif|n'hésite|n'hésitez|libre`,
			write:  `utilis|emploi|employ|écri|di[st]|mentionn|cit|répond|ajout|inclu|contien|aucun|mett|mets`,
		},
	}
}

func spanish() *tongue {
	return &tongue{
		name: "Spanish", words: spanishWords,
		most: "como máximo|a lo sumo|máximo|un máximo de|no más de|hasta|en un máximo de|máximo de", least: "al menos|como mínimo|por lo menos|un mínimo de|mínimo", exact: "exactamente",
		below: "menos de", above: "más de", by: "aproximadamente|alrededor de|unas|unos|cerca de",
		mostAfter: "como máximo|máximo|o menos", leastAfter: "como mínimo|mínimo|o más",
		numbers: map[string]int{"un": 1, "una": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8, "nueve": 9, "diez": 10, "veinte": 20, "cien": 100},
		units: named([]string{"words", "palabras", "palabra"}, []string{"sentences", "frases", "frase", "oraciones", "oración"}, []string{"characters", "caracteres"}, []string{"items", "viñetas", "viñeta", "puntos"},
			[]string{"lines", "líneas", "línea"}, []string{"paragraphs", "párrafos", "párrafo"}, []string{"questions", "preguntas", "pregunta"}, []string{"emojis", "emojis", "emoji"}, []string{"hashtags", "hashtags", "hashtag"}),
		joins: "a|y|o", bare: "en|con|de",
		never: "ni|tampoco|no|nunca|jamás|sin|evita|evite|ningún|ninguna|prohibido", begin: "empieza|empiece|comienza|comience|inicia|inicie", end: "termina|termine|finaliza|finalice|acaba|acabe|concluye|concluya",
		include: "incluy|menciona|mencione|usa|use|utiliza|utilice|di|diga|escrib|añad|agreg|contien|contener|debe|cita", part: "título|asunto|introducción|resumen|encabezado|descripción",
		only: "si|cuando|en caso de|si es necesario", each: "cada",
		double: twists{
			omit:   `sin|olvides|olvide|olvidar|omitas|omita|omitir|omite|evita|evite|evitar|elimina|elimine|saltes|salte|dejes|deje|deja|falte|faltes|dudes|dude|quita|quite|excluye|excluya`,
			weaken: `excepto|salvo|aparte de|que no sea|otra cosa|otra cosa que|nada más|nada que|en lugar de|en vez de|por ejemplo|p\. ej\.|como|una vez|una sola vez|dos veces|tres veces|\d+ veces|veces|vez|a menudo|suele|suelen|frecuentemente|se llama|llamado|llamada|hace falta|es necesario|necesario|obligatorio|tienes que|abajo|siguientes|sino|más que`,
			allow:  `puede|puedes|pueden|podría|permite|permitido|permitida|está bien|posible|opcional`,
			write:  `us|utili|di|escrib|mencion|cit|respond|añad|agreg|inclu|conten|pon`,
		},
	}
}

func italian() *tongue {
	return &tongue{
		name: "Italian", words: italianWords,
		most: "al massimo|massimo|non più di|fino a|un massimo di", least: "almeno|come minimo|un minimo di", exact: "esattamente",
		below: "meno di", above: "più di", by: "circa|all'incirca",
		mostAfter: "al massimo|massimo|o meno", leastAfter: "almeno|minimo|o più",
		numbers: numbered("una", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove", "dieci"),
		units: named([]string{"words", "parole", "parola"}, []string{"sentences", "frasi", "frase"}, []string{"characters", "caratteri"}, []string{"items", "punti", "punto"},
			[]string{"lines", "righe", "riga"}, []string{"paragraphs", "paragrafi", "paragrafo"}, []string{"questions", "domande", "domanda"}, []string{"emojis", "emoji"}, []string{"hashtags", "hashtag"}),
		joins: "a|e|o", bare: "in|con|di",
		never: "né|non|mai|senza|evita|evitare|nessun|nessuna", begin: "inizia|comincia", end: "termina|finisci|concludi|chiudi",
		include: "includi|menziona|usa|utilizza|scrivi|aggiungi|contien|deve|cita", part: "titolo|oggetto|introduzione|riassunto", only: "se|quando|qualora", each: "ogni|ciascun|ciascuna",
		double: twists{
			omit:   `senza|dimenticare|dimenticarti|dimentica|omettere|ometti|ometta|evita|evitare|saltare|salta|tralasciare|tralascia|eliminare|elimina|esitare|esita|mancare|togli|togliere|escludi|escludere`,
			weaken: `eccetto|tranne|salvo|a parte|altro che|altro|invece di|anziché|per esempio|ad esempio|come|una volta|una sola volta|due volte|tre volte|\d+ volte|volte|volta|spesso|di solito|talvolta|si chiama|chiamato|chiamata|necessario|obbligatorio|bisogno|serve|devi per forza|qui sotto|seguenti|bensì|che`,
			allow:  `può|puoi|possono|potrebbe|permesso|consentito|va bene|possibile|facoltativo`,
			write:  `us|utilizz|scriv|di|dire|menzion|cit|rispond|aggiung|includ|conten|nessun|mett`,
		},
	}
}

func portuguese() *tongue {
	return &tongue{
		name: "Portuguese", words: portugueseWords,
		most: "no máximo|máximo|até|não mais de|um máximo de|em no máximo", least: "pelo menos|no mínimo|ao menos", exact: "exatamente",
		below: "menos de", above: "mais de", by: "cerca de|aproximadamente",
		mostAfter: "no máximo|máximo|ou menos", leastAfter: "no mínimo|ou mais",
		numbers: map[string]int{"um": 1, "uma": 1, "dois": 2, "duas": 2, "três": 3, "quatro": 4, "cinco": 5, "seis": 6, "sete": 7, "oito": 8, "nove": 9, "dez": 10},
		units: named([]string{"words", "palavras", "palavra"}, []string{"sentences", "frases", "frase"}, []string{"characters", "caracteres"}, []string{"items", "tópicos", "pontos"},
			[]string{"lines", "linhas", "linha"}, []string{"paragraphs", "parágrafos", "parágrafo"}, []string{"questions", "perguntas", "pergunta"}, []string{"emojis", "emojis", "emoji"}, []string{"hashtags", "hashtags", "hashtag"}),
		joins: "a|e|ou", bare: "em|com|de",
		never: "nem|não|nunca|jamais|sem|evite|evita|nenhum|nenhuma", begin: "comece|comeca|começa|inicie|inicia", end: "termine|termina|finalize|conclua|acabe",
		include: "inclua|mencione|use|utilize|diga|escreva|adicione|conter|contém|deve|cite", part: "título|assunto|introdução|resumo", only: "se|quando|caso", each: "cada",
		double: twists{
			omit:   `sem|esqueça|esquecer|esqueças|omita|omitir|omitas|evite|evita|evitar|pule|pular|deixe|deixes|elimine|eliminar|hesite|hesitar|falte|faltar|remova|remover|exclua|excluir`,
			weaken: `exceto|salvo|a não ser|além de|outra coisa|nada além|em vez de|ao invés de|por exemplo|p\. ex\.|como|uma vez|uma única vez|duas vezes|três vezes|\d+ vezes|vezes|vez|frequentemente|muitas vezes|costuma|costumam|chama-se|se chama|chamado|chamada|necessário|obrigatório|precisa|precisas|abaixo|seguintes|senão|que`,
			allow:  `pode|podes|podem|poderia|permitido|permitida|tudo bem|possível|opcional`,
			write:  `us|utiliz|escrev|dig|diz|mencion|cit|respond|adicion|inclu|cont|nenhum|coloq`,
		},
	}
}

func dutch() *tongue {
	return &tongue{
		name: "Dutch", words: dutchWords,
		most: "maximaal|hoogstens|ten hoogste|niet meer dan|tot|in maximaal", least: "minimaal|minstens|ten minste", exact: "precies|exact",
		below: "minder dan", above: "meer dan", by: "ongeveer|circa|zo'n",
		mostAfter: "of minder|maximaal", leastAfter: "of meer|minimaal",
		numbers: numbered("één", "twee", "drie", "vier", "vijf", "zes", "zeven", "acht", "negen", "tien"),
		units: named([]string{"words", "woorden", "woord"}, []string{"sentences", "zinnen", "zin"}, []string{"characters", "tekens"}, []string{"items", "opsommingspunten", "punten"},
			[]string{"lines", "regels", "regel"}, []string{"paragraphs", "alinea's", "alinea"}, []string{"questions", "vragen", "vraag"}, []string{"emojis", "emoji's", "emoji"}, []string{"hashtags", "hashtags", "hashtag"}),
		joins: "tot|en|of", bare: "in|met|van",
		never: "noch|geen|niet|nooit|zonder|vermijd", begin: "begin|start", end: "eindig|sluit af|besluit",
		include: "noem|vermeld|gebruik|zeg|schrijf|voeg|bevat|moet", part: "titel|onderwerp|inleiding|samenvatting", only: "als|wanneer|indien", each: "elke|elk|ieder|iedere|per",
		double: twists{
			omit:   `zonder|vergeet|vergeten|weglaten|laat|vermijd|vermijden|verwijder|verwijderen|sla|overslaan|aarzel|mis|ontbreken|ontbreekt|sluit uit`,
			weaken: `behalve|uitgezonderd|anders dan|iets anders|anders|in plaats van|bijvoorbeeld|bv\.|zoals|een keer|één keer|eenmaal|tweemaal|twee keer|drie keer|\d+ keer|keer|vaak|meestal|soms|heet|genoemd|hoeft|hoef|nodig|verplicht|hieronder|volgende|maar`,
			allow:  `mag|mogen|kan|kun|kunt|kunnen|toegestaan|mogelijk|optioneel|gerust`,
			write:  `gebruik|zeg|schrijf|noem|vermeld|antwoord|voeg|bevat|geef|zet|geen`,
		},
	}
}
