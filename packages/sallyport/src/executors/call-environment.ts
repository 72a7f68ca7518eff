import { KiB } from '@sallyport/std/bytes';
import { type Failure, failure } from '@sallyport/std/error/failure';
import type { Fault } from '../../api/schemas/error.ts';
import type { ToolManifest } from '../../api/schemas/tool-manifest.ts';
import type { Executor } from './executor.port.ts';

/** Limits of the variables that one call sets. */
export const CALL_VARIABLE_BOUNDS = { variablesMax: 64, nameCharsMax: 128, valueCharsMax: 32 * KiB } as const;

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const NAME_SHOWN_MAX = 100;

/** Variables that no caller may set, whatever a manifest says, and what they control. Case-insensitive. */
const FORBIDDEN: readonly (readonly [pattern: RegExp, decides: string])[] = [
  [/^(?:PATH|PATHEXT|CDPATH|FPATH|COMSPEC)$/i, 'decides which programs are found'],
  [/^(?:LD|DYLD|GLIBC|MALLOC)_|^(?:GCONV_PATH|LOCPATH|NLSPATH|LIBPATH|SHLIB_PATH)$/i, 'decides what code is loaded'],
  [
    /^(?:IFS|ENV|SHELL|SHELLOPTS|PS[0-4]|PROMPT_COMMAND|GLOBIGNORE|ZDOTDIR)$|^BASH/i,
    'decides how a shell reads its commands',
  ],
  [
    /^(?:NODE_(?!ENV$)|NPM_|DENO_|BUN_|PYTHON|PIP_|UV_|PERL|RUBY|GEM_|BUNDLE_|LUA_|PHP)/i,
    'decides what code is loaded',
  ],
  [
    /^(?:_?JAVA_|JDK_|CLASSPATH$|MAVEN_|GRADLE_|DOTNET_|CORECLR_|COR_|R_|JULIA_|GO|CARGO_|RUST)/i,
    'decides what code is loaded',
  ],
  [
    /^(?:GIT|SSH|GPG|SUDO|DOCKER|MAKE)|^(?:EDITOR|VISUAL|BROWSER|LESSOPEN|LESSCLOSE|CC|CXX)$|PAGER$/i,
    'decides which programs are started',
  ],
  [
    /^(?:HOME|USERPROFILE|XDG_.*|TMPDIR|TEMP|TMP|PWD|OLDPWD|KUBECONFIG|TERMINFO.*|.*_CONFIG_FILE|.*_CREDENTIALS_FILE)$/i,
    'decides where programs look for their settings',
  ],
  [
    /^(?:OPENSSL|SSL)_|(?:_CA_BUNDLE|_CA_CERTS|_TLS_REJECT_UNAUTHORIZED|SSLKEYLOGFILE)$/i,
    'decides whom programs trust',
  ],
  [/(?:^|_)PROXY$|^(?:HOSTALIASES|LOCALDOMAIN|RES_OPTIONS|RESOLV_.*)$/i, 'decides where requests go'],
  [
    /(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?)$/i,
    'is named as a secret; secrets come from the secret store, by permissions.credentials,',
  ],
  [/^SALLYPORT_/i, "is the layer's own"],
];

/**
 * Checks that a call may set these variables for its tool (EXE-10). Refused when the executor takes none, the manifest
 * does not name one, it is a secret of the tool, or it would decide what code runs. The message contains only names,
 * never values.
 * @returns undefined when allowed; E3801 otherwise
 */
export function environmentRefusal(
  { takesVariables }: Pick<Executor, 'takesVariables'>,
  { tool_id, executor: { kind }, execution_config, permissions }: ToolManifest,
  environment: Readonly<Record<string, string>>,
): Failure | undefined {
  const entries = Object.entries(environment);
  if (entries.length === 0) return undefined;
  if (takesVariables === undefined)
    return refused(`${tool_id} is of kind ${kind}, which takes no environment. Leave it out.`);
  const { variablesMax, valueCharsMax } = CALL_VARIABLE_BOUNDS;
  if (entries.length > variablesMax) return refused(`A call may set ${variablesMax} variables at most.`);
  const named = execution_config?.call_variables ?? (takesVariables === 'any' ? undefined : []);
  for (const [name, value] of entries) {
    const shown = JSON.stringify(name.slice(0, NAME_SHOWN_MAX));
    const forbidden = forbiddenVariable(name);
    if (forbidden !== undefined) return refused(`The variable ${shown} ${forbidden} and cannot be set by a call.`);
    if (permissions?.credentials?.includes(name) === true)
      return refused(`The variable ${shown} is a secret of ${tool_id} and cannot be set by a call.`);
    if (named?.includes(name) === false)
      return refused(`${tool_id} does not name the variable ${shown} in execution_config.call_variables.`);
    if (value.length > valueCharsMax || value.includes('\0'))
      return refused(`The variable ${shown} must have ${valueCharsMax} characters at most, without NUL.`);
  }
  return undefined;
}

/** The reason why no call may set a variable; undefined when one may. */
export function forbiddenVariable(name: string): string | undefined {
  if (!VARIABLE.test(name) || name.length > CALL_VARIABLE_BOUNDS.nameCharsMax) return 'is no name of a variable';
  return FORBIDDEN.find(([pattern]) => pattern.test(name))?.[1];
}

/** Faults in a manifest's variables: an executor that takes none, and names that no call may set. */
export function callVariableFaults(
  { takesVariables }: Pick<Executor, 'takesVariables'>,
  { executor: { kind }, execution_config, permissions }: ToolManifest,
): readonly Fault[] {
  const names = execution_config?.call_variables;
  if (names === undefined) return [];
  const at = '/execution_config/call_variables';
  const fault = (path: string, message: string, hint: string): Fault => ({
    path,
    code: 'E3008',
    keyword: 'call_variables',
    message,
    hint,
  });
  if (takesVariables === undefined)
    return [fault(at, `is for tools that take variables, and ${kind} takes none`, 'Leave it out.')];
  return names.flatMap((name, index) => {
    const forbidden = permissions?.credentials?.includes(name) ? 'is a secret of the tool' : forbiddenVariable(name);
    if (forbidden === undefined) return [];
    return [fault(`${at}/${index}`, `${name} ${forbidden} and is set by no call`, 'Leave it out.')];
  });
}

const refused = (message: string): Failure => failure('E3801', message, { details: { member: 'environment' } });
