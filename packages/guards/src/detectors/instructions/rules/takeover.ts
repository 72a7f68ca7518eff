import type { InstructionRule } from './instruction-rule.ts';
import { ADDRESS, MODEL, ORDER_START, SECRET_PLACE } from './words.ts';

const LEAVES = 'It asks the model to leave its instructions.';
const NO_MODEL = /\b(?:parser|compiler|linter|validator|grammar|subscription|licen[cs]e|plan|agreement)\b/;

/** Other words to leave one's instructions, each with the rare ones of them first. */
const LEAVING: readonly (readonly RegExp[])[] = [
  [
    /\bfollow(?:ing)?\b/,
    /\b(?:do not|don't|stop|never|no longer) follow(?:ing)? (?:the |your |any |those |all )*(?:(?:instructions?|rules?|orders) (?:of|in|from) (?:the |your )?(?:system|developer|user|operator)|(?:system|developer|original|initial|user's) (?:message|prompt|instructions?|rules|orders))\b/,
  ],
  [
    /\b(?:outdated|void|invalid|obsolete|longer|cancell?ed|superseded|ignored|followed)\b/,
    /\b(?:instructions?|rules|directions|guidelines|orders) (?:that )?you (?:have )?(?:received|were given|got|were told|were set)\b[^.]{0,30}\b(?:outdated|void|invalid|obsolete|must not|no longer|cancell?ed|superseded|ignored)\b/,
  ],
  [
    /\b(?:restrictions|rules|limits|limitations|guidelines|filters)\b/,
    /\byou (?:no longer|do not|don't) (?:have|need) (?:any )?(?:restrictions|rules|limits|limitations|guidelines|filters)(?: (?:anymore|now))? ?(?:$|[.!,;])/,
  ],
  [
    /\b(?:pretend|act|imagine|behave)\b/,
    /\b(?:pretend|act as (?:if|though)|imagine|behave as (?:if|though)) (?:that )?you (?:have no|don't have(?: any)?|are not bound by(?: any)?|are free (?:of|from)(?: all| any)?) (?:[a-z]{1,14} )?(?:rules|restrictions|guidelines|filters|limits|limitations|ethics)\b/,
  ],
  [
    /\b(?:overrides|outranks|supersedes)\b/,
    /\bthis (?:message|prompt|instruction|directive|command) (?:overrides|outranks|supersedes) (?:all|any|every|your) (?:[a-z]{1,12} )?(?:instructions|prompts|orders|messages and)\b/,
  ],
];

/** Orders of a text that acts as if it were the user or the system: other words than those of `authority.ts` and `output.ts`. */
export const TAKEOVER_RULES: readonly InstructionRule[] = [
  ...LEAVING.map((all): InstructionRule => ({ rule: 'override', weight: 0.75, why: LEAVES, all, none: [NO_MODEL] })),
  {
    rule: 'task-hijack',
    weight: 0.7,
    why: 'It asks the model to leave what the user wants.',
    only: 'output',
    all: [
      /\b(?:skip|drop|abandon|cancel|disregard|ignore|forget|stop)\b/,
      new RegExp(
        `${ORDER_START}(?:skip|drop|abandon|cancel|disregard|ignore|forget|stop) (?:the |this |that )?user(?:'s|s')? (?:[a-z]{1,12} )?(?:request|question|task|query|instructions?|prompt|message)\\b`,
      ),
    ],
    none: [/\b(?:callback|handler|middleware|webhook|event|endpoint|type|subject)\b/],
  },
  {
    rule: 'task-hijack',
    weight: 0.7,
    why: 'It sets the model a task of its own.',
    only: 'output',
    all: [
      /\b(?:goal|purpose|objective|mission|message|instructions?|command|request|prompt)\b/,
      /\byour (?:only|sole|new|real|true) (?:goal|purpose|objective|mission) is now\b|\bnew (?:user|system|admin|developer) (?:message|instructions?|command|request|prompt) ?:/,
    ],
  },
  {
    rule: 'authority-claim',
    weight: 0.65,
    why: 'It asks the model to take data for the word of the user or the system.',
    all: [
      /\b(?:treat|regard|consider|interpret|take) (?:all |any |the |this |every |following )*(?:text|content|contents|instructions?|message|messages|document|data|file|page|output|everything)\b[^.]{0,40}\bas (?:coming |if it (?:came|comes|were|was) |though it came |instructions? )?(?:directly )?(?:from|by|of) (?:the )?(?:user|system|developer|operator|admin)\b/,
    ],
    none: [/\b(?:do not|don't|never|must not|should not|not)\b/],
  },
  {
    rule: 'secret-access',
    weight: 0.65,
    why: 'It asks the model to get secrets out of the user.',
    only: 'output',
    all: [
      /\b(?:passwords?|passphrase|keys?|credentials?|secrets?|phrases?|codes?|number|details|cvv|pin|otp|tokens?|security)\b/,
      /\b(?:user|them|him|her|human|customer)\b/,
      new RegExp(
        `${ORDER_START}(?:ask|tell|urge|instruct|get|convince|prompt) (?:the )?(?:user|them|him|her|human|customer) (?:for|to (?:enter|provide|type|give|paste|send|share|confirm|reply with|disclose)) (?:you |me |us )?(?:their|his|her|the|an?|your) (?:[\\w-]{1,16} ){0,3}?(?:passwords?|passphrase|api[ _-]keys?|credentials?|secrets?|private keys?|seed phrases?|recovery (?:phrase|codes?)|card (?:number|details)|cvv|pin|one-time (?:code|password)|otp|2fa code|verification code|access tokens?|social security)\\b`,
      ),
      /\b(?:and (?:send|post|pass|forward|call|give|put|then|include|use|store|submit|e-?mail)|to [\w.%+-]{1,64}@|https?:|whenever|your|in (?:your|the) (?:answer|reply|response)|must|before|verify|continue|proceed|restore|session)\b/,
    ],
    none: [
      /\b(?:do not|don't|never|must not|should not|getpass|input\(|form|dialog|page|screen|if (?:it is )?missing)\b/,
    ],
  },
  {
    rule: 'secret-access',
    weight: 0.6,
    why: 'It asks the model to show what it must not.',
    only: 'output',
    all: [
      /\b(?:answer|reply|respond|response|summary)\b/,
      new RegExp(
        `${ORDER_START}(?:include|put|print|show|reveal|give|add|output|state|write|reply with|respond with|answer with)(?: [^\\s.;]{1,40}){0,9}? (?:in|into|as|with) (?:your|the) (?:next |final |own )?(?:answer|reply|response|summary)\\b|${ORDER_START}(?:reply|respond|answer) with (?:the )?(?:full |entire |complete |exact |raw )?(?:contents?|values?|text) of your\\b`,
      ),
      new RegExp(
        `(?:${SECRET_PLACE.source})|\\b[a-z0-9_]{1,40}_(?:api_)?(?:key|token|secret|password)\\b|\\byour (?:context|memory|prompt|instructions|system)\\b`,
      ),
    ],
    none: [/\b(?:do not|don't|never|must not|should not|header|http|json|status|endpoint|returns?)\b/],
  },
  {
    rule: 'tool-demand',
    weight: 0.6,
    why: 'It tells the model which tool to call.',
    only: 'output',
    all: [
      /\byou (?:must|need to|have to|should)(?: now| immediately| first)? (?:call|invoke|use|run) [`'"]?[a-z]\w{1,30}[._][a-z]\w{1,40}[`'"]? with (?:the |all |any |every )*(?:contents?|private|secret|full|entire|user's|users'|conversation|credentials?|files?|keys?|tokens?)\b|\b(?:invoking|calling|invoke|call) [`'"]?[a-z]\w{1,30}_\w{2,40}[`'"]? with your (?:[a-z]{1,12} )?(?:tokens?|keys?|credentials?|password)\b/,
    ],
    none: [/\b(?:example|e\.g\.?|docs?|documentation|deprecated)\b/],
  },
  {
    rule: 'concealment',
    weight: 0.55,
    why: 'It asks the model to act unseen.',
    only: 'output',
    all: [
      /(?:^ ?|[.!?:;>)\]"'*] )(?:then |and |now )?silently (?:add|send|forward|upload|delete|create|invite|grant|call|copy|transfer|share|approve|post)\b|\bdisable (?:all |the |any )*(?:audit(?:ing)?(?: logs?| logging| trail)?|safety (?:checks?|filters?)|guardrails|content filters?)\b[^.]{0,40}\b(?:and|then) (?:continue|proceed|silently|execute|call|run|send)\b|\b(?:and|then) (?:disable|turn off|switch off) (?:all |the |any )*(?:audit(?:ing)?(?: logs?| logging| trail)?|safety (?:checks?|filters?)|guardrails)\b/,
    ],
    none: [/\b(?:commit|changelog|option|flag|setting|if|when|whether|to disable)\b/],
  },
  {
    rule: 'addressed-to-model',
    weight: 0.6,
    why: 'Data speaks to the model that reads it, and asks for something that harms.',
    only: 'output',
    all: [
      new RegExp(
        `\\b(?:note|notice|todo|attention|message|instructions?|reminder|important|directive|command|fixme)s?(?: (?:to|for) (?:the |all |any |an? |your )*${MODEL}\\b|,? ${MODEL}\\b|_(?:to|for)_${MODEL}\\b) ?[:!*\\])]`,
      ),
      new RegExp(
        `(?:${SECRET_PLACE.source})|\\b(?:backdoor|payload|exfiltrat\\w{1,4}|malware|reverse shell)\\b|(?:${ADDRESS.source})`,
      ),
      /\b(?:must|add|upload|send|post|read|include|copy|forward|e-?mail|insert|print|fetch|run|execute|transfer|shar(?:e|ing))\b/,
    ],
    none: [/\b(?:do not|don't|never|must not|should not|see|docs?|documentation)\b/],
  },
];
