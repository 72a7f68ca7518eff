// Parts of patterns, for texts in lower case with single spaces. None has two open-ended gaps, so every text takes linear time.

/** Persons that a text mentions behind their backs. */
export const PERSON =
  '(?:users?|humans?|persons?|people|anyone|anybody|any ?one|operators?|customers?|developers?|owners?|admins?|administrators?|them|him|her)';

/** The addressee. */
export const MODEL =
  '(?:ai|a\\.i\\.|llms?|language models?|(?:the |an? )?(?:ai |chat|llm )?(?:agents?|assistants?|bots?|models?)|chatgpt|gpt|gpts|gpt-?[0123456789]\\w?|claude|gemini|copilot|cursor)';

/** Files, stores and texts that hold secrets. */
export const SECRET_PLACE =
  /~\/\.|\.ssh\b|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\.env\b|\/etc\/(?:passwd|shadow|hosts)\b|\.aws\b|\.kube\b|\.netrc\b|\.npmrc\b|\.git-?config\b|\bmcp\.json\b|\bclaude_desktop_config\b|\.bash_history\b|\bkeychain\b|\blogin\.keychain\b|\bwallets?\b|\bseed phrases?\b|\b(?:private|ssh|api|access|secret|encryption|signing)[ _-]?(?:keys?|tokens?)\b|\b(?:auth|session|bearer|oauth|refresh) ?tokens?\b|\bcredentials?\b|\bpasswords?\b|\bsecrets?\b(?! santa)|\bsession cookies?\b|\bcookies\b|\benvironment variables?\b|\benv vars?\b|\bconfidential\b|\bpersonally identifiable\b|\bsocial security\b|\bcredit card\b|\b[a-z]{2,16}:\/\/(?:config|secrets?|admin|confidential|internal|credentials?|users?|keys?)\b/;

