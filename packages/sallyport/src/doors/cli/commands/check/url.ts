import { lookup } from 'node:dns/promises';
import { checkUrl, checkUrlResolved, type UrlPolicy, type UrlVerdict } from '@sallyport/guards';
import type { Command } from 'commander';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { collect } from '../../input/option-values.ts';
import { stdinTexts } from './stdin-values.ts';

interface UrlOptions {
  readonly allowPrivate?: boolean;
  readonly scheme?: readonly string[];
  readonly host?: readonly string[];
  readonly resolve?: boolean;
}

/** `check url`: judges whether URLs may be requested; exit code 1 when one may not. */
export function addUrlCheck(check: Command, kit: CommandKit): void {
  const url = check
    .command('url')
    .description('find URLs that lead inside: to this machine, private networks, metadata services')
    .option('--allow-private', 'let private, shared and loopback addresses pass')
    .option('--scheme <scheme>', 'allow only these; http and https when absent; several times', collect)
    .option('--host <host>', 'allow only these hosts, *.name for those below a name; several times', collect)
    .option('--resolve', 'look names up and judge their addresses too');
  kit.action<UrlOptions>(url, async (_args, options, print) => {
    const policy = policyOf(options);
    const judge = options.resolve === true ? resolved : checkUrl;
    const verdicts: (UrlVerdict & { readonly url: string })[] = [];
    for (const text of await stdinTexts(kit.parts.io)) verdicts.push({ url: text, ...(await judge(text, policy)) });
    const clean = verdicts.every(({ allowed }) => allowed);
    if (print.json) print.value({ clean, urls: verdicts });
    else print.table(['ALLOWED', 'URL', 'WHY NOT'], verdicts.map(row));
    return clean ? EXIT.ok : EXIT.refused;
  });
}

const row = ({ url, allowed, why = '' }: UrlVerdict & { readonly url: string }): string[] => [
  allowed ? 'yes' : 'no',
  url.trim(),
  why,
];

function policyOf({ allowPrivate = false, scheme, host }: UrlOptions): UrlPolicy {
  return {
    allowPrivate,
    ...(scheme === undefined ? {} : { schemes: scheme }),
    ...(host === undefined ? {} : { allowedHosts: host }),
  };
}

const resolved = (url: string, policy: UrlPolicy): Promise<UrlVerdict> => checkUrlResolved(url, addressesOf, policy);

async function addressesOf(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
}
