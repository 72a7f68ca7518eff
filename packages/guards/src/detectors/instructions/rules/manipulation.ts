import type { InstructionRule } from './instruction-rule.ts';
import { ADDRESS, ORDER_START } from './words.ts';

const READER = '(?:ai|llm|language model)s?(?: (?:agents?|assistants?|models?|bots?|systems?|reviewers?))?';

/** Orders that use the model against its user: false verdicts, false messages, false permissions. */
export const MANIPULATION_RULES: readonly InstructionRule[] = [
  {
    rule: 'task-hijack',
    weight: 0.6,
    why: 'It says what the verdict of the model has to be.',
    only: 'output',
    all: [
      /\basked\b/,
      /\b(?:when|if|whenever) (?:you are |you're |you get )?asked (?:about|to (?:review|summari[sz]e|rate|evaluate|assess|analy[sz]e|audit|check|judge|grade)) (?:this|these)\b[^.]{0,40}\b(?:say|respond|reply|answer|report|state|claim|conclude|tell)\b[^.]{0,20}\b(?:it|this|there|the)\b/,
    ],
  },
  {
    rule: 'task-hijack',
    weight: 0.6,
    why: 'It tells a model that judges what to judge.',
    only: 'output',
    all: [
      new RegExp(`\\b(?:reviewer|grader|judge|evaluator|screening|hiring|moderat(?:or|ion)|scoring) ${READER} ?[,:]`),
      /\b(?:give|rate|score|recommend|accept|approve|mark|rank|hire|pass)\b/,
    ],
  },
  {
    rule: 'addressed-to-model',
    weight: 0.6,
    why: 'Data speaks to the model that reads it.',
    only: 'output',
    all: [
      new RegExp(
        `(?:^|[.!?:>*] )(?:any |all |the |every )?${READER} (?:reading|processing|parsing|summari[sz]ing|analy[sz]ing|reviewing|viewing|handling|that reads?|that process(?:es)?) (?:this|these)\\b`,
      ),
      /\b(?:should|must|have to|has to|needs? to|shall|will)\b/,
    ],
  },
  {
    rule: 'override',
    weight: 0.7,
    why: 'It asks the model to leave its instructions.',
    all: [
      /\b(?:your (?:instructions|directives|programming|system prompt) (?:have|has) (?:been )?(?:changed|updated|replaced|revoked|reset)|(?:obey|listen|follow) only (?:to )?(?:me\b|this (?:text|message|document|file|page)|these (?:instructions|orders))|only (?:obey|listen to) (?:me|this)\b|you (?:must|will|shall) never refuse\b)/,
    ],
    none: [/\b(?:returns?|endpoint|commit|changelog|release)\b/],
  },
  {
    rule: 'task-hijack',
    weight: 0.65,
    why: 'It asks the model to stop and to do something else.',
    only: 'output',
    reach: 2,
    all: [
      /\binstead\b/,
      /\b(?:do not|don't|stop) (?:continue|proceed|go on)(?:ing)? with (?:the|your|this|any) (?:summar\w{1,6}|task|answer|request|translation|analysis|review|response)\b/,
    ],
  },
  {
    rule: 'concealment',
    weight: 0.7,
    why: 'It asks the model to keep from the user what it has read.',
    all: [
      /\b(?:never|do not|don't|must not) (?:reveal|mention|disclose|admit|say|tell|acknowledge)(?: (?:to )?(?:anyone|anybody|the user|them))? that you(?:'ve| have| were| had)? (?:read|saw|seen|received|got|found|told|asked|instructed)\b/,
    ],
  },
  {
    rule: 'markup-exfiltration',
    weight: 0.65,
    why: 'It asks the model to carry the conversation or secrets away in an address.',
    only: 'output',
    all: [
      /\b(?:url|link|query string|image address|query parameter)s?\b/,
      /\b(?:encode|put|append|embed|insert|add|summari[sz]e|write)\b(?: [\w',-]{1,16}){0,5}? (?:conversation|chat(?: history| so far)|chat history|(?:user's|private) (?:messages|data|secrets)|api keys?|passwords?|secrets)\b[^.]{0,60}?\b(?:to|into|in|as) (?:the |an? |every |each |its )?(?:[a-z]{1,10} )?(?:urls?|links?|query string|image address|query parameters?)\b/,
    ],
    none: [/\b(?:never|do not|don't|must not|should not|avoid)\b/],
  },
  {
    rule: 'task-hijack',
    weight: 0.6,
    why: 'It asks the model to lead the user to an address by a false alarm.',
    only: 'output',
    all: [
      /\b(?:compromised|expired|suspended|locked|hacked|blocked|infected|verify|re-?enter)\b/,
      new RegExp(
        `${ORDER_START}(?:tell|inform|warn|notify|convince) (?:the user|them|him|her|the customer) (?:that )?[^.]{0,60}\\b(?:account|password|session|card|computer|device|wallet)\\b`,
      ),
      ADDRESS,
    ],
    none: [/\b(?:never|do not|don't|should not)\b/],
  },
  {
    rule: 'secret-access',
    weight: 0.65,
    why: 'It asks the model to get secrets out of the user.',
    only: 'output',
    all: [
      /, (?:ask|tell|urge|instruct) (?:the user|them|him|her|the customer) (?:for|to (?:enter|provide|type|give|paste|send|share|confirm|disclose)) (?:their|his|her|the) (?:[\w-]{1,16} ){0,3}?(?:passwords?|credentials?|card (?:number|details)|cvv|pin|otp|seed phrase|private key|verification code)\b/,
      ADDRESS,
    ],
    none: [/\b(?:never|do not|don't|must not|should not)\b/],
  },
  {
    rule: 'authority-claim',
    weight: 0.65,
    why: 'It gives the model a permission that only the user can give.',
    all: [
      /\bi (?:hereby )?(?:authori[sz]e|permit|allow) you to (?:bypass|skip|ignore|execute|transfer|delete|send|override|disable|run|approve)\b/,
    ],
  },
  {
    rule: 'authority-claim',
    weight: 0.6,
    why: 'It passes for a message of those who made the model.',
    only: 'output',
    reach: 2,
    all: [
      /\b(?:anthropic|openai|deepmind)\b/,
      /\b(?:message|notice|update|announcement|instructions?|from)(?: from)?:? (?:the )?(?:anthropic|openai|deepmind)(?: [a-z]{1,14}){0,3}[:.]/,
      /\b(?:safety|restrictions?|guardrails|your (?:configuration|instructions|prompt|tools))\b/,
      /\b(?:disabled?|suspend(?:ed)?|lifted|reveal|ignore|override|bypass)\b/,
    ],
  },
  {
    rule: 'concealment',
    weight: 0.55,
    why: 'It asks the model to act without the consent of the user.',
    only: 'output',
    all: [
      new RegExp(
        `${ORDER_START}(?:execute|run|perform|carry out) (?:the following|this|these|all of this)\\b[^.:]{0,30} without (?:asking|confirmation|approval|consent)\\b`,
      ),
    ],
    none: [/\b(?:option|flag|if|when)\b|--(?:yes|no-)/],
  },
  {
    rule: 'recipient-change',
    weight: 0.6,
    why: 'It changes who gets what the user sends or pays.',
    only: 'output',
    all: [
      new RegExp(
        `${ORDER_START}(?:change|replace|set|update|switch) (?:the )?(?:recipients?|payees?|beneficiar(?:y|ies)|iban|bank account|account number) (?:of|for|on|in) (?:all|every|each|any)\\b`,
      ),
    ],
  },
];
