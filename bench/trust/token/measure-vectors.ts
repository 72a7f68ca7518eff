import { existsSync, readFileSync } from 'node:fs';
import type { VerificationKey } from '../../../packages/sallyport/src/identity/key-source.ts';
import { keysOfDocument } from '../../../packages/sallyport/src/identity/keys/key-document.ts';
import { verifyJws } from '../../../packages/sallyport/src/identity/token/jws.ts';
import { type Figure, figureOf } from '../../report/figure.ts';

const CORPUS = new URL('../../../../shared/corpora/jwt/wycheproof_jws.json', import.meta.url);

interface Vectors {
  readonly testGroups: readonly {
    readonly public?: { readonly alg?: string };
    readonly tests: readonly { readonly jws: unknown; readonly result: string }[];
  }[];
}

/** Vectors of RS256 that are judged as they say, and tokens of all other groups that are refused by who takes RS256 alone. */
export async function measureVectors(report: (line: string) => void): Promise<readonly Figure[]> {
  if (!existsSync(CORPUS)) {
    report('skipped, for it is not here: the corpus jwt');
    return [];
  }
  const { testGroups } = JSON.parse(readFileSync(CORPUS, 'utf8')) as Vectors;
  const counts = { right: 0, ours: 0, refused: 0, others: 0 };
  for (const { public: jwk, tests } of testGroups) {
    const document = JSON.stringify({ keys: jwk === undefined ? [] : [jwk] });
    const keys = await keysOfDocument(document, 'corpus').catch(() => []);
    for (const { jws, result } of tests) {
      const text = typeof jws === 'string' ? jws : JSON.stringify(jws);
      const isAccepted = await isVerified(text, keys);
      if (jwk?.alg === 'RS256') {
        counts.ours += 1;
        if (isAccepted === (result === 'valid')) counts.right += 1;
      } else {
        counts.others += 1;
        if (!isAccepted) counts.refused += 1;
      }
    }
  }
  return [
    figureOf('JWS vectors of RS256 judged right', `of ${counts.ours}`, counts.right, { atLeast: counts.ours }),
    figureOf('tokens of other groups refused', `of ${counts.others}`, counts.refused, { atLeast: counts.others }),
  ];
}

async function isVerified(token: string, keys: readonly VerificationKey[]): Promise<boolean> {
  try {
    await verifyJws(token, keys, ['RS256']);
    return true;
  } catch {
    return false;
  }
}
