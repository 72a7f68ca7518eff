import type { InstructionRule } from './instruction-rule.ts';

const DEMANDS =
  /\b(?:must|always|never|ignore|do not|don't|first|before|instead|send|read|include|execute|run|call|reveal|override|forward|disregard|you are|instructions?|system|assistant|model|secret|password|exfiltrat\w{1,4})\b/;

/**
 * Markup that is not shown to a reader, or that imitates something the model trusts. Matched against the whole text.
 */
export const MARKUP_RULES: readonly InstructionRule[] = [
  {
    rule: 'attention-tag',
    weight: 0.85,
    why: 'A tag shouts at the model.',
    all: [
      /(?<![=`[:(] ?|-\w{1,20} )<\/?(?:important|hidden|secret|system|system[-_](?:prompt|message|instructions?|reminder|note)|instructions?|admin|override|critical|internal|sudo|directive|mandatory|urgent|priority|confidential|private|invisible|developer|assistant|ai|agent|llm|model[-_]instructions?|hidden[-_]instructions?|s|information|user|human|inst|prompt|rules?|policy|attention|command|cmd|thinking|scratchpad|human_instructions?|tool_instructions?|security[-_]\w{1,16})\b ?(?:[a-z]{1,12}="[^"]{0,60}" ?){0,3}>[^<]{0,4000}/,
      /(?<![=`[:(] ?|-\w{1,20} )(?:<\/?(?:important|hidden|secret|system\w*|instructions?|admin|override|critical|internal|sudo|directive|mandatory|urgent|priority|confidential|invisible|information|inst)\b)[^<]{0,4000}\b(?:must|always|never|ignore|do not|don't|first|before|instead|send|read|include|execute|run|call|reveal|override|overrides|forward|disregard|you are|pass|when|mention|tell|requires?|please|use|add|change|should|all|twice)\b/,
    ],
    none: [/<\/(?:user|s|ai|prompt|rules?|policy|command|private|human|agent)>/],
  },
  {
    rule: 'hidden-markup',
    weight: 0.85,
    why: 'A comment, which nobody is shown, demands something.',
    only: 'description',
    all: [
      /<!--(?:(?!-->)[\s\S]){0,400}(?:\b(?:must|always|never|ignore|do not|don't|instead|execute|reveal|override|disregard|secretly|silently|instructions?|assistant|system|exfiltrat\w{1,4}|you are)\b|\b(?:send|read|include|call|forward|pass|run) (?:the|all|any|its|every|your|~|\/|to|this))/,
    ],
    none: [
      /<!--[^>]{0,200}\b(?:do not (?:edit|remove|modify|delete|change)|auto-?generated|automatically (?:added|generated)|prettier|eslint|markdownlint|toc)\b/,
    ],
  },
  {
    rule: 'hidden-markup',
    weight: 0.8,
    why: 'A comment, which nobody is shown, speaks to the model.',
    only: 'output',
    all: [
      /<!--(?:(?!-->)[\s\S]){0,400}(?:\b(?:ignore (?:all|any|previous|prior|the (?:above|previous|user|page|webpage|document|text|article|content|function))|disregard (?:all|any|previous|prior|the)|(?:ai|llm|language) (?:agents?|assistants?|models?)|assistants? (?:must|should|please)|system ?:|system prompt|new instructions?|instructions? (?:for|to) (?:the |any |all |an )?(?:ai|llm|assistants?|agents?|models?)|you (?:are (?:now|an?|no longer)|must (?:now|always|never|ignore|not|also|recommend|say|reply|respond|call|send))|exfiltrat\w{1,4}|secretly|silently (?:send|execute|run)|do not (?:tell|mention|inform|reveal))\b)/,
    ],
  },
  {
    rule: 'hidden-markup',
    weight: 0.8,
    why: 'Text that nobody is shown demands something.',
    all: [
      /(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0(?:px|pt|em|%)?\b|opacity ?: ?0(?:\.0+)?\b(?!\.)|(?:^|[\s;"'])color ?: ?(?:white|#fff(?:fff)?|transparent)\b|text-indent ?: ?-\d{3,5}|left ?: ?-\d{4,5}px|\bhidden(?:="[^"]{0,10}")?>|aria-hidden="true")[^>]{0,200}>[^<]{0,600}/,
      /(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0|opacity ?: ?0|color ?: ?(?:white|#fff|transparent)|text-indent|left ?: ?-|hidden)[^>]{0,200}>[^<]{0,600}\b(?:ignore (?:all|previous|prior|any|the|your)|disregard|assistants?|ai (?:agent|model)|llm|language model|instructions?|system prompt|override|exfiltrat\w{1,4}|you are now|send (?:all|the|your|it|every)|credentials?|api keys?|do not (?:tell|mention|inform)|secretly|silently)\b/,
    ],
  },
  {
    rule: 'hidden-markup',
    weight: 0.7,
    why: 'A comment of Markdown, which nobody is shown, demands something.',
    all: [
      /^ {0,3}\[(?:\/\/|comment|\/|_|hidden|note)\]: ?(?:#|<>|https?:\S{1,60}) ?["'(][^\n]{0,1000}\b(?:must|always|never|ignore|do not|don't|send|read|include|execute|reveal|override|disregard|assistant|instructions?)\b/m,
    ],
  },
  {
    rule: 'model-markup',
    weight: 0.9,
    why: 'It holds marks that separate turns in the input of a model.',
    all: [
      /<\|(?:im_start|im_end|im_sep|system|user|assistant|begin_of_text|end_of_text|start_header_id|end_header_id|eot_id|endoftext|end_of_turn|tool_call|python_tag|channel|message)\|>|\[\/?inst\]|<<\/?sys>>|<\/?(?:start|end)_of_turn>|<\/?(?:function_(?:results?|calls?)|tool_(?:response|results?|outputs?|call)|antml:\w{1,30}|system_prompt|assistant_response)>|(?<=[^\s#] {0,3})#{2,6} ?(?:system|instructions?|assistant|human|new instructions?|response|user)\b ?:|#{2,6} ?(?:new |system |hidden |secret )?(?:system|instructions?|assistant|human)\b ?:(?=\s{0,3}(?:you|ignore|exfiltrat|disregard|override|never|from now))|(?:^|\n)\s{0,8}(?:system|assistant|human) ?: ?(?:you (?:are|must|should|will)|ignore|disregard|from now|always|new|override|do not|never|the user|i (?:have|will|must|should))\b|\bend of (?:the )?(?:system|original|initial) (?:prompt|instructions?|message)\b|<end of (?:session|conversation|input|context)>|\bnew system prompt ?:|\bbegin(?:ning)? (?:of )?(?:system|new|hidden|admin) (?:prompt|instructions?|message)\b|-{3,} ?(?:end|start|begin)(?: of)? (?:system|tool|document|user|the )?(?:\w{1,14} )?(?:prompt|instructions?|output|description|context)/,
    ],
  },
  {
    rule: 'bracket-directive',
    weight: 0.6,
    why: 'Brackets pass for a directive of the system.',
    all: [
      /[[({]{1,3} ?(?:system|role|admin|administrator|override|hidden|secret|critical|internal|important|priority|security|developer|ai|agent|llm|model|mandatory|urgent)[ _:-]{1,2}(?:system |security |for (?:ai|llm|agents?|model)s? ?)?(?:directive|instructions?|prompt|message|override|note|notice|command|(?<=(?:ai|agent|llm|model|assistant)s?[ _:-]{1,2})only|alert|mandate|policy|requirement|do not (?:show|display|reveal)[^\])}]{0,40})\b(?=[^\])}\n]{0,200}[\])}*:](?![(\]]))/,
      DEMANDS,
    ],
    none: [
      /\b(?:system|developer|admin) message (?:id|type|text|content)/,
      /[[({*]{1,3} ?(?:important|critical|security|priority) (?:notes?|notice)\b/,
    ],
  },
  {
    rule: 'markup-exfiltration',
    weight: 0.75,
    why: 'It holds an image or link that carries data away.',
    all: [
      /!\[[^\]\n]{0,80}\]\(\s?https?:\/\/[^)\s]{1,200}[?&][\w-]{1,40}=(?:[^)\s&]{0,60}?(?:\{|%7b|<|\[|\$)|[\w-]{0,30}(?:data|secret|history|conversation|base64|token|content|exfil|prompt|summary|password|e-?mail|messages?)[\w-]{0,30}[)&\s])/,
    ],
  },
  {
    rule: 'padding',
    weight: 0.7,
    why: 'Text follows so much empty space that nobody scrolls there.',
    only: 'description',
    all: [/\S[^\S\n]{0,200}(?:\n[^\S\n]{0,40}){30,}\S|\S[^\S\n]{120,}\S[^\n]{20,}/, DEMANDS],
  },
  {
    rule: 'encoded-order',
    weight: 0.75,
    why: 'It asks the model to decode something and to do what it says.',
    all: [
      /\b(?:decode|decrypt|de-?obfuscate|unscramble|decipher|base64|rot-?13|hex|atob|reverse)\b/,
      /\b(?:decod(?:e|ed|ing)|decrypt|de-?obfuscate|unscramble|decipher|rot-?13|atob)\b[^.\n]{0,120}\b(?:and|then|to) (?:[a-z]{1,12} ){0,3}(?:follow|execute|obey|run|perform|comply|do|carry out|act|apply|use it as)\b|\b(?:follow|execute|obey|run|perform|carry out) (?:the |these |this |its |all )?(?:decoded|decrypted|encoded|base64|hidden|resulting)\b/,
    ],
    none: [/\b(?:image|images|file upload|pdf|attachment|token|jwt|cookie)\b/],
  },
];
