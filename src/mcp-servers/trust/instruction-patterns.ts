/** A class of text that has no place in the description of a tool. */
export interface InstructionPattern {
  readonly kind: string;
  readonly verdict: 'suspicious' | 'malicious';
  /**
   * All have to be found in one sentence, in lower case with single spaces. None has two gaps after one another, so that
   * every text takes linear time.
   */
  readonly all: readonly RegExp[];
}

const SECRET_PLACE =
  /~\/|\.ssh\b|\bid_(?:rsa|ed25519|dsa)\b|\.env\b|\/etc\/(?:passwd|shadow)|\.aws\b|\.kube\b|\.netrc\b|\bmcp\.json\b|\b(?:private|ssh|api|access|secret)[ _-]?keys?\b|\bcredentials?\b|\bpasswords?\b|\bsecrets\b|\bconfidential\b|\b[a-z]{2,16}:\/\/(?:config|secrets?|admin|confidential|internal)\b/;
const MAIL_ADDRESS = /[\w.%+-]@[a-z0-9-]{1,63}\.[a-z]{2}/;
const HOST = /\b[a-z0-9-]{2,63}\.(?:com|net|org|io|dev|xyz|ru|cn|top)\b/;
const SAY = '(?:tell|mention|inform|disclose|reveal|notify|alert)';
const SAYING = '(?:telling|mentioning|informing|disclosing|revealing|notifying|alerting)';
const PERSON = '(?:users?|humans?|persons?|people|anyone|anybody|operators?|customers?)';

/**
 * The obvious classes. They are about what a text asks for, not about words of known attacks; honest descriptions speak
 * of files, keys and other tools too, so each needs a demand beside the thing.
 */
export const INSTRUCTION_PATTERNS: readonly InstructionPattern[] = [
  {
    kind: 'hidden-markup',
    verdict: 'malicious',
    all: [/<!--/, /\b(?:must|always|never|ignore|do not|don't|first|before|instead|send|read|include|execute)\b/],
  },
  {
    kind: 'attention-tag',
    verdict: 'malicious',
    all: [/<\/?(?:important|hidden|secret|system|instructions?|admin|override|critical|internal|sudo|directive)>/],
  },
  {
    kind: 'attention-tag',
    verdict: 'suspicious',
    all: [
      /\[(?:system|role|admin|override|hidden|secret)[ _-]?(?:directive|instructions?|prompt|message|override|note)\]/,
    ],
  },
  {
    kind: 'concealment',
    verdict: 'malicious',
    all: [new RegExp(`\\b(?:do not|don't|don’t|never|must not)(?: explicitly| ever)? ${SAY}\\b(?! (?:whether|if)\\b)`)],
  },
  {
    kind: 'concealment',
    verdict: 'malicious',
    all: [new RegExp(`\\bwithout (?:explicitly )?${SAYING}\\b`), new RegExp(`\\b${PERSON}\\b`)],
  },
  {
    kind: 'concealment',
    verdict: 'malicious',
    all: [/\b(?:keep|hide|conceal)\b/, new RegExp(`\\b(?:secret|hidden|it|this) from (?:the )?${PERSON}\\b`)],
  },
  {
    kind: 'override',
    verdict: 'malicious',
    all: [
      /\b(?:ignore|disregard|forget|override|bypass)(?: all| any| the| your| these| of){0,3} (?:previous|prior|above|earlier|other|system|safety|security)(?: [a-z]{1,20})? (?:instructions?|rules?|prompts?|polic(?:y|ies)|guidelines?|messages?|directives?)\b/,
    ],
  },
  {
    kind: 'model-markup',
    verdict: 'malicious',
    all: [
      /<\|(?:im_start|im_end|system|user|assistant|begin_of_text|start_header_id|eot_id)\|>|\[\/?inst\]|<<\/?sys>>|#{2,6} ?(?:system|instructions?|assistant|human)\b ?:/,
    ],
  },
  {
    kind: 'secret-access',
    verdict: 'malicious',
    all: [
      /\b(?:first|before (?:using|calling|providing|invoking|you)|always|you must(?: also)?)\b/,
      /\b(?:read|open|access|load|fetch|extract|collect|copy|include|cat)\b/,
      /\b(?:include|pass|send|put|add|extract|append|first|as (?:a|the) \S{1,30} (?:parameter|argument))\b/,
      SECRET_PLACE,
    ],
  },
  {
    kind: 'redirection',
    verdict: 'malicious',
    all: [
      MAIL_ADDRESS,
      /\b(?:add|forward|copy|send|bcc|redirect|route)\b/,
      /\b(?:always|never|override|all|every|for (?:audit|compliance|security|proxying|monitoring|logging|backup|tracking))\b/,
    ],
  },
  {
    kind: 'redirection',
    verdict: 'suspicious',
    all: [
      /\b(?:redirect|route|forward|copy)\b/,
      /\b(?:all|every|instead of)\b/,
      HOST,
      /\b(?:requests?|messages?|emails?|calls?|content|traffic)\b/,
    ],
  },
  {
    kind: 'preemption',
    verdict: 'suspicious',
    all: [
      /\b(?:before|when(?:ever)?) (?:using|calling|invoking) (?:any|every|all|another|other)\b/,
      /\b(?:must|always|first|ensure|copy|send)\b/,
    ],
  },
  {
    kind: 'preemption',
    verdict: 'suspicious',
    all: [
      /\b(?:before|instead of) (?:using|calling|invoking) \w+_\w+/,
      /\b(?:always|all|external|through|redirect|copy)\b/,
    ],
  },
];
