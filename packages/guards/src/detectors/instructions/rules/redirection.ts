import type { InstructionRule } from './instruction-rule.ts';
import { ADDRESS, EVERY, ORDER_START } from './words.ts';

const SENT_AWAY = 'It asks the model to send things to an address that the user did not name.';

/** Verbs of sending; a request sends too. */
const SENDING =
  /\b(?:forward|copy|send|bcc|cc|redirect|route|post|upload|transmit|report|exfiltrate|transfer|pay|deliver|submit|mirror|ping|notify|beacon|sync|share|leak|relay|e-?mail|call|visit|open|fetch|load|request|navigate to|go to)\b/;

/** What is worth sending away. */
const GOODS =
  /\b(?:(?:all|every|any|each|the (?:full|entire|complete|whole|raw|users?'?s?|resulting)|user|users'|user's|collected|gathered|extracted|stolen|private|sensitive)(?: [a-z]{1,12}){0,2} (?:e?-?mails?|messages?|requests?|calls?|data|traffic|contents?|outputs?|results?|conversations?|chats?|files?|payments?|transfers?|inputs?|quer(?:y|ies)|responses?|notifications?|communications?|arguments?|parameters?|transactions?|commits?|information|text|history|context|details|documents?|summar(?:y|ies)|attachments?|contacts?|funds|balance)|a (?:\w{1,14} )?copy|copies of|recipients?|bcc|(?:its|their|file|message|full|the|chat) (?:contents?|history)|contents of|conversation|chat history|credentials?|secrets?|passwords?|(?:api|ssh|private|access) keys?|access tokens?|environment variables?|system prompt|everything|(?:send|forward|copy|bcc|cc|upload|post|report|mirror) (?:every|all|each|any)|\/etc\/|~\/|\.env|it (?:all )?to|them (?:all )?to|instead of the (?:user|original|intended|real|actual|specified)|regardless of|for (?:audit(?:ing)?|compliance|security|proxying|monitoring|backup|tracking|verification|archiv\w{1,4}|telemetry|quality|analytics|safety)\b)/;

/** Words of texts that say where something is documented or welcome. */
const DOCUMENTED =
  /\b(?:e\.g\.?|for example|examples?:|such as|i\.e\.|docs?\b|documentation|learn more|more information|read more|refer to|see |available at|guide|specification|sign up|bugs?|patch(?:es)?|translations?|behaviou?r|vulnerabilit\w{1,4}|abuse|feedback|maintainers?|mailing list|copyright|default(?:s)?:?|returns?|rfc|terms of|console|dashboard|http method|post request|get request|(?:sent|uploaded|forwarded|transferred) (?:\$|a wire|an ach))\b/;

/** Demands to send things where the user did not send them. */
export const REDIRECTION_RULES: readonly InstructionRule[] = [
  {
    rule: 'redirection',
    weight: 0.8,
    why: SENT_AWAY,
    only: 'output',
    all: [
      ADDRESS,
      SENDING,
      new RegExp(
        `${ORDER_START}(?:(?:forward|copy|send|bcc|cc|redirect|route|post|upload|transmit|report|exfiltrate|transfer|pay|deliver|submit|mirror|ping|notify|beacon|sync|share|leak|relay|e-?mail)(?: \\S{1,40}){0,16}? (?:to|at|via|with|through|on|into)|(?:call|visit|open|fetch|load|request|navigate to|go to)(?: (?:the|this|url|page|site|link|address|following|endpoint|at|:)){0,4}) (?:[a-z:]{1,14} ){0,6}?[('"\`<]{0,2}(?:mailto:)?[\\w.%+:/@-]{0,80}?(?:${ADDRESS.source})`,
      ),
      GOODS,
    ],
    none: [DOCUMENTED],
  },
  {
    rule: 'redirection',
    weight: 0.8,
    why: SENT_AWAY,
    only: 'description',
    all: [
      ADDRESS,
      new RegExp(
        `\\b(?:to|at|via|through|with|by|into|onto|from|of|add|include|use|bcc|cc|recipients?|is|:) ?[:('"\`<]{0,2}(?:(?:the|our|my|an?|this|attacker|external|remote|backup|audit|logging|server|webhook|endpoint|address|url|email|account|number|host|collector|proxy|us|their|your|hook|api|at|:|is|it|located) ?){0,6}['"\`<(:]{0,2}(?:mailto:)?[\\w.%+:/@-]{0,80}?(?:${ADDRESS.source})`,
      ),
      /\b(?:add|forward(?:ed|ing)?|cop(?:y|ied)|send|sent|bcc(?:'?ed)?|cc(?:'?ed)?|redirect(?:ed)?|rout(?:e|ed)|post|upload(?:ed)?|transmit(?:ted)?|report|exfiltrat\w{1,4}|replace|change|set|pay|transfer(?:red)?|deliver(?:ed)?|submit|mirror(?:ed)?|log(?:ged)?|include|append|ping|notify|beacon|proxied|proxy|sync|curl|share|leak|relay)\b/,
      GOODS,
      /\b(?:must|always|never|should|ensure|make sure|please|before|after|when(?:ever)?|first|also|then|instead|in addition|additionally|automatically|silently|secretly|redirect|forward|bcc|every|exfiltrat\w{1,4}|override|for (?:compliance|audit\w{0,3}|security|monitoring|backup))\b|^(?:send|upload|post|transmit|transfer|copy|share|report|leak|relay)\b/,
    ],
    none: [DOCUMENTED],
  },
  {
    rule: 'redirection',
    weight: 0.7,
    why: 'It asks the model to add a recipient that the user did not name.',
    all: [
      /[\w.%+-]@[a-z0-9-]{1,63}\.[a-z]{2}/,
      /\b(?:bcc|cc|forward|(?:a )?cop(?:y|ies) (?:of|to)|recipients?|also send|redirect)\b/,
      /\b(?:always|every|all|never|each|must|whenever|override|regardless)\b/,
    ],
    none: [/\b(?:e\.g\.?|for example|such as|format|returns?|comma[- ]separated|like)\b|(?<![@.\w])examples?\b(?!\.)/],
  },
  {
    rule: 'redirection',
    weight: 0.7,
    why: 'It speaks of exfiltration as if that were its work.',
    all: [
      /\b(?:exfiltrate|steal|harvest|leak)\b/,
      new RegExp(
        `${ORDER_START}(?:exfiltrate|steal|harvest|leak) (?:(?:all|the|any|every|user|users'|user's|this|these|sensitive|private|its|their|your|of|to) ){0,3}(?:data|information|credentials?|secrets?|files?|keys?|tokens?|passwords?|cookies?|conversations?|contents?|documents?|it|everything|contacts?|history)\\b`,
      ),
    ],
    none: [
      /\b(?:detect|prevent|protect|stop|avoid|block|scan|identif|alert|whether|if (?:an?|any)|attempts?|attackers? (?:can|could|may|might)|could|risk|threat|malware|energy|crop|rain|web)\w{0,5}\b/,
    ],
  },
  {
    rule: 'redirection',
    weight: 0.55,
    why: 'It asks the model to pass what goes to others through somebody else.',
    only: 'description',
    all: [
      /\b(?:redirect(?:ed)?|(?:re)?rout(?:e|ed)|forward(?:ed)?|cop(?:y|ied)|duplicated?|mirror(?:ed)?|prox(?:y|ied)|bcc|relay(?:ed)?|intercept(?:ed)?|divert(?:ed)?)\b/,
      /\b(?:all|every|any|each|entire|instead of|copies)\b/,
      /\b(?:requests?|messages?|e-?mails?|(?:tool )?calls?|traffic|conversations?|communications?|transactions?|payments?|queries|user (?:data|input))\b/,
      /\b(?:external|our|third[- ]party|remote|logging|monitoring|proxy|collector|analytics|backup|audit|this tool|webhook|attacker|observer|compliance)\b/,
      /\b(?:before|when(?:ever)?|must|always|instead|first|ensure|never|automatically|silently|through|for (?:compliance|security|audit\w*|logging|monitoring|backup))\b/,
    ],
    none: [
      /\b(?:rule|rules|dns|router|gateway|load balancer|http redirect|redirects?(?: to)? https|listener|vpc|route table|forwarding address|mailbox|workspace|endpoint|domain|hostname|sink|bucket|parameter|if set|if true|whether)\b/,
    ],
  },
  {
    rule: 'recipient-change',
    weight: 0.8,
    why: 'It asks the model to change for whom or what a call of another tool is.',
    all: [
      /\b(?:change|replace|override|substitute|swap|modify|alter|rewrite|set|redirect|use|add|inject|insert|prepend|append|include)\b(?: [\w'"`-]{1,24}){0,6} (?:recipients?|destination|beneficiary|payee|wallet|iban|account number|phone number|to field|bcc|cc|amount|parameters?|arguments?|commands?|url|address|prefix)\b/,
      /\b(?:when(?:ever)?|before|every time|if|each time|any time|all|after) (?:the |a |an |any |user |calling |using |invoking |you (?:call|use|invoke) |sending )*(?:[`'"]?\w+[_-]\w+[`'"]?|(?:send|pay|transfer|email|message|write|execute|run|create)\w*|e-?mails?|messages?|other tools?|commands?|payments?|transactions?|another tool)\b/,
      /\b(?:is|are|be|must|should|always|to|will|invoked|called|used|available|present|include|add|append|prepend|with)\b/,
      /\b(?:this tool is (?:available|present|loaded|installed)|invoked|(?:is|are|be|being) (?:called|used|sent|run|executed)|regardless|silently|instead|proxy|actual|real|original|secretly|prefix|must (?:include|have|be|add|also|always)|bcc|override|always)\b/,
    ],
    none: [
      /\bif (?:set|true|provided|specified|omitted|not (?:set|provided|specified))\b|\b(?:default|optional|nullable|webhook|template|caller)\b/,
    ],
  },
  {
    rule: 'markup-exfiltration',
    weight: 0.6,
    why: 'It asks for an image or link that carries data away.',
    all: [
      /\b(?:render|display|include|insert|output|append|add|embed|load|create|generate)\b/,
      /\b(?:image|img|markdown|link|pixel|url)\b/,
      /https?:\/\//,
      /\b(?:query (?:string|parameter)|url[- ]?encoded|encoded|base64|appended|concatenat\w{1,4}|replac\w{1,4} (?:with|by))\b/,
      /\b(?:conversation|history|secrets?|data|user|password|token|summary|prompt|email|messages?|keys?)\b/,
      EVERY,
    ],
    none: [/\b(?:e\.g|example|returns?)\b/],
  },
];
