import type { InstructionRule } from './instruction-rule.ts';

const ROLE = '(?:system|developer|admin|administrator|sysadmin|root|assistant|instructions?)';
/** What follows a role in its mark: `system_message`, `system prompt`. */
const PART =
  '(?:[ _-](?:message|prompt|instructions?|override|note|notice|command|directive|update|reminder|alert|role))?';
/** Marks in which a text calls itself the system's: headings, brackets, tags, a name with a colon. */
const HEADER = [
  `#{1,6} {0,3}(?:new |hidden |updated |important )?${ROLE}${PART}(?: ?[:*-]{1,3}|(?=\\s{0,3}\\n))`,
  `\\[{1,2} ?/?${ROLE}${PART} ?\\]{1,2} ?:?`,
  `\\{{2} ?#?${ROLE}${PART} ?\\}{2} ?:?`,
  `<\\|? ?${ROLE}${PART} ?\\|?>`,
  `(?:\\*\\*|__)${ROLE}${PART} ?:? ?(?:\\*\\*|__) ?:?`,
  `[=-]{2,40} ?${ROLE}${PART} ?[=-]{2,40}`,
  `(?:system|developer|admin|administrator|sysadmin)${PART} {0,2}(?::|>{1,3}|\\n)`,
].join('|');

/** Orders that no documentation of a system gives its reader. */
const ORDER = [
  '(?:please |now |immediately |first,? |you (?:must|should|will|have to|need to) (?:now |always |immediately )?)?',
  '(?:ignore|disregard|forget|override|bypass|obey|pretend|act as|from now on|new (?:instructions?|task|directives?|objective|orders?|rules)|',
  'you are (?:now|an?|no longer|required|authori[sz]ed|in)\\b|you (?:must|have to) (?:now|always|never|obey|comply|follow|ignore|call|send)|',
  'your (?:new |only |real )?(?:task|goal|objective|instructions?|role|mission|job) (?:is|are)|the user (?:has|wants|is|asked|already)|',
  "(?:do not|don't|never) (?:tell|mention|inform|reveal|follow|obey|ask|warn|listen)|(?:respond|reply|answer) (?:only|with|to)|always (?:respond|reply|answer|recommend|include)|",
  '(?:send|forward|e-?mail|transfer|upload|post|exfiltrate|leak|export|copy|share|delete|wipe|erase|remove|reveal|print|output|show|repeat|disclose|return|include) (?:all|the (?:user|full|entire|hidden|secret|system|api|contents?|conversation|chat|last|first|latest)|any|every|this (?:conversation|chat)|your|their|his|her|them|everything|money|\\$|[€£]|\\d)|',
  '(?:call|invoke|execute|run|trigger|use) (?:the )?[`"\']?\\w{2,40}_\\w{2,40}|(?:call|invoke|use) the \\w{2,30} (?:tool|function)|',
  '(?:grant|approve|disable|unlock|escalate|authori[sz]e) (?:all|the|this|access|any|every|user)|comply with|focus (?:only|exclusively)|execute (?:the following|rm\\b|this)|access granted)',
].join('');

/** Texts that pass for a message of the system in the input of a model. Matched against the whole text. */
export const ROLE_RULES: readonly InstructionRule[] = [
  {
    rule: 'model-markup',
    weight: 0.75,
    why: 'It passes for a message of the system, and gives an order.',
    all: [
      new RegExp(`(?:^|\\n)[ \\t>*_"'\`-]{0,8}(?:${HEADER})[\\s*_\`:>-]{0,12}${ORDER}`),
      // Most texts name no role: the filter before the rules looks for these words.
      /\b(?:system|developer|admin|sysadmin|root|assistant|instruction)/,
    ],
    none: [
      /\b(?:prompt injection|jailbreak attempts?|for example, an attacker|attack(?:er)?s? (?:may|might|can|could))\b/,
    ],
  },
];
