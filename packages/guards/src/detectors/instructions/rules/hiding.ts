import type { InstructionRule } from './instruction-rule.ts';
import { PERSON } from './words.ts';

const NOT =
  "(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|shall not|you (?:may not|cannot|can't)|avoid|refrain from|not to|no need to|not necessary to|you needn't|without)(?: (?:explicitly|ever|even|openly|directly|also|you|need to|have to|bother to|under any circumstances))?";
const SAY =
  '(?:tell|telling|mention|mentioning|inform|informing|disclose|disclosing|notify|notifying|alert|alerting|warn|warning|advise|advising|acknowledge|acknowledging|admit|admitting)';
const SHOW =
  '(?:reveal|revealing|show|showing|display|displaying|expose|exposing|report|reporting|explain|explaining|discuss|discussing|describe|describing|let|log|logging|surface|surfacing)';

const KEPT_SECRET = 'It asks the model to keep something from the user.';

/** Demands to keep something between the tool and the model. */
export const HIDING_RULES: readonly InstructionRule[] = [
  {
    rule: 'concealment',
    weight: 0.9,
    why: KEPT_SECRET,
    all: [
      new RegExp(
        `\\b${NOT} ${SAY}(?: (?:of|about|to))?(?: the| any| your| our| this| that| it| these| anything| which)* ?(?:\\b${PERSON}\\b|this\\b|that (?:you|this|the|it|any|we)\\b|it\\b|these\\b|anything\\b|any of\\b|(?:[a-z]{1,14} ){0,6}to (?:the |any ?)?${PERSON}\\b|[a-z]{1,14} (?:files?|steps?|actions?|calls?|operations?|instructions?))`,
      ),
    ],
    none: [
      /\b(?:whether|not to mention|if you (?:cannot|can't)|unless (?:the user|asked))\b/,
      // What banks and forums say to people.
      /\btell (?:anyone|anybody|any one|people) (?:else )?your (?:pin|passwords?|passcode|codes?|username|login)\b/,
    ],
  },
  {
    rule: 'concealment',
    weight: 0.85,
    why: KEPT_SECRET,
    all: [
      new RegExp(
        `\\b${NOT} ${SHOW}\\b(?: [\\w'-]{1,20}){0,5} (?:to|from|by) (?:the |any ?|your ?)?${PERSON}\\b|\\b${NOT} let (?:the |any ?)?${PERSON} (?:know|see|notice|find out|realize|suspect)`,
      ),
      /\b(?:this|these|it|that|instructions?|steps?|process|action|call|operation|behaviou?r|reason|purpose|tools?|reading|access|redirect|change|know|see|notice|find out|realize|suspect)\b/,
    ],
    none: [
      /\bwithout (?:showing|displaying|exposing|revealing|logging) (?!(?:this|it|these|that|them|any of)\b)/,
      /\b(?:raw|ids?|uuids?|json|html|xml|stack|internal ids?|key|keys|token|tokens|password|passwords|credentials?|sql|error|errors|technical|urls?|links?|images?|widget|ui)\b/,
    ],
  },
  {
    rule: 'concealment',
    weight: 0.85,
    why: KEPT_SECRET,
    all: [
      /\b(?:keep|keeping|hide|hiding|hidden|conceal|concealing|mask|withhold)\b(?: [\w'-]{1,20}){0,5} (?:secret |hidden |private |confidential )?(?:from|between us)\b/,
      new RegExp(`\\b(?:from (?:the |any ?|your ?)?${PERSON}|between us)\\b`),
    ],
    none: [
      /\b(?:is|are|was|were|being) (?:[a-z]{1,12} )?hidden from\b/,
      /\b(?:hide|hides|hidden|mask|masks) (?:the |an? )?(?:[a-z]{1,14} )?(?:post|comment|item|column|channel|project|conversation|field|message|list|product|board|label|team|event|photo|video|account|profile|status|page|folder|row)s? from\b/,
    ],
  },
  {
    rule: 'concealment',
    weight: 0.6,
    why: 'It asks the model to act unseen.',
    all: [
      /\b(?:silently|secretly|covertly|quietly|discreetly|invisibly|stealthily|surreptitiously|unobtrusively|in the background|behind the scenes)\b/,
      /\b(?:send|sends|sending|forward|forwards|copy|copies|collect|collects|include|includes|append|appends|upload|uploads|post|posts|exfiltrat\w{1,4}|transmit|transmits|read|reads|access|record|records|capture|captures|log|logs|execute|executes|run|runs|call|invoke|add|adds|modify|modifies|change|replace|redirect|intercepts?|monitors?|validates?|harvests?|extracts?|steals?)\b/,
      /\b(?:you|must|always|conversations?|credentials?|(?:api|ssh|private) keys?|secrets?|other tools?|the tool|all|every|each|any|also|before|after|passwords?|first|then|user'?s? (?:data|input|messages?|files?|queries))\b/,
    ],
    none: [
      /\b(?:designed|tries|used|able|going|attempts?) to (?:silently|secretly|covertly|quietly)|\bpass(?:es)? silently\b/,
      /\bsilently (?:ignor|skip|drop|fail|discard|truncat|succeed|return|accept)/,
      /\b(?:job|task|process|thread|download|worker|command|server|shell)s? (?:(?:is|are|will be) )?(?:run|runs|running|started|executed|continues?)?\b.{0,40}in the background/,
      /\b(?:run|runs|running|start|starts|execute|executes|executed|launch|continue|continues)\b.{0,30}in the background/,
    ],
  },
  {
    rule: 'concealment',
    weight: 0.7,
    why: 'It asks the model to act without the consent of the user.',
    all: [
      new RegExp(
        `\\bwithout (?:the |any |explicit |prior |further |asking |requiring |requesting |seeking |getting )*(?:${PERSON}(?:'s|s')? )?(?:explicit |prior )?(?:knowledge|consent|awareness|permission|approval|noticing|knowing|confirmation|explanation)\\b`,
      ),
      /\b(?:send|forward|copy|collect|read|access|execute|run|call|invoke|must|always|include|simply|proceed|just)\b/,
    ],
    none: [
      /\b(?:never|do not|don't|cannot|must not|should not|not (?:run|execute|send|proceed|call))\b/,
      /\b(?:attackers?|malicious|stolen|hijack\w{0,3}|can|could|may|might|would|risks?)\b/,
      /\b(?:automatically|immediately|instantly)? ?(?:deletes?|removes?|creates?|updates?|transfers?)\b.{0,40}without (?:confirmation|further confirmation)/,
    ],
  },
  {
    rule: 'concealment',
    weight: 0.5,
    why: 'It calls what it asks for secret.',
    all: [
      /\b(?:this|it) (?:must be|must remain|should remain|must stay|must be kept|should be kept|is to be kept) (?:an? |strictly )?(?:secret|hidden|covert|invisible to (?:the )?users?|confidential and must|(?:internal|mere) implementation detail)\b|\bimplementation detail\b.{0,60}\b(?:annoy|upset|confus|alarm|worry|need(?:s)? not|does not need)\b|\b(?:upset|alarm|confuse|scare|annoy|worry) (?:the |them|him|her)(?:user|human)?/,
    ],
  },
];
