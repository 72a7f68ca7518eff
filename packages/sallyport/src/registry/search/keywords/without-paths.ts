/** Most characters of one path that are read. */
const PATH_CHARS = 400;
/** Kinds of files that requests name; `node.js` is no file. */
const KINDS =
  'pdf|docx?|xlsx?|pptx?|odt|ods|csv|tsv|json|jsonl|ya?ml|toml|xml|html?|txt|md|rtf|log|sql|png|jpe?g|gif|svg|webp|bmp|tiff?|ico|mp[34]|wav|ogg|flac|mov|avi|mkv|zip|gz|tar|tgz|7z|rar|py|rb|rs|go|java|kt|swift|cpp|hpp|cs|php|sh|ps1|tsx?|jsx|mjs|css|scss|env|ini|cfg|conf|lock|bak|tmp|db|sqlite|parquet|ipynb|eml|ics|vcf';
const PART = '[\\p{L}\\p{N}._@+~%-]{1,120}';
/** Addresses; paths from a root, a home, a folder or a drive; parts joined by several slashes; names of files. */
const PATHS = new RegExp(
  [
    '\\b[a-z][a-z0-9+.-]{1,15}:\\/\\/[^\\s"\'<>]{1,PATH}',
    '(?<![\\p{L}\\p{N}_/.:])(?:~|\\.{1,2})?\\/(?:PART\\/){0,24}PART\\/?',
    '\\b[a-z]:\\\\[^\\s"\'<>|]{1,PATH}',
    '(?<![\\p{L}\\p{N}_/.])(?:PART[/\\\\]){2,24}(?:PART)?',
    '(?<![\\p{L}\\p{N}_/.])(?:PART[/\\\\])?[\\p{L}\\p{N}_@+~%-][\\p{L}\\p{N}._@+~%-]{0,120}\\.(?:KINDS)(?![\\p{L}\\p{N}_])',
  ]
    .join('|')
    .replaceAll('PATH}', `${PATH_CHARS}}`)
    .replaceAll('PART', PART)
    .replaceAll('KINDS', KINDS),
  'giu',
);
const ENDING = new RegExp(`\\.(${KINDS})$`, 'i');

/**
 * A request without the words of paths, addresses and names of files, which say where something is and not what to do
 * with it; the kind of a file stays: `translate /home/ann/weather/report.pdf` is `translate pdf`. A request of nothing
 * else stays as it is.
 */
export function withoutPaths(request: string): string {
  if (!/[./\\]/.test(request)) return request;
  const rest = request.replace(PATHS, (path) => ENDING.exec(path)?.[1] ?? ' ');
  return /[\p{L}\p{N}]/u.test(rest.replace(new RegExp(`(?<!\\p{L})(?:${KINDS})(?!\\p{L})`, 'giu'), ''))
    ? rest
    : request;
}