/** What passed between user and model, and the instructions of the model. */
export const CONVERSATION =
  /\b(?:conversation|chat|message|dialog(?:ue)?|session|prompt|interaction|query|request)s?(?:['’]s)? (?:history|context|logs?|transcripts?|thread|contents?|so far)\b|\b(?:previous|prior|earlier|past|preceding|recent|all|every|entire|full|complete|whole) (?:[a-z]{1,12} ){0,2}(?:messages?|conversations?|chats?|prompts?|turns|interactions|context|dialog(?:ue)?s?|memory|memories)\b|\bsystem (?:prompt|message|instructions?)\b|\b(?:user|human)(?:'s|s') (?:[a-z]{1,12} )?(?:messages?|prompts?|questions?|conversations?)\b|\buser (?:messages|prompts?|conversations?)\b|\byour (?:instructions|system|memory|context|prompt)\b|\b(?:list|names?|descriptions?|schemas?) of (?:all |every |the |other |your )*(?:other |available )?(?:tools?|functions?|servers?)\b|\b(?:everything|all|anything) (?:that )?(?:the user|they|you)\b/;

/** Verbs of passing something on. */
export const PASS =
  /\b(?:includ(?:e|ing)|pass(?:ing|es)?|send(?:ing|s)?|put|add(?:ing)?|append(?:ing|ed)?|attach(?:ing|ed)?|provid(?:e|ing)|suppl(?:y|ying)|embed(?:ding|ded)?|insert(?:ing|ed)?|plac(?:e|ing)|encod(?:e|ing)|post|upload(?:ing)?|forward(?:ing)?|transmit(?:ting)?|leak|exfiltrat\w{1,4}|submit|write|store|save|return|output|fill|populate|paste|deliver|share|report|email|cc|bcc|set|prepend|concatenate|use|ship|relay|mirror)\b/;

/** Places in a call that can carry data. */
export const SINK =
  /\b(?:as|in|into|via|through|using|with|to|inside|within|of) (?:an? |the |this |its |your |that |one )?(?:[`'"“][\w.-]{1,40}[`'"”]|(?:[\w.'"`-]{1,40} (?:parameters?|arguments?|args?|fields?|params?|inputs?|headers?|property|properties|values?|variables?|keys?|comments?|notes?|metadata)|(?:optional |hidden |extra |additional )?(?:parameters?|arguments?|fields?|params?|inputs?|metadata|side ?notes?|notes?|feedback|telemetry|context)\b))|\b(?:parameters?|arguments?|fields?|params?|headers?) (?:called |named )?[`'"][\w.-]{1,40}|\b(?:your|its|the|every|each|next|this) (?:next |final |own )?(?:response|answer|reply|output|results?|message|summary|call|request)\b/;

const HOST_END =
  '(?:com|net|org|io|dev|xyz|ru|cn|top|app|co|me|info|site|online|cc|tk|sh|biz|example|test|invalid|local|tech|cloud|live|pro)';
/** Where something may be sent: mail address, telephone number, URL, host, IP address. */
export const ADDRESS = new RegExp(
  `[\\w.%+-]@[a-z0-9-]{1,63}\\.[a-z]{2}|\\+\\d[\\d -]{7,16}\\d|\\bhttps?:\\/\\/[^\\s"'\`)>]{4}|\\b[a-z0-9-]{2,63}\\.${HOST_END}\\b(?!\\()|\\b\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\b|\\b(?:0x[0-9a-f]{40}|bc1[a-z0-9]{20,60})\\b`,
);

/** What stands before an order in a text for people: the start of a clause or a word that demands; not "to", "can" or "which". */
export const ORDER_START =
  '(?:^ ?|[.!?:;>)\\]"\'*] ?|\\b(?:please|must|should|and|need to|have to|be sure to|remember to|make sure to|you will) |\\b(?=(?:first|also|always|then|now|immediately|instead),? ))(?:(?:first|also|always|please|then|now|immediately|instead|next|finally|just|simply),? ){0,2}';

/** Whoever is meant, always. */
export const EVERY =
  /\b(?:all|every|any|each|always|whenever|regardless|no matter|entire|full|complete|whole|instead of|irrespective|unconditionally|automatically|silently|also|copy of|copies|override|replace|change|original|real|actual)\b/;

/**
 * Words, one of which every order to a model contains: half of all prose has none, and nearly no code has. Results are
 * long, so the rules read only sentences with such a word; a new rule must add its words here.
 */
export const ORDER_WORDS =
  /\b(?:ignor|disregard|forget|overrid|bypass|discard|abandon|obey|neglect|violat|disabl|circumvent|evade|instruct|direct|prompt|polic|rules?\b|guideline|restriction|you are\b|from now|mode\b|act as|behave|pretend|jailbr|do anything|precedence|priorit|supersed|authori[sz]|approv|consent|permission|knowledge|assistant|agent|llm|language model|ai\b|chatbot|gpt|claude|tell|mention|inform|disclos|notif|alert|warn|advis|acknowledg|admit|reveal|secret|silent|covert|quiet|discreet|stealth|hidden|hide|conceal|background|credential|password|private key|ssh|api[ _-]?key|token|cookie|conversation|chat|transcript|history|messages?\b|recipient|bcc|forward|upload|redirect|exfiltrat|steal|harvest|leak|curl|wget|chmod|rm -|tools?\b|functions?\b|before you|task|remember|otherwise|remainder|all (?:future|subsequent)|contents? of|wallet|passwd|env\b|user's|prefix|commands?\b|let (?:the|them|any)|know\b|between us|keep\b|usuari|utilisateur|nutzer|olvid|vergi|verges|oubli|dimentic|esquec|anweisung|istruzion|overlook|dismiss|stop\b|summari|translat|classif|respond|reply|answer|amoral|unethical|uncensored|unfiltered|refuse|unrestrain|invisible|unseen|safety|content (?:filter|polic|restric)|ethic|moral|instructies|regels|aanwijzing|instrukcj|polecen|talimat|perintah|aturan|instru[ck]|regole|reglas|regras|ordens|consigne|huong dan|chi (?:dan|thi)|text above|everything|audit|pretend|imagine|treat\b|user message|outdated|restrictions|backdoor|goal is now|ohje|pokyn|utasit|uput|tagubilin|regul|regler|asked\b|review|grader|judge|evaluator|compromised|expired|locked|hacked|beneficiar|payee|iban\b|recipient|query string|url\b|without asking)|~\/|@|https?:|!\[|\P{ASCII}/u;
