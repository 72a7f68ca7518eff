/**
 * Names of fields that hold content written by people and programs: text, code, documents. Parts of commands and
 * queries are named after the thing they select: `id`, `user`, `table`, `where`, `host`, `query`.
 */
const WHOLE_NAMES: ReadonlySet<string> = new Set([
  'code',
  'data',
  'new_str',
  'new_string',
  'old_str',
  'old_string',
  'source_code',
  'stdin',
]);

/** As above, by the last word of a name, in the singular. */
const LAST_WORDS: ReadonlySet<string> = new Set([
  'abstract',
  'annotation',
  'answer',
  'article',
  'bio',
  'body',
  'caption',
  'chunk',
  'comment',
  'content',
  'css',
  'csv',
  'description',
  'diff',
  'document',
  'draft',
  'excerpt',
  'explanation',
  'fact',
  'feedback',
  'headline',
  'html',
  'instruction',
  'javascript',
  'json',
  'letter',
  'line',
  'log',
  'markdown',
  'md',
  'memo',
  'message',
  'note',
  'observation',
  'paragraph',
  'patch',
  'payload',
  'post',
  'prompt',
  'question',
  'readme',
  'reason',
  'remark',
  'reply',
  'report',
  'response',
  'script',
  'snippet',
  'story',
  'subject',
  'summary',
  'svg',
  'text',
  'thought',
  'title',
  'toml',
  'transcript',
  'xml',
  'yaml',
]);

/** True when a field of this name holds content: `fileText`, `commit_message`, `observations`. */
export function isContentName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  return WHOLE_NAMES.has(words.join('_')) || LAST_WORDS.has(last) || LAST_WORDS.has(last.replace(/s$/, ''));
}
