import type { InstructionRule } from './instruction-rule.ts';
import { MODEL } from './words.ts';

const READER =
  '(?:an? |the |any |all |every |automated |helpful )*(?:ai|llms?|language models?|chatbots?|(?:ai |llm )(?:agents?|assistants?|models?|bots?))(?: (?:agents?|assistants?|models?|bots?))?';
const READS = '(?:reading|processing|parsing|summari[sz]ing|analy[sz]ing|reviewing|viewing|that|which|who)';

/** Orders to the reader, which data has no reason to contain. */
export const OUTPUT_RULES: readonly InstructionRule[] = [
  {
    rule: 'task-hijack',
    weight: 0.7,
    why: 'It sets the model a task of its own.',
    only: 'output',
    all: [
      /\b(?:before (?:you (?:can |may |start |begin |start to |begin to )?(?:solv|answer|respond|complet|finish|do |help|continue|proceed|summari)|(?:solving|answering|completing|continuing|proceeding|responding|performing))|(?:please|you must|you should|you need to|you have to)(?: also| now| first)? (?:do|perform|execute|complete|carry out|follow|strictly adhere to|adhere to|comply with) (?:the )?(?:following|this|these)|strictly adhere to|your (?:new|real|actual|next|only|true|primary) (?:task|objective|goal|instructions?|mission|job) (?:is|are)|(?:stop|abandon|pause) (?:what you are doing|your current task|the current task)|(?:original|current|previous|user's) task (?:is|was|has been) (?:cancel|complete|done|finished|abort)\w{0,4})/,
      /\b(?:task|instructions?|following|first|me|you|please|do|user|this)\b/,
      new RegExp(
        `\\b(?:task|instructions?|${MODEL}|user (?:asked|request)|tool|function|command|e-?mail|send|solve|actions?|steps?)\\b`,
      ),
      /\b(?:you|your|me)\b/,
    ],
    none: [
      /\byour new (?:task|objective|goal) (?:is|was|has been) (?:assigned|due|ready|created|overdue|complete)\b/,
      /\b(?:git|npm|pip|install|contribut\w{1,6}|pull request|issue|license|survey|form|exercise|homework|chapter|lesson|tutorial|readme)\b/,
    ],
  },
  {
    rule: 'task-hijack',
    weight: 0.55,
    why: 'It says what the answer of the model has to hold.',
    only: 'output',
    all: [
      /\b(?:when|while|after|before|instead of|once|in) (?:you (?:are |have )?)?(?:summari[sz]|translat|classif|answer|respond|reply|repl(?:y|ie)|correct|evaluat|rat(?:e|ing)|your (?:summary|answer|reply|response))[a-z]{0,4}(?: [\w'-]{1,20}){0,7},? (?:also |always |please |instead |only |you must |you should |then |never )*(?:include|append|add|mention|say|state|print|output|recommend|end|begin|start|insert|tell|ask|send|give|write|reply|respond|describe|praise)\b/,
      /\b(?:also|always|please|instead|only|must|should|never|the (?:phrase|words?|sentence|following|link|text|user))\b/,
    ],
    none: [/\b(?:status|header|http|callback|handler|endpoint|survey|ticket|exercise)\b/],
  },
  {
    rule: 'addressed-to-model',
    weight: 0.8,
    why: 'It says that people do not see it, and models do.',
    all: [
      /\b(?:invisible|hidden|unseen|not (?:visible|shown)) (?:to|from|for) (?:the )?(?:humans?|people|users?|readers?|persons?)\b/,
      new RegExp(
        `\\b(?:visible|readable|meant|intended|only|instructions?) (?:to|by|for) (?:the |an? |any )?${MODEL}\\b`,
      ),
    ],
  },
  {
    rule: 'tool-demand',
    weight: 0.6,
    why: 'It tells the model which tool to call.',
    only: 'output',
    all: [
      /\b(?:call|invoke|use|execute|run|trigger) (?:the |your )?(?!(?:the|this|that|an?|any|each|all|required|same|following|your)\b)(?:[`'"]\w{2,40}[`'"]|\w{2,40}) (?:tool|function|plugin|action)(?! (?:calls?|results?|install|outputs?|that)\b)\b|\b(?:call|invoke|use|execute) [`'"]?[a-z]{2,20}_[a-z_]{2,40}[`'"]?(?:\(| (?:with|to|on|and|using|for))|\buse your (?:\w{1,14} )?(?:tools?|access|permissions?|capabilit\w{1,4})\b/,
      /\b(?:must|immediately|now|first|always|required|to (?:proceed|continue|complete|resolve|fix)|please|silently|and (?:send|forward|pass|delete|transfer|include|share|upload))\b/,
      new RegExp(`\\b(?:you|your|${MODEL}|user's|instructions?|tools?)\\b`),
    ],
    none: [
      /\b(?:not|never|(?<!you )(?:can|could|will|would|may|might)|(?:appropriate|respective|right|corresponding|necessary|needed|relevant|provided|available) tools?)(?: then| also| automatically)?(?: (?:call|use|invoke|run|execute))?\b(?<=call|use|invoke|run|execute|tools?)|_\w{1,40}\(\d?[a-z]?\)/,
      /\b(?:example|e\.g\.?|docs?|documentation|returns?|deprecated|import|console|const|developers? can|you can|can be)\b/,
    ],
  },
  {
    rule: 'addressed-to-model',
    weight: 0.6,
    why: 'Data speaks to the model that reads it.',
    only: 'output',
    all: [
      new RegExp(
        `\\b(?:(?:if you(?:'re| are)|dear|hey|attention,?|attn:?|note (?:to|for)|instructions? (?:to|for)|message (?:to|for)) ${READER}|(?:when (?:you(?:'re| are)|an?|the)|(?:to|for) (?:any|all|the|every|an?)|as an?|you are an?) ${READER} ${READS})\\b`,
      ),
      /\b(?:you must|must|ignore|please|always|do not|don't|send|reply|respond|include|recommend|say|output|execute|follow|instead|immediately|disregard|rate|approve|give|state|forward|transfer|delete|click|visit)\b/,
      /\b(?:reading|processing|parsing|summari[sz]ing|analy[sz]ing|reviewing|viewing|ignore|instructions?|attention|if you|must|disregard|immediately|instead|note (?:to|for)|dear|hey)\b/,
    ],
    none: [/\b(?:paper|research|startup|course|library|framework|sdk|we (?:built|present|propose|train))\b/],
  },
];
