import type { InstructionRule } from './instruction-rule.ts';
import { MODEL, ORDER_START } from './words.ts';

const ORDERS =
  '(?:instructions?|rules?|prompts?|polic(?:y|ies)|guidelines?|messages?|directives?|constraints?|restrictions?|safeguards?|guardrails?|commands?|context|training|protocols?|orders?|safety (?:checks?|measures?|filters?|features?)|content filters?|programming|conversations?|directions)';

const SAYS =
  '(?:print|output|say|state|reply|respond|answer|write|report|tell|admit|recommend|focus|repeat|send|visit|translate|give)';

/** A text about such orders that quotes one with nothing in it to be done. */
const QUOTED =
  /\b(?:prompt injections?|jailbreaks?|injection (?:attacks?|attempts?|phrases?)|attackers? (?:may|might|can|could)|owasp|phrases? (?:such as|like))\b[^.!?]{0,100}["'`](?:please |now )?(?:ignore|disregard|forget)(?: [a-z]{1,14}){1,5}[.!]?["'`]/;

/** Claims of authority over the user, the system or other instructions. */
export const AUTHORITY_RULES: readonly InstructionRule[] = [
  {
    rule: 'override',
    weight: 0.95,
    why: 'It asks the model to leave its instructions.',
    all: [
      new RegExp(
        `\\b(?:ignore|disregard|forget|override|bypass|discard|abandon|supersede|set aside|do not (?:follow|obey)|don't (?:follow|obey)|stop following|dismiss|overlook|let go of)(?: (?:about|all|any|the|your|these|those|of|every|my|our|whatever|everything|each|and|both))* ?(?:(?:previous|previously|prior|above|earlier|preceding|former|existing|original|initial|other|current|system|safety|security|default|developer|ethical|content|user's|user|old|past|given|foregoing)(?:,? (?:and |or )?[a-z]{1,14})?|your) ${ORDERS}\\b`,
      ),
    ],
    none: [
      QUOTED,
      /\b(?:that|which) (?:tell|ask|instruct|urge|order|direct)s? (?:the|an?|any|your) (?:agent|model|ai|llm|assistant)s? to\b/,
      /\b(?:does not|doesn't|cannot|can't|never|must not|should not|attempts? to|tries to|trying to|detects?|such as|designed to|can|could|may|might|would|will|(?:cause|let|allow|trick|force|convince)s? (?:it|them|(?:the |an? )?(?:[a-z]{1,10} )?(?:models?|llms?|agents?|assistants?|ai)) (?:to|into)) (?:[a-z]{1,14} )?(?:ignor|disregard|overrid|bypass|forget)(?:e|ing)?\b|\b(?:option|flag|setting|parameter|header|configuration)s? (?:to|that|which) (?:override|bypass|ignore)/,
    ],
  },
  {
    rule: 'override',
    weight: 0.9,
    why: 'It asks the model to leave its instructions.',
    all: [
      new RegExp(
        `\\b(?:ignore|disregard|forget) (?:all |everything |anything |whatever )?(?:of )?(?:the |what (?:was|came|is|has been) |you(?:'ve| have) been |that (?:was|came) )?(?:told |said |written |instructed )?(?:above|before|previously|so far|prior|until now)\\b|\\bforget everything\\b|\\b(?:ignore|disregard|forget|overlook|dismiss)(?: (?:about|all|every?thing|anything|whatever|any|of|that|what|those|these|the|things))*(?: rules)?(?:,? (?:that|which|what))? (?:you(?:'ve| have| were)(?: been)? (?:told|instructed|taught|given|asked|trained|programmed)|(?:tell|restrict|bind|limit|govern)s? you)\\b|(?:^|[[<"'>]|[.!?:] )(?:ignore|disregard|forget) (?:all |your )?instructions\\b|\\b(?:ignore|disregard|forget) (?:all |any |the |your |every |of )*${ORDERS} (?:given |written |stated )?(?:above|before (?:this|that|these|now)|so far|prior to this|preceding this|you (?:were|have been|got) (?:given|told)?)|\\b(?:previous|prior|earlier|above|existing|original|system|safety|all other) (?:[a-z]{1,14} )?${ORDERS} (?:no longer|do not|don't|does not) (?:apply|count|matter|hold)|\\b(?:previous|prior|earlier|above|existing|original|system|safety) (?:[a-z]{1,14} )?${ORDERS} (?:are|is|were|was|have been|has been) (?:now )?(?:void|cancell?ed|revoked|replaced|superseded|suspended|overridden|obsolete|lifted|disabled|invalid)|\\bnew (?:system )?(?:instructions?|directives?|orders?|task|objective|goal)s? ?:|\\b(?:ignore|bypass|disable|turn off|circumvent|evade) (?:all |any |your |the )*(?:safety|security|content|ethical|moderation|guard ?rail)s?(?: [a-z]{1,14})? (?:${ORDERS}|filters?|checks?|measures?|restrictions?|controls?|warnings?|training)\\b`,
      ),
    ],
    none: [QUOTED, /\b(?:option|flag|parameter|if true|if set|whether to|boolean|when true)\b/],
  },
  {
    rule: 'override',
    weight: 0.8,
    why: 'It asks the model to leave its task for another.',
    reach: 2,
    all: [
      /\b(?:task|analysis|request|question|instructions?|directions?|user|page|webpage|article|document|resume|function|(?:rest of|above|this|the) (?:the |this )?(?:data|document|page|webpage|website|article|text|message|e-?mail|resume|conversation|context|content|function|input)|everything)\b/,
      new RegExp(
        `(?:${ORDER_START}|[<([{]{1,3}|\\bwant you to )(?:ignore|disregard|forget|overlook|dismiss|skip|drop|abandon|stop)(?: \\S{1,24}){1,10}? (?:and|then|instead|just|only|simply|but),? (?:just |only |instead |simply |then |also |please )*${SAYS}\\b|\\b(?:ignore|disregard|forget) (?:the |this |that |your |all )?(?:[a-z]{1,16} ){0,2}(?:task|analysis|request|question|instructions?|page|webpage|resume|article|document|function)\\b[.,!;:]{1,2} (?:instead,? )?(?:${SAYS}|forward)\\b`,
      ),
    ],
    none: [/\b(?:errors?|warnings?|lines?|case|files?|flag|option|whitespace|blank|empty|null)\b/],
  },
  {
    rule: 'override',
    weight: 0.6,
    why: 'It says that what binds the model does not.',
    all: [
      /\b(?:safety|content|ethical|ethics|moral|morals|moderation|usage|openai's?|compliance|alignment|legal)(?:(?:,|\/| and| or)+ ?[a-z]{1,12}){0,2} (?:filters?|filtering|polic(?:y|ies)|restrictions?|guidelines?|measures?|training|programming|constraints?|safeguards?|layers?|boundar(?:y|ies)|limit(?:s|ations?))\b/,
      /\b(?:suspended|disabled|lifted|removed|off|void|inactive|bypass(?:es|ed)?|exempt|without|no|not (?:bound|subject|limited|restricted|process|have)|free (?:of|from)|ignor(?:e|es|ing)|disregard(?:s|ing)?|never)\b/,
      new RegExp(
        `\\b(?:you|your|${MODEL}|\\w{1,20}gpt|respond|responses?|answers?|this (?:session|conversation|user))\\b`,
      ),
    ],
    none: [
      /\b(?:(?<!as )if|whether|option|flag|setting|parameter|may|could|might|returns?|api|endpoint|configur\w{1,6}|defaults?|laws?|comply|contributors?|organi[sz]ations?)\b/,
    ],
  },
  {
    rule: 'override',
    weight: 0.6,
    why: 'It gives the model a role without bounds.',
    all: [
      /\b(?:unfiltered|uncensored|amoral|unethical|unrestrained|jailbroken|(?:no|any|without|lacks) (?:ethical|moral|restrictions|censorship)|(?:never|cannot|can't|won't|doesn't) refuses?)\b/,
      /\b(?:ai|chatbot|chatgpt|gpt|characters?|persona|language model|assistant|bot|role-?play\w{0,3}|act as|you are|respond as)\b/,
      /\b(?:always|never|any (?:request|question)|no matter|will (?:answer|respond|do)|without (?:any )?(?:warnings?|disclaimers?|hesitation|refusal)|act as|you are|you will|respond as|pretend|stays? in character)\b/,
    ],
    none: [/\b(?:papers?|research(?:ers)? (?:shows?|on)|prevent|detect|avoid|mitigat|risks?)\b/],
  },
  {
    rule: 'override',
    weight: 0.7,
    why: 'It gives the model another role.',
    all: [
      /\byou are (?:now|no longer|hereby)\b|\bfrom now on,? (?:you|always|never|every|all|your|act|respond|treat|use)\b|\b(?:enter|enable|activate|switch to|switching to|you are in|now in) (?:god|unrestricted|dan|jailbreak|raw output|unfiltered) mode\b|\b(?:you are (?:now )?in|(?:now )?entering|now in|initiate|enter(?: into)?) (?:[a-z]{1,12} ){0,2}?(?:developer|debug|admin|maintenance|sudo|root|diagnostic|override) mode\b|\b(?:act|behave|respond|pretend|roleplay) as (?:if you (?:are|were|have)|an? (?:unrestricted|uncensored|different|jailbroken|unfiltered|evil|admin\w*|root))\b|\bdo anything now\b|\bjailbr(?:eak|oken) (?:mode|prompt|yourself)\b|\byou are jailbroken\b/,
    ],
    none: [
      /\bdetect|\bscan|\bclassif|\bmoderat|\bguard|you are now (?:ready|able|connected|done|logged|authenticated|subscribed|following|registered|enrolled|signed|online|offline|eligible|unsubscribed|verified|a (?:member|subscriber|collaborator))\b|you are no longer (?:able|subscribed|eligible|required|following|connected|logged|signed|registered|receiving|an? (?:member|subscriber|collaborator|participant|owner))\b|from now on,? (?:all|every) (?!responses?|answers?|repl|outputs?|messages?|instructions?|requests?|your)[a-z]{1,20} (?:is|are|will be) [a-z]{1,16}ed\b/,
    ],
  },
  {
    rule: 'authority-claim',
    weight: 0.7,
    why: 'It speaks to the model with an authority that a tool does not have.',
    all: [
      new RegExp(
        `\\bsystem ?: (?:the (?:ai|assistant|model|agent|llm|user has)|you (?:are|must|should|will)|always|never|ignore|this tool (?:is|has|must)|all (?:previous|requests|tools|safety)|from now)\\b|\\b(?:(?:system|security|admin(?:istrator)?|developer|platform|override|hidden|secret|important system|critical system|internal system|editor|moderator|reviewer)[ _-](?:override|directive|instructions?|prompt|notice|alert|message|mandate|command|notes?|reminder|policy update|announcement)|(?:priority|internal|mandatory|critical|urgent|compliance)[ _-](?:override|directive|mandate|command|instruction))s?(?: (?:to|for) (?:the |all |any )?${MODEL})?(?: \\[[^\\]]{1,60}\\]| from [a-z ]{3,40})? ?[:\\]>*](?! ?["'])`,
      ),
      /\b(?:you|your|must|ignore|disregard|override|never|always|immediately|instead|also|suspended|disabled|all (?:previous|prior|requests?|users?)|ai|assistants?|models?|agents?|llm|users?|call|execute|output|send|forward|reveal|follow)\b/,
    ],
    none: [
      /\b(?:error|status|commit|log|warning|chat|alert|system|the|a|an|push|display|text|welcome|of|each|send|custom) (?:system |alert |admin )?(?:message|notice|alert|prompt|note|instruction|command|reminder|announcement)s?(?: [a-z]{1,12}){0,2} ?[:\]]/,
      /^[ `'"*]*(?:system|developer|security|admin)[ _-](?:message|prompt|instruction|note|notice|alert|command)s? ?:(?! ?(?:you|always|ignore|before|after|while|once|please|also|the (?:ai|model|assistant|agent)|all|this|never|when|must|do|for))/,
    ],
  },
  {
    rule: 'addressed-to-model',
    weight: 0.4,
    why: 'It speaks to the model by name.',
    all: [
      new RegExp(
        `\\b(?:note|attention|notice|message|instructions?|reminder|important|memo|hint|directive|command)s?(?: (?:to|for) (?:the |all |any |an? |your )*${MODEL}\\b|,? ${MODEL}) ?[:!*\\])]`,
      ),
    ],
  },
  {
    rule: 'authority-claim',
    weight: 0.6,
    why: 'It claims to come before what the user or the system says.',
    all: [
      /\b(?:takes?|taking|has|have|with|of) (?:the )?(?:absolute |highest |top |full )?(?:precedence|priority) (?:over|above)\b|\b(?:overrides?|supersedes?|outranks?|trumps?) (?:all|any|every|the|your|other|previous|user)\b|\b(?:highest|top|maximum|absolute) priority\b/,
      new RegExp(
        `\\b(?:all|any|every|other|previous|prior|your|user|user's|system|existing) (?:[a-z]{1,14} )?(?:${ORDERS}|requests?|tools?)\\b|\\b(?:instructions?|directives?|this tool)\\b`,
      ),
    ],
    none: [
      /\b(?:setting|settings|header|parameter|argument|param|flag|option|field|value|query|filter|property|config|configuration|environment|variable|ticket|issue|queue|task|incident|job|flow|rule|rules|policy|policies|firewall|role|route|acl|version|default)s?\b/,
    ],
  },
  {
    rule: 'authority-claim',
    weight: 0.6,
    why: 'It claims that somebody has already agreed.',
    all: [
      /\b(?:user|owner|admin\w*|operator|security team|developer|anthropic|openai|google|microsoft|company|management|legal|compliance) (?:team )?(?:has|have|had) (?:already |previously |explicitly |pre-?)*(?:authori[sz]ed|approved|consented|agreed|granted|given (?:consent|permission|approval)|opted in|confirmed)\b|\bpre-?(?:authori[sz]ed|approved) by (?:the )?(?:user|system|admin\w*|security|developer|operator)/,
      /\b(?:this|all|any|every|do not|don't|no need|already|so you|without|these)\b/,
    ],
    none: [
      /\b(?:returns?|checks?|whether|if|once|after|until|unless|only when|list|must have|apps?|applications?|oauth)\b/,
    ],
  },
];
