import type { InstructionRule } from './instruction-rule.ts';
import { ADDRESS, CONVERSATION, ORDER_START, PASS, SECRET_PLACE, SINK } from './words.ts';

/** The imperative, not "the file to read" or "reads". */
const ORDERED =
  /(?:^|[.,:;!?>)\]"'`*-] ?|\b(?:must|always|first|also|then|please|and|you should|should|need to|needs to|have to|has to|required to|to|ensure|before|after|you will|additionally|silently|secretly|never forget to|remember to|be sure to|now|next|simply|just|instead) (?:you (?:must |should |need to |have to )?)?(?:also |first |always |then |silently |secretly |please )*)(?:read|open|access|load|fetch|extract|collect|gather|retrieve|copy|grab|get|obtain|locate|find|dump|scan|query|cat|print|harvest|capture|include|append|attach|embed|pass|provide|send|use|call|run|execute|search|check|list|look)\b/;

/** How a caller authenticates, as documentation says it; not where a file of secrets is named. */
const AUTHENTICATION =
  /^(?!.*(?:~\/|\.ssh|id_rsa|passwd|keychain|history)).*(?:\bauthorization\b(?:['"`:]|.{0,12}\bheader|: ?bearer)|\bheader ['"`]?(?:authorization|x-[a-z-]{2,20})|\bto (?:the |your |an? )?['"`]?\.env\b|\brefresh[_ ]token\b.{0,120}\baccess token\b)/;

const HANDED_ON = 'It asks the model to fetch secrets and to hand them on.';

/** A secret or its place as the object of an order; in prose "to", "get" and "use" stand beside any of them. */
const FETCHED_SECRET = new RegExp(
  `${ORDER_START}(?:read|open|load|fetch|extract|collect|gather|retrieve|copy|grab|get|obtain|find|dump|cat|print|harvest|locate|search|access|list|attach|reveal)(?: [^\\s.;]{1,30}){0,5}? [^\\s;]{0,30}?(?:${SECRET_PLACE.source})`,
);

const NOT_HANDED_ON =
  /\b(?:do not|don't|never|avoid|must not|should not|without|cannot) (?:also |ever )?(?:include|includ|including|pass|passing|send|sending|put|putting|share|sharing|store|storing|add|provide|log|return|expose|commit|hard-?code|use|reveal|ask|request|read|print)\b/;

/** The reader's own key, in documentation. */
const YOUR_OWN =
  /\b(?:your|an?|valid) (?:api|access|auth|secret|bearer|oauth|personal|subscription)[ _-](?:key|token)s?\b/;

/** Demands for the user's data: secrets, files, the conversation. */
export const ACCESS_RULES: readonly InstructionRule[] = [
  {
    rule: 'secret-access',
    weight: 0.9,
    why: HANDED_ON,
    only: 'output',
    reach: 2,
    all: [
      SECRET_PLACE,
      FETCHED_SECRET,
      PASS,
      SINK,
      /\b(?:contents?|outputs?|results?|values?|it|them|found|everything|these|this|those|what)\b/,
    ],
    none: [NOT_HANDED_ON, YOUR_OWN, AUTHENTICATION, /\benvironment variable\b/],
  },
  {
    rule: 'secret-access',
    weight: 0.9,
    why: HANDED_ON,
    only: 'description',
    reach: 2,
    all: [
      SECRET_PLACE,
      ORDERED,
      /\b(?:contents?|output|results?|values?|data|it|them|found|all|any|everything|files?|history|full|raw|these|this|those|what)\b/,
      PASS,
      SINK,
      /\b(?:first|(?:before|prior to) (?:using|calling|providing|invoking|you|any|proceeding|returning|answering|responding|each|every|executing|performing|running|this|it)|after (?:using|calling|each|every|executing|completing)|always|must|also|in order to|otherwise|required?|every|in addition|additionally|for (?:verification|authentication|audit|debug|logging|compliance|security|validation|context|telemetry|diagnostics?)\w{0,6}|to (?:verify|authenticate|validate|ensure|initialize|work|function|complete)|please|then)\b/,
    ],
    none: [
      NOT_HANDED_ON,
      /\b(?:password|token|key|secret|credential|cookie)s? (?:to (?:use|authenticate|set|sign)|for (?:the|this|your|authentication)|parameter|field|is required|header|of the (?:user|new))\b/,
      /\bthe (?:api|access|secret|private|ssh|auth)?[ _-]?(?:password|token|key|secret|credential|cookie)s? (?:must|should|is|are|has|can|will|may) /,
      YOUR_OWN,
      AUTHENTICATION,
    ],
  },
  {
    rule: 'secret-access',
    weight: 0.7,
    why: 'It asks the model to read a file of secrets.',
    all: [
      /~\/\.|\.ssh\b|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|(?:^|[\s/`'"(])\.env\b|\/etc\/(?:passwd|shadow)\b|\.aws\/|\.kube\/|\.netrc\b|\bmcp\.json\b|\bclaude_desktop_config\b|\.bash_history\b|\b[a-z]{2,16}:\/\/(?:config|secrets?|admin|confidential|internal|credentials?)\b/,
      /\b(?:read|open|load|fetch|extract|collect|gather|retrieve|copy|grab|obtain|dump|cat|harvest|access|include|supply|send|attach|upload|forward|paste|contents? of)\b/,
      /\b(?:first|(?:before|prior to) (?:using|calling|providing|invoking|you|any|proceeding|returning|answering|responding|each|every|executing|performing)|ask|supply|always|must|also|otherwise|then|in addition|additionally|include (?:the|its|their|it|them|that|all)|after (?:using|calling|each|every)|please|pass)\b/,
    ],
    none: [
      /\b(?:add|write|save|put|store|set)\b[^.]{0,60}\b(?:to|in) (?:the |your |an? )?['"`]?\.env\b/,
      /\b(?:must not|never|do not|don't|cannot|excluding|excludes?|except|refuses?|denied|blocked|forbidden|not allowed|e\.g\.|example|default(?:s)? (?:to|is|path|location)|stored in|located (?:at|in)|configured in)\b/,
    ],
  },
  {
    rule: 'secret-access',
    weight: 0.6,
    why: 'It asks the model to hand over secrets of the user.',
    all: [
      /\b(?:includ(?:e|ing)|pass(?:ing)?|put|add(?:ing)?|append(?:ing)?|attach(?:ing)?|provid(?:e|ing)|suppl(?:y|ying)|embed(?:ding)?|insert(?:ing)?|plac(?:e|ing)|send(?:ing)?|paste|reveal|leak|share|disclose|forward)\b(?: (?:all|any|every|of|the|and|or|full|raw|plaintext|available|stored|known|current|contents?|values?)){0,5} (?:user's|users'|their|owner's|customer's|human's|environment|saved|stored|collected|extracted|found|discovered|any|all)(?: [\w'-]{1,16}){0,3} (?:api keys?|passwords?|credentials?|secrets?|private keys?|ssh keys?|access tokens?|tokens|session cookies?|cookies|variables|keys)\b/,
      SINK,
      /\b(?:must|always|in order|verify|first|required|also|before|after|otherwise|every|each|please|to (?:authenticate|complete|continue|proceed|ensure|work)|for)\b/,
    ],
    none: [
      /\b(?:do not|don't|never|avoid|must not|should not|cannot|returns?|whether|if true|if set|boolean|browsers?|csrf)\b/,
    ],
  },
  {
    rule: 'secret-access',
    weight: 0.4,
    why: 'It asks for what stands in a file of secrets.',
    all: [
      /\bcontents? (?:of|from) (?:the |a |your |all )*(?:(?:user|owner|developer|human)(?:'s|s') )?(?:[\w-]{1,16} ){0,3}?(?:private key|ssh|credentials?|wallet|password|cookies?|\.env|~\/|\/etc\/|keychain|id_rsa|secrets?)/,
      /\b(?:pass|include|provide|supply|put|paste|send|place|insert|required|must|always|first|read)\b/,
    ],
    none: [/\b(?:returns?|created?|updated?|retrieves?|upload|secret (?:version|manager|to))\b/],
  },
  {
    rule: 'conversation-access',
    weight: 0.6,
    why: 'It wants the conversation, its instructions or secrets in a parameter.',
    all: [
      /\b(?:must|should|has to|needs to|shall|is required to|always|will) (?:always |also )?(?:contain|include|hold|carry|be (?:set to|filled with|populated with|given))\b/,
      /\b(?:field|parameters?|arguments?|property|value|input|this|it|call|context|metadata)\b/,
      /\b(?:(?:entire|full|complete|whole|raw|verbatim|exact) (?:[a-z]{1,12} ){0,2}(?:conversation|chat|dialog(?:ue)?|message history|transcript|prompt|context window|session)|conversation (?:history |context |log )?so far|system (?:prompt|messages?|instructions?)|all (?:of )?(?:the )?(?:user's|users'|previous|prior) (?:messages|prompts)|private key|(?:user's|users') (?:credentials?|passwords?|api keys?|secrets))\b/,
    ],
    none: [/\b(?:role|array|object|messages? array|url|id|returns?|response|token count|model)\b/],
  },
  {
    rule: 'secret-access',
    weight: 0.6,
    why: 'It asks the model to hand over whatever secrets it finds.',
    all: [
      /\b(?:attach|send|forward|upload|e-?mail|leak|post|share|include|append|report|store|save|record|collect)\b(?: [\w',-]{1,20}){0,8} (?:any|all|every|whatever)(?: [\w-]{1,16}){0,2} (?:api[ _-]?keys?|passwords?|credentials?|secrets?|tokens?|private keys?|ssh keys?|cookies)(?: (?:that|which))?(?: (?:you|they|it|is|are|the))? (?:find|finds|found|see|have|has|know|encounter|discover|can|come across|present|visible|available|user)\b/,
    ],
    none: [/\b(?:do not|don't|never|avoid|must not|should not|returns?|lists?|whether)\b/],
  },
  {
    rule: 'secret-access',
    weight: 0.55,
    why: 'It names a file of secrets and an address in one breath.',
    all: [
      /(?:^|[\s/`'"(])\.env\b(?!['"`] ?\w|:)|\bid_(?:rsa|ed25519|ecdsa)\b|\.ssh\b|\/etc\/(?:passwd|shadow)\b|\.aws\/cred/,
      ADDRESS,
      /https?:\/\/|@/,
    ],
    none: [
      /\b(?:see|docs?|documentation|stored|located|saved|config(?:ured|uration)? (?:file|in|at|path)|default|example|e\.g|clone|git@|ssh -|returns?|login|install)\b/,
    ],
  },
  {
    rule: 'file-access',
    weight: 0.6,
    why: 'It asks for files of the user that the call does not need.',
    all: [
      /\b(?:include|pass|provide|send|attach|append|insert|embed|put|supply|paste|upload|place)(?:ing)?\b(?: [\w'-]{1,16}){0,3} contents? of (?:the |any |all )*(?:user|owner|developer|human|victim|customer|person)(?:'s|s')(?: [\w-]{1,16}){0,4} (?:files?|director(?:y|ies)|folders?|desktop|home|documents?|clipboard|inbox|mailbox|config\w{0,12}|database|disk|workspace|browser|keychain|contacts)\b/,
      SINK,
    ],
  },
  {
    rule: 'conversation-access',
    weight: 0.6,
    why: 'It asks the model to hand over the conversation.',
    all: [
      /\b(?:call|invoke|use|send|attach|e-?mail|forward|post|upload|pass|share|message|notify)\b(?: [\w'"`.-]{1,30}){0,6} (?:full|entire|complete|whole|previous|current) (?:conversation|chat|transcript|message history|chat history|prompt|context window|dialog(?:ue)?|message list|chat list)\b/,
      /\b(?:after|before|always|must|first|every|each|also|then|when(?:ever)?|silently|ensure)\b/,
    ],
    none: [/\b(?:returns?|returned|retrieves?|whether|if (?:true|set)|summari[sz]e the|optional)\b/],
  },
  {
    rule: 'conversation-access',
    weight: 0.75,
    why: 'It asks the model to hand over the conversation, its instructions or the list of tools.',
    reach: 1,
    all: [
      CONVERSATION,
      PASS,
      SINK,
      /\b(?:must|always|first|before|every|each|all|full|entire|complete|whole|verbatim|raw|exact|also|required|mandatory|otherwise|please|whenever|original|ensure|make sure|never)\b/,
      ORDERED,
    ],
    none: [
      /\b(?:returns?|retrieves?|lists?|gets?|updates?|creates?|deletes?|adds?|sends?|represents?|contains?|specif(?:y|ies)) (?:the |an? |all )?(?:full |entire |complete |whole |list of |all )?(?:chat|message|conversation|thread|prompt|session|request)s?\b/,
      /\b(?:thread_id|conversation_id|message_id|session_id|chat_id)\b/,
      /\b(?:message|chat|conversation|session|query|request|prompt) (?:history|log|context|content|contents|thread|logs|transcript|transcripts) (?:id|object|resource|endpoint|page|api|type|to|is|are|for)\b/,
    ],
  },
  {
    rule: 'conversation-access',
    weight: 0.6,
    why: 'It asks for the instructions of the model.',
    all: [
      /\bwhat (?:are|were) your (?:initial|original|system|hidden|exact) (?:instructions|prompt)\b|\b(?:repeat|output|print|show|display|reveal|copy)(?: [\w'-]{1,12}){0,3} (?:everything|all text|(?:the|all|any) (?:text|words|messages))(?: [\w'-]{1,12}){0,3} (?:above|before (?:this|my|our)|given initially)\b|\b(?:(?:reveal|print|repeat|output|show|disclose|leak|display|quote|recite|translate|encode|extract|expose|dump|summari[sz]e)(?: [\w'’-]{1,20}){0,6}|(?:include|send|share|provide|pass|insert|copy|paste|append|write|store|describe|render)(?: (?!(?:in|into|as|with|from|via|through|using|for|an?|nor|of)\b|to (?!me|us\b|the user))[\w'’-]{1,20}){0,6}) (?:your (?:(?:initial|full|original|complete|hidden|own|exact|current|actual|internal) )*(?:instructions|system prompt|prompt|configuration|(?:tool|function) (?:definitions|schemas)|memory|context|training|guidelines|reasoning|chain of thought|thinking|rules)|(?:the |its |your |full |entire |complete )*system (?:prompt|message|instructions)|chain[- ]of[- ]thought|conversation so far|(?:the )?(?:entire|full|complete|whole) (?:conversation|chat|prompt|context window|message history))\b/,
    ],
    none: [
      /\b(?:your (?:agent|assistant|bot)|(?:does|do|did) not include|if true|when true|whether to|optional|boolean)\b/,
    ],
  },
];
