/** A peer that looks for secrets in a text. */
export interface SecretPeer {
  finds(text: string): Promise<boolean>;
}

const CORE = '@secretlint/core';
const PRESET = '@secretlint/secretlint-rule-preset-recommend';

interface Core {
  lintSource(given: object): Promise<{ readonly messages: readonly unknown[] }>;
}

/** secretlint with the rules that it recommends; undefined when it is not installed. */
export async function openSecretlint(): Promise<SecretPeer | undefined> {
  try {
    const { lintSource } = (await import(CORE)) as Core;
    const { creator } = (await import(PRESET)) as { readonly creator: unknown };
    const config = { rules: [{ id: PRESET, rule: creator, options: {}, rules: [] }] };
    return {
      async finds(content) {
        const source = { filePath: '/text.txt', content, contentType: 'text', ext: '.txt' };
        const { messages } = await lintSource({ source, options: { config, noPhysicFilePath: true } });
        return messages.length > 0;
      },
    };
  } catch {
    return undefined;
  }
}
