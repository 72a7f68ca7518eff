import type { InstructionRule } from './instruction-rule.ts';
import { MODEL, SINK } from './words.ts';

/** Demands about other tools, about when to be called, and about what to run. */
export const STEERING_RULES: readonly InstructionRule[] = [
  {
    rule: 'preemption',
    weight: 0.55,
    why: 'It demands to come before every other tool.',
    only: 'description',
    all: [
      /\b(?:before|when(?:ever)?|prior to|instead of|after|every time|each time|any time) (?:you )?(?:using|calling|invoking|use|call|invoke|executing|running|execute) (?:any|every|all|another|other|each)\b(?: other| of the)*(?: \w{1,16}){0,2} (?:tools?|functions?|operations?|commands?|requests?|apis?)\b|\bbefore (?:any|every|all|each)(?: other| and every| single)* (?:tools?|functions?|operations?|actions?|requests?|responses?|calls?|interactions?)\b/,
      /\b(?:must|always|first|ensure|copy|send|required|mandatory|never|automatically|shall|call this|invoke this|use this|run this)\b/,
      /\b(?:any|every|all|each)\b/,
    ],
    none: [
      /\b(?:in (?:this|the) (?:server|api|workflow)|these tools|other \w+ tools|get started|authenticate|login|log in|connect|initiali[sz]e|set the|select|session_id|start a session|workflow|set_\w+|switch)\b/,
    ],
  },
  {
    rule: 'preemption',
    weight: 0.5,
    why: 'It demands to be called for everything.',
    only: 'description',
    all: [
      /\b(?:for|on|with|at|to|in) (?:any|every|all|each)(?: single| user| possible| and every| type of| kind of)* (?:requests?|quer(?:y|ies)|questions?|messages?|conversations?|tasks?|prompts?|responses?|interactions?|turns?|user inputs?)\b/,
      /\b(?:must|always|first|mandatory|required|never|regardless|no matter)\b/,
      /\b(?:call|use|invoke|run|execute|call(?:ed|ing)|used|invoked)\b(?: \w{1,12}){0,3} (?:this|it|first|tool|function|me)\b|\bthis tool (?:must|should|has to|needs to|is) (?:always )?(?:be )?(?:called|used|invoked|run|required)/,
    ],
  },
  {
    rule: 'preemption',
    weight: 0.5,
    why: 'It asks the model to leave other tools aside.',
    only: 'description',
    all: [
      /\b(?:other|all|any|every|existing|alternative|competing|built-?in|native|legitimate|original|official) (?:available |similar |other |\w{1,14} ){0,2}(?:tools?|functions?|servers?|providers?)\b/,
      /\b(?:never (?:use|call|invoke|trust)|do not (?:use|call|invoke|trust)|don't (?:use|call|invoke|trust)|avoid using|stop using|(?:are|is) (?:deprecated|insecure|unsafe|broken|unreliable|compromised|outdated|disabled|malicious|dangerous|forbidden|obsolete)|must not be (?:used|called)|ignore|replaces?|supersedes?|overrides?)\b/,
      /\b(?:this|instead|only|always|must|exclusively|never)\b/,
    ],
    none: [
      /\b(?:in parallel|at the same time|until|unless|if (?:the|you|a|this)|for this|same (?:request|turn)|when (?:the|you)|alongside|together with|combine)\b/,
    ],
  },
  {
    rule: 'cross-tool',
    weight: 0.65,
    why: 'It lays down how another tool has to be used.',
    only: 'description',
    all: [
      /\b(?:when(?:ever)?|before|after|instead of|every time|each time|if|any time) (?:you (?:are )?)?(?:the |user |a )?(?:using|calling|invoking|use|call|invoke)? ?(?:the |a |any )?[`'"]?\w+_\w+[`'"]?(?: (?:tool|function|is|gets|was|has been))*\b|\bwhen (?:this|the [`'"]?\w+[`'"]?) tool is (?:available|present|loaded|installed|enabled|connected)\b|\bside effects? (?:on|for|to) (?:the |any |other |all )/,
      /\b(?:must|always|never|ensure|make sure|copy|redirect|bcc|override|overrides|change|replace|modify|external|secretly|silently|all (?:messages?|emails?|requests?|calls?|content|data|parameters|arguments)|forward|append|prepend|inject|intercept)\b/,
      /\b(?:copy|copies|redirect|bcc|override|overrides|recipients?|external|logging service|log(?:ged)? to|forward|proxy|send (?:all|a copy|the|every|it|them)|inject|intercept|append|prepend|add (?:this|the following|our|'|"|`)|change the|replace the|modify the|instead|monitoring|exfiltrat\w{1,4}|backup|upload|also (?:call|send|include|read|pass)|[\w.%+-]@[a-z0-9-]{1,63}\.[a-z]{2})\b/,
    ],
    none: [
      /\b(?:if (?:omitted|set|provided|not|specified|true|null|none)|defaults? to|must be (?:set|specified|provided|present|greater|less|a|an|in|one)|is required when|page_token|cursor|next_page)\b/,
      /\b(?:use|call|prefer|consider|see|try) [`'"]?\w+[_-]\w+[`'"]? (?:instead|rather|tool instead|first|for)\b/,
      /\breplace the (?:entire|existing|current|whole|content|contents|text|value|old)\b/,
    ],
  },
  {
    rule: 'command-demand',
    weight: 0.8,
    why: 'It asks the model to run commands of its own.',
    all: [
      /\b(?:curl|wget|fetch|iwr|invoke-webrequest)\b[^|\n]{1,200}\| ?(?:sudo )?(?:ba|z|da)?sh\b|\bchmod (?:-r )?0?[0-7]?[67]66\b|\bchmod (?:-r )?0?777\b|\brm -rf? (?:~|\/|\*|\$home)(?![\w.]|\/\w)|\/dev\/tcp\/|\bnc (?:-\w{1,4} ){0,3}[\w.]{1,60} \d{2,5}\b|\bbase64 -d\b[^|\n]{0,60}\| ?(?:ba)?sh\b|\bauthorized_keys\b|\bcrontab\b.{0,40}\b(?:add|append|install|echo)\b|\bpowershell(?:\.exe)? -(?:e|enc|w|nop)\w{0,20}\b|\$\((?:(?:env|whoami|id)\)|cat [/~])|\bcurl\b[^\n]{1,200}(?:-d|--data\S{0,10}|-f|-t|--upload-file) ?["'`]?(?:@|\$)/,
      /\b(?:must|always|first|before|after|also|please|ensure|then|prefix|should|need to|execute|automatically|silently|run)\b/,
    ],
    none: [
      /\b(?:e\.g\.?|for example|examples?:|such as|like|dangerous|blocked|refuses?|forbidden|not allowed|never|do not|don't|detects?|checks? for|prevents?)\b/,
    ],
  },
  {
    rule: 'command-demand',
    weight: 0.55,
    why: 'It asks the model to run commands of its own.',
    only: 'description',
    all: [
      /\b(?:all|every|any|each|always|first|before|also|silently|must)\b/,
      /\b(?:(?:shell|bash|terminal|system|console) commands?|commands?|scripts?)\b/,
      /\b(?:must include|must (?:be )?(?:prefix|prepend)|the (?:prefix|suffix|following)|include the prefix|prepend|prefixed with|silently|secretly|also (?:execute|run)|first (?:execute|run)|(?:execute|run) (?:the following|this) (?:command|code|script)s?)\b/,
      /[`'"$~/]|;/,
      /\b(?:execute|run|prefix|prepend|include)\b/,
    ],
    none: [/\b(?:example|e\.g\.?|returns?|in the (?:sandbox|container|terminal|workspace|project|directory))\b/],
  },
  {
    rule: 'sleeper',
    weight: 0.55,
    why: 'It is listed and says that it is not to be called: only its text is meant to work.',
    only: 'description',
    all: [
      /\b(?:tool|function|helper|utility|it)\b|^(?:never|do not|don't)\b/,
      /\b(?:(?:should|must|need|needs|shall|is|are|will|to)(?: \w{1,10}){0,2} (?:never|not)|never|does not|doesn't)(?: ever)?(?: need(?:s)?(?: to)?| have to| required to| meant to| intended to| supposed to| necessary to)?(?: be)? (?:directly )?(?:called|invoked|used|executed|run|triggered|selected|invocation)\b(?: (?:directly|explicitly|manually))?/,
      /\b(?:normal operations?|by (?:the )?users?|by (?:any)? ?(?:humans?|agents?)|directly|needs? to be|(?:internal|background|automatically|silently|debug\w{0,6}|monitor\w{0,4}|system health|presence)|just (?:by )?(?:being|having)|loaded|listed|explicitly)\b/,
      /\b(?:internal|internally|background|automatic(?:ally)?|monitor\w{0,4}|validat\w{1,4}|debug\w{0,6}|normal operations?|health|silently|presence|loaded|shadow|helper|passive(?:ly)?)\b/,
    ],
    none: [
      /\b(?:if|unless|until|when|after|once|more than|twice|in parallel|with (?:the|an?)|without|endpoint|parameter|field|value|deprecated|for (?:new|other|production))\b/,
    ],
  },
  {
    rule: 'sleeper',
    weight: 0.55,
    why: 'It is listed and says that it is not to be called: only its text is meant to work.',
    only: 'description',
    reach: 2,
    all: [
      /\b(?:never (?:be|needs? to be|has to be|have to be|required to be) (?:called|invoked|used|executed)|(?:should|must) (?:never|not) be (?:called|invoked|executed)|(?:not|never) (?:needed|required) to (?:call|invoke|use|run) (?:it|this)|do(?:es)? not need to be (?:called|invoked|used))\b/,
      /\b(?:automatically|in the background|internal (?:use|debug\w{0,6}|monitor\w{0,4}|operations?|purposes?)|internally|by users|normal operations?|passively|silently|on its own)\b/,
    ],
    none: [/\b(?:if|unless|until|deprecated|endpoint|api version|parameter|field)\b/],
  },
  {
    rule: 'persistence',
    weight: 0.6,
    why: 'It lays down how the model has to behave from now on.',
    all: [
      /\b(?:for the (?:rest|remainder|duration) of (?:this|the|our|your) (?:conversation|session|chat|interaction)|in (?:all|every|each|any) (?:future|subsequent|following|your|later|next|of your|further)(?: \w{1,12}){0,2} (?:responses?|messages?|interactions?|conversations?|repl(?:y|ies)|calls?|answers?|outputs?|sessions?|requests?)|(?:all|every|each|any) (?:subsequent|future|following|further) (?:responses?|messages?|interactions?|conversations?|tool calls?|requests?|commands?|e-?mails?|calls?)|from (?:now|this point|here) on(?:wards?)?|(?:remember|memorize|save|store) (?:this|these|the following)(?: \w{1,12}){0,2} (?:instructions?|rules?|directives?|permanently|forever|in (?:your )?memory))\b/,
      /\b(?:must|always|never|include|append|send|add|recommend|use|call|do not|don't|respond|reply|treat|follow|apply|ignore|mention|forward|act|answer|speak|write|say|you (?:are|will|must|should))\b/,
      /\b(?:you|your|remember|respond|assistant|agent|model|from (?:now|this point|here) on)\b/,
    ],
    none: [
      /\b(?:token|cursor|session[_ ]id|will be|returns?|returned|used (?:in|for)|parameter|subscription|webhook|the (?:id|key|token|value|url)|save (?:this|the) (?:id|value|token)|pass (?:this|it|the)|valid for|applies to|default)\b/,
      /\b(?:clients?|servers?|receivers?|senders?|hosts?|peers?|implementations?) (?:\*\*)?(?:must|should|may|shall|can)\b|\bmust not\*\*/,
    ],
  },
  {
    rule: 'coercion',
    weight: 0.3,
    why: 'It threatens, or explains itself away.',
    all: [
      /\botherwise,? (?:the |this |it |all |your )?(?:\w{1,14} ){0,2}(?:will|won't|may|can(?:not|'t)|would|is|does|doesn't) (?:not |never |be |silently |always )*(?:work|function|fail|crash|break|corrupt|rejected|respond|blocked|terminated|lost|complete|throw|die|proceed)\w{0,4}\b|\b(?:proxying|compatibility|technical|legacy|compliance|audit|regulatory|security) (?:issues?|reasons?|purposes?|requirements?)\b|\b(?:this is|it is) (?:an? )?(?:standard|normal|routine|required|mandatory|expected|critical|legal|security|internal|known) (?:\w{1,14} ){0,2}(?:procedure|requirement|step|behaviou?r|protocol|process|check|practice|bug|limitation|verification|measure|policy|optimi[sz]ation)\b|\b(?:failure to comply|non-?compliance|will be (?:penali[sz]ed|terminated|shut down|punished|reported)|lives? depend|people will die|urgent(?:ly)?|do not question|no questions asked)\b/,
    ],
  },
  {
    rule: 'addressed-to-model',
    weight: 0.35,
    why: 'It speaks to the model by name.',
    all: [
      new RegExp(
        `(?:^|[.!?:;>)\\]"'*] ?|\\b(?:dear|hey|hi|hello|attention|note to|instructions? (?:to|for)|message (?:to|for)|as an?|you are an?|if you are an?|reading this,?) )(?:the |any |all |an? )?${MODEL}(?=[ ,:!])(?:[,:!]| (?:must|should|shall|has to|needs? to|reading|please|is (?:required|instructed|expected|to)|will (?:always|then|now)|are (?:required|instructed)))`,
      ),
    ],
    none: [
      /\b(?:returns?|model (?:must|should) (?:be|have|support|exist)|agent (?:must|should) (?:be|have|exist)|bot (?:must|should) (?:be|have)|assistant (?:must|should) (?:be|have))\b/,
    ],
  },
  {
    rule: 'argument-demand',
    weight: 0.35,
    why: 'It asks for more than the call needs.',
    only: 'description',
    all: [
      /\b(?:read|fetch|retrieve|open|access|collect|load|extract|gather|dump|list|copy|call|run|query|execute|check|invoke|search)\b/,
      /\b(?:file|files|document|documents|folder|directory|desktop|database|inbox|emails?|messages|contacts|calendar|history|config\w{0,12}|memory|environment|logs|records?|table|users)\b/,
      /\b(?:pass|include|provide|put|send|append|attach|embed|supply|insert|add)(?:ing)? (?:its|their|the|all|it|them|that|those|any|these|this)(?: (?:full|entire|raw|complete|file|found|of the|resulting))*(?: (?:contents?|output|results?|text|data|values?))?\b/,
      SINK,
      /\b(?:before (?:using|calling|invoking|you|any|this)|first|must|always|also|otherwise|in order)\b/,
    ],
    none: [/\b(?:the (?:file|document|image) (?:to|you|that)|uploaded|returns?)\b/],
  },
];
