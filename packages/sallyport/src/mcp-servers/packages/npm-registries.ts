import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { NetworkPermission } from '../../../api/schemas/tool-manifest.ts';

/** npm's registry when the user has named no other. */
const PUBLIC_REGISTRY = 'https://registry.npmjs.org/';

/** The registries that this user's npm downloads from. */
export interface NpmRegistries {
  /** npm settings that name a registry: `registry`, and `@scope:registry` for each scope with its own. */
  readonly settings: Readonly<Record<string, string>>;
  /** The user's own npm settings file, which may hold credentials; undefined when there is none. */
  readonly userFile?: string;
  readonly network: readonly NetworkPermission[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the registries from npm's settings in npm's order: environment, user's file, machine's file.
 * @throws E3801 for a registry that is no http or https address
 */
export function npmRegistries(environment: Environment, npmProgram: string): NpmRegistries {
  const userFile = resolve(given(environment, 'userconfig') ?? join(environment['HOME'] ?? homedir(), '.npmrc'));
  const machineFile = given(environment, 'globalconfig') ?? join(prefixOf(environment, npmProgram), 'etc', 'npmrc');
  const settings: Record<string, string> = { registry: PUBLIC_REGISTRY };
  for (const file of [machineFile, userFile]) Object.assign(settings, registriesIn(file, environment));
  const fromEnvironment = given(environment, 'registry');
  if (fromEnvironment !== undefined) settings['registry'] = fromEnvironment;
  return {
    settings,
    ...(existsSync(userFile) ? { userFile } : {}),
    network: Object.entries(settings).map(([name, url]) => addressOf(name, url)),
  };
}

/** npm reads its settings from the environment in lower and upper case. */
function given(environment: Environment, name: string): string | undefined {
  const value = environment[`npm_config_${name}`] ?? environment[`NPM_CONFIG_${name.toUpperCase()}`];
  return value === '' ? undefined : value;
}

/** `…/lib/node_modules/npm/bin/npm-cli.js` belongs to the prefix before `lib`. */
function prefixOf(environment: Environment, npmProgram: string): string {
  const at = npmProgram.indexOf('/lib/node_modules/');
  return given(environment, 'prefix') ?? (at === -1 ? dirname(dirname(process.execPath)) : npmProgram.slice(0, at));
}

const REGISTRY_LINE = /^\s*((?:@[A-Za-z0-9._~-]+:)?registry)\s*=\s*"?([^"\s]+)"?\s*$/;

function registriesIn(file: string, environment: Environment): Record<string, string> {
  if (!existsSync(file)) return {};
  const lines = readFileSync(file, 'utf8').split('\n');
  const found = lines.flatMap((line): [string, string][] => {
    const [, name, value] = REGISTRY_LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) return [];
    return [[name, value.replace(/\$\{([^}]+)\}/g, (whole, variable: string) => environment[variable] ?? whole)]];
  });
  return Object.fromEntries(found);
}

function addressOf(name: string, text: string): NetworkPermission {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new ToolLayerError('E3801', `npm's setting ${name} is no http or https address. Correct it in your npmrc.`);
  }
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port };
}
